// Nettrace runs a program and tells what it and all that it starts ask the
// kernel for: every address that is connected to, sent to, bound or listened on,
// every file that is opened or changed, every program that is executed. A lookup
// of a name shows as the files that a resolver reads (/etc/resolv.conf,
// /etc/hosts, /etc/nsswitch.conf) and as the server that it asks.
//
//	go run ./scripts/nettrace [-o FILE] PROGRAM [ARG…]
//
// It prints one JSON object a call (event.go), on standard error or in FILE, and
// exits with the program's code, 128 and the signal's number, 125 when it can not
// do its work, and 126 where tracing is not allowed or not possible.
//
// It is for tests of programs that hide nothing, and no cage: arguments are read
// when a call begins, and another thread may change them before the kernel reads
// them. What it can not see into (io_uring, calls of another architecture) it
// reports as such. It does not report what only asks whether a file is there, and
// nothing of sockets that were handed over by another program. It needs ptrace(2)
// of Linux 5.3 on amd64 or arm64, and no right beyond that of a debugger.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Exit codes of our own; env(1) and its like use them too.
const (
	exitBroken    = 125
	exitForbidden = 126
)

// errForbidden is that of a system on which nothing can be traced.
var errForbidden = errors.New("tracing is not possible here")

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is the program; the traced one has our standard streams.
func run(args []string, stderr io.Writer) int {
	fs := flag.NewFlagSet("nettrace", flag.ContinueOnError)
	fs.SetOutput(stderr)
	name := fs.String("o", "", "`file` for the events; standard error when empty")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitBroken
	}
	if fs.NArg() == 0 {
		fmt.Fprintln(stderr, "error: name a program to trace")
		return exitBroken
	}
	code, err := traceInto(*name, fs.Args(), stderr)
	switch {
	case errors.Is(err, errForbidden):
		fmt.Fprintln(stderr, "error:", err)
		return exitForbidden
	case err != nil:
		fmt.Fprintln(stderr, "error:", err)
		return exitBroken
	}
	return code
}

func traceInto(name string, argv []string, stderr io.Writer) (code int, err error) {
	out := stderr
	if name != "" {
		f, err := os.Create(name)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	b := bufio.NewWriter(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	code, err = trace(argv, func(e event) error { return enc.Encode(e) })
	return code, errors.Join(err, b.Flush())
}
