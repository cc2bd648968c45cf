package proc

import (
	"os"
	"strings"
)

// Protect closes this process to the programs that it will run: it forgets the
// keys in its environment, and on Linux no process of the same user can read
// its environment and memory or open its descriptors through /proc any more.
// Call it once, at start, after the environment was read.
//
// It does not keep root out, nor does it protect whoever started us. Elsewhere
// than on Linux only the variables are removed.
func Protect() {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); secret(name) {
			_ = os.Unsetenv(name) // Only a name that could not have been set fails.
		}
	}
	undump()
}
