package cli

import (
	"context"
	"fmt"
	"strings"

	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
)

// runCompletion prints a shell's script or, for that script, the words that can
// stand at a place, each with a tab and its help.
func runCompletion(_ context.Context, c *call) (int, error) {
	if c.words {
		var b strings.Builder
		for _, w := range commandLine().Complete(c.Args) {
			fmt.Fprintf(&b, "%s\t%s\n", w.Word, w.Help)
		}
		return c.Printed(b.String())
	}
	if len(c.Args) != 1 {
		return base.ExitUsage, fmt.Errorf("alisio completion needs the name of a shell: %s", strings.Join(args.Shells(), ", "))
	}
	script, err := commandLine().Script(c.Args[0])
	if err != nil {
		return base.ExitUsage, err
	}
	return c.Printed(script)
}
