package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/plain"
	"alisio/tui/term"
)

const (
	// maxStdin bounds what a pipe may add to a prompt, in bytes.
	maxStdin = 4 << 20
	// stdinPatience is how long standard input may stay silent before the
	// person is told what is waited for.
	stdinPatience = time.Second
)

var errNoTask = errors.New(`no task is given; use: alisio run "what is to be done"`)

// runRun works on one task, in a new session or in that of --session.
func runRun(ctx context.Context, c *call) (int, error) {
	ctx, stop := withSignals(ctx)
	defer stop()
	prompt, err := c.prompt(ctx, c.args, errNoTask)
	switch {
	case ctx.Err() != nil:
		return exitCancelled, errCancelled
	case err != nil:
		return exitUsage, err
	}
	return c.start(ctx, prompt, func(store *agent.Store, o *agent.Options) (agent.Session, int, error) {
		if c.task.session == "" {
			return agent.Session{}, exitDone, nil
		}
		s, code, err := c.session(ctx, store, c.task.session)
		if err == nil {
			code, err = c.ours(ctx, store, s)
		}
		return s, code, err
	})
}

// start checks all that can be checked, opens the session database, has find
// name the session to go on with, and works. find may change the directory; a
// session without an id is a new one.
func (c *call) start(ctx context.Context, prompt string, find func(*agent.Store, *agent.Options) (agent.Session, int, error)) (int, error) {
	o, err := c.options()
	if err != nil {
		return exitUsage, err
	}
	t := task{prompt: prompt}
	if t.images, err = c.images(o.Dir); err != nil {
		return exitUsage, err
	}
	store, code, err := c.database(ctx)
	if err != nil {
		return cancelledOr(ctx, code), err
	}
	s, code, err := find(store, &o)
	if err != nil {
		store.Close()
		return cancelledOr(ctx, code), err
	}
	if o.Config.Provider.Model == "" {
		o.Config.Provider.Model = s.Model
	}
	o.Store, t.store, t.session = store, store, s.ID
	app, err := agent.New(ctx, o)
	if err != nil {
		store.Close()
		return exitUsage, err
	}
	defer closeApp(c, app)
	if s.ID != "" {
		root := agent.Root(o.Dir, c.Getenv("HOME"))
		adopted, err := store.Adopt(ctx, s.ID, root)
		if err != nil {
			return cancelledOr(ctx, exitFailed), err
		}
		if adopted {
			c.notice("session %s was imported, and works in %s from now on", text.Line(s.ID), text.Line(root))
		}
	}
	return c.work(ctx, app, t)
}

// cancelledOr is the exit code of what failed, which a signal may have ended.
func cancelledOr(ctx context.Context, code int) int {
	if ctx.Err() != nil {
		return exitCancelled
	}
	return code
}

// prompt joins words of the command line and what came by a pipe. missing is
// the error when there is neither.
func (c *call) prompt(ctx context.Context, words []string, missing error) (string, error) {
	given := len(words) > 0
	wants := false
	switch n := len(words); {
	case n > 0 && words[n-1] == "-":
		words, wants = words[:n-1], true
	case n > 0 && words[0] == "-":
		words, wants = words[1:], true
	}
	prompt := strings.TrimSpace(strings.Join(words, " "))
	wants = wants || prompt == ""
	if wants && term.IsTerminal(c.Stdin) {
		if prompt != "" || given {
			c.notice("reading standard input; end with Ctrl+D")
		} else {
			return "", missing
		}
	}
	input := ""
	if kind := kindOf(c.Stdin); wants || kind != noInput {
		var err error
		if input, err = c.readStdin(ctx, wants || kind == pipe); err != nil {
			return "", err
		}
	}
	switch input = strings.TrimRight(input, "\n"); {
	case strings.TrimSpace(input) == "" && prompt == "":
		return "", missing
	case strings.TrimSpace(input) == "":
		return prompt, nil
	case prompt == "":
		return input, nil
	}
	return prompt + "\n\n" + input, nil
}

// notice tells the person something, unless --quiet.
func (c *call) notice(format string, args ...any) {
	if !c.quiet {
		plain.Note(c.Stderr, format, args...)
	}
}

// inputKind says what standard input is good for beside a prompt.
type inputKind uint8

const (
	// noInput: a terminal, a device, nothing.
	noInput inputKind = iota
	// pipe: a pipe or a file. Somebody put it there: all of it is waited for.
	pipe
	// socket: what programs and ssh leave open for children without thinking of
	// it. When it stays silent it is left alone.
	socket
)

func kindOf(stream io.Reader) inputKind {
	f, ok := stream.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		if stream == nil {
			return noInput
		}
		return pipe
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return noInput
	case info.Mode().IsRegular(), info.Mode()&fs.ModeNamedPipe != 0:
		return pipe
	case info.Mode()&fs.ModeSocket != 0:
		return socket
	}
	return noInput
}

// readStdin reads all of standard input. Unless it is wanted, one that stays
// silent is left alone after a while.
func (c *call) readStdin(ctx context.Context, wanted bool) (string, error) {
	type piece struct {
		data []byte
		err  error
	}
	first := make(chan piece, 1) // one send, never dropped
	all := make(chan piece, 1)   // one send, never dropped
	// Nobody waits for this goroutine when the input is left alone or the run is
	// cancelled: a read of a pipe can not be taken back. It holds 32 KiB and ends
	// with the process or the pipe; nothing else reads standard input.
	go func() {
		buf := make([]byte, 32<<10)
		n, err := c.Stdin.Read(buf)
		first <- piece{buf[:n], err}
		if err != nil {
			return
		}
		rest, err := io.ReadAll(io.LimitReader(c.Stdin, maxStdin+1-int64(n)))
		all <- piece{append(buf[:n:n], rest...), err}
	}()
	var p piece
	timer := time.NewTimer(stdinPatience)
	defer timer.Stop()
	for waiting := true; waiting; {
		select {
		case p = <-first:
			waiting = false
		case <-timer.C:
			if !wanted {
				c.notice("standard input is open but gave nothing, and is left alone; end the prompt with - to wait for it")
				return "", nil
			}
			c.notice("waiting for the end of standard input; < /dev/null runs without it")
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if p.err == nil {
		select {
		case p = <-all:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	switch {
	case p.err != nil && !errors.Is(p.err, io.EOF):
		return "", fmt.Errorf("read standard input: %w", p.err)
	case len(p.data) > maxStdin:
		return "", fmt.Errorf("standard input is larger than %d MiB; name a file in the prompt instead", maxStdin>>20)
	}
	return string(p.data), nil
}
