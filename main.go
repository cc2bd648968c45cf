// Alisio is a coding agent for the terminal: a model works on a task in a
// repository through local tools, behind explicit permissions.
package main

import (
	"context"
	_ "embed"
	"io"
	"os"
	"strings"

	"alisio/agent/proc"
	"alisio/agent/tools"
	"alisio/llm/script"
	"alisio/plug/openai"
	"alisio/tui/cli"
)

// changelog is what /changelog prints.
//
//go:embed CHANGELOG.md
var changelog string

func main() {
	environ := os.Environ() // Before Protect takes the keys out of it.
	proc.Protect()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, environ))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	return cli.Main(context.Background(), program(args, stdin, stdout, stderr, environ))
}

// program joins the program: the built-in plugins and tools, the streams, the
// environment. Environ is in the form of os.Environ.
func program(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) cli.Env {
	return cli.Env{
		Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: lookup(environ),
		Plugins: cli.Plugins{
			openai.Plugin(),
		},
		Tools:     append(tools.All(), tools.Session()...),
		Changelog: changelog,
		Script:    script.Open,
	}
}

// lookup reads a list of NAME=VALUE; the last of a name wins.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(environ[i], name+"="); ok {
				return value
			}
		}
		return ""
	}
}
