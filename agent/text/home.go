package text

import (
	"os"
	"strings"
)

// AtHome writes a path with "~" for the home directory; an empty home is none.
func AtHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}
