package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"alisio/tui/plain"
	"alisio/tui/term"
)

const (
	// maxStdin bounds what a pipe may add to a prompt, in bytes.
	maxStdin = 4 << 20
	// stdinPatience is how long a pipe beside a prompt may stay silent before
	// the run starts without it: many callers leave one open and never write.
	stdinPatience = time.Second
)

// runRun works on one task.
func runRun(ctx context.Context, c *call) (int, error) {
	ctx, stop := withSignals(ctx)
	defer stop()
	prompt, err := c.prompt(ctx)
	if err != nil {
		return exitUsage, err
	}
	app, err := c.open(ctx)
	if err != nil {
		return exitUsage, err
	}
	defer closeApp(c, app)
	return c.work(ctx, app, prompt)
}

// prompt joins the words of the command line and what came by a pipe.
func (c *call) prompt(ctx context.Context) (string, error) {
	words := c.args
	wants := len(words) > 0 && words[len(words)-1] == "-"
	if wants {
		words = words[:len(words)-1]
	}
	prompt := strings.TrimSpace(strings.Join(words, " "))
	wants = wants || prompt == ""
	if wants && term.IsTerminal(c.Stdin) {
		if prompt != "" || len(c.args) > 0 {
			c.notice("reading standard input; end with Ctrl+D")
		} else {
			return "", usageError{errors.New(`no task is given; use: alisio run "what is to be done"`)}
		}
	}
	input := ""
	if wants || piped(c.Stdin) {
		var err error
		if input, err = c.readStdin(ctx, wants); err != nil {
			return "", err
		}
	}
	switch input = strings.TrimRight(input, "\n"); {
	case strings.TrimSpace(input) == "" && prompt == "":
		return "", usageError{errors.New(`no task is given; use: alisio run "what is to be done"`)}
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

// piped reports whether a stream is a file or a pipe that may hold something.
func piped(stream io.Reader) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return stream != nil
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	return info.Mode().IsRegular() || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// readStdin reads all of standard input. Unless it was asked for, a pipe that
// stays silent is left alone after a while.
func (c *call) readStdin(ctx context.Context, wanted bool) (string, error) {
	type piece struct {
		data []byte
		err  error
	}
	first := make(chan piece, 1) // one send, never dropped
	all := make(chan piece, 1)   // one send, never dropped
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
	var patience <-chan time.Time
	if !wanted {
		timer := time.NewTimer(stdinPatience)
		defer timer.Stop()
		patience = timer.C
	}
	var p piece
	select {
	case p = <-first:
	case <-patience:
		c.notice("standard input is a pipe that gave nothing yet, and is left alone; end the prompt with - to wait for it")
		return "", nil
	case <-ctx.Done():
		return "", ctx.Err()
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
		return "", usageError{fmt.Errorf("standard input is larger than %d MiB; name a file in the prompt instead", maxStdin>>20)}
	}
	return string(p.data), nil
}
