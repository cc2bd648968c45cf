// Fakellm is a scripted model server that speaks Chat Completions and the
// Responses API over a real socket: for end-to-end tests, and for people who
// want to see what a client does when a server misbehaves. It never looks at a
// prompt beyond what its script tells it to check or capture, and it keeps no
// key.
//
//	go run ./scripts/fakellm [-addr 127.0.0.1:0] [-log requests.jsonl] [-once] [-strict] [-single] SCRIPT.json
//
// It prints "listening on http://127.0.0.1:PORT/v1", answers the n-th POST to
// …/chat/completions or …/responses with the n-th reply and GET …/models with
// the catalog, and stops on SIGTERM or an interrupt; with -once, when the last
// reply has been sent. The exit code is 1 if a request met no reply or an
// expectation was not met.
//
// With -strict a request is refused whose history any known server refuses: calls
// without results and the reverse, arguments that are no JSON object, names, ids and
// images that are none, roles out of order. With -single all requests are of one
// conversation, and each repeats the one before it byte for byte, up to what was told
// with that alone.
//
// The script is {"key"?, "models"?: ["id" or an object], "replies": [reply]}.
// With "key", requests must carry it as a bearer token. A reply is a turn of
// package llm/script, streamed as the chunks or events that servers send, or
// instead of it one of
//
//	"body": value        sent as it is: a string as text, else as JSON
//	"raw": "text"        bytes of an event stream; \xNN (in JSON: \\xNN) is a byte
//	"rawBase64", "rawFile"  the same, encoded, or in a file beside the script
//	"bulk": {"deltas": N, "bytes": B}  N deltas of B bytes of text, unflushed
//
// and with any of them
//
//	"status": 200, "headers": {"Name": "value"}
//	"delayMs"        pause before the headers (not, as in a turn, between deltas)
//	"chunkDelayMs"   pause between two writes
//	"writeBytes": n  bytes a TCP write; default is one event
//	"cutAfter": n    close the connection after n bytes of the body, -1 before
//	                 the headers; the response stays without its end
//	"reset": true    the same by RST; after everything without cutAfter
//	"hang": true     keep the connection open there until the client leaves
//	"pingMs": n      with hang, a comment ": ping" each n ms for as long,
//	"ping": "text"   or these bytes in its place, written as in raw
//	"repeat": n      answer n requests with this reply, -1 (last one) for ever
//	"expect": {"contains": […], "lacks": […]}  about the bytes of the request
//
// An "error" of a turn is sent as an error event in place of the stream's end.
// {"hang": true} alone sends headers and then nothing, with "pingMs" nothing but
// comments, and with "ping" events as of a server that works on an answer and never
// gets to it:
//
//	{"hang": true, "pingMs": 50, "ping": "data: {\"type\":\"response.in_progress\"}\n\n"}
//
// The usage chunk is sent
// when the request asks for it and the turn has one.
//
// To a request of the Responses API the n-th reply's turn is a reasoning item
// rs_n (the reasoning, as a summary, with encrypted_content if the request
// includes it), a message msg_n with a phase, and calls fc_n_1 …; "truncated"
// ends it with response.incomplete, "error" with response.failed. Items that
// such a turn gave are refused in later requests, as by OpenAI, unless all of
// them come back together, in their order and byte for byte; a request may leave
// out their ids, and then none is looked for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it ends with ctx.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("fakellm", flag.ContinueOnError)
	fs.SetOutput(stderr)
	addr := fs.String("addr", "127.0.0.1:0", "`host:port` to listen on")
	logPath := fs.String("log", "", "`file` for one JSON line a request")
	once := fs.Bool("once", false, "exit after the last reply")
	strict := fs.Bool("strict", false, "refuse requests whose history any server refuses")
	single := fs.Bool("single", false, "refuse requests that do not repeat the one before")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if fs.NArg() != 1 {
		fmt.Fprintln(stderr, "error: give exactly one script file")
		return 2
	}
	sc, err := load(fs.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 2
	}
	s := newServer(sc, stderr)
	s.strict, s.single = *strict, *single
	if *logPath != "" {
		f, err := os.Create(*logPath)
		if err != nil {
			fmt.Fprintln(stderr, "error:", err)
			return 2
		}
		defer f.Close()
		s.log = f
	}
	if err := serve(ctx, s, *addr, *once, stdout); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	if s.failed() {
		return 1
	}
	return 0
}

// serve listens until ctx ends or, with once, the last reply was sent.
func serve(ctx context.Context, s *server, addr string, once bool, stdout io.Writer) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	fmt.Fprintf(stdout, "listening on http://%s/v1\n", l.Addr())
	var done <-chan struct{}
	if once {
		done = s.done
	}
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		err = h.Close()
	case <-done:
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err = h.Shutdown(grace); err != nil {
			err = h.Close()
		}
	}
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		return e
	}
	return err
}
