package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

const (
	// maxStdin bounds what a pipe may add to a prompt, in bytes.
	maxStdin = 4 << 20
	// stdinPatience is how long standard input may stay silent before the
	// person is told what is waited for.
	stdinPatience = time.Second
)

// InputKind says what standard input is good for beside a prompt.
type InputKind uint8

const (
	// NoInput: a terminal, a device, nothing.
	NoInput InputKind = iota
	// Pipe: a pipe or a file. Somebody put it there: all of it is waited for.
	Pipe
	// Socket: what programs and ssh leave open for children without thinking of
	// it. When it stays silent it is left alone.
	Socket
)

// KindOf looks at a stream without reading from it.
func KindOf(stream io.Reader) InputKind {
	f, ok := stream.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		if stream == nil {
			return NoInput
		}
		return Pipe
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return NoInput
	case info.Mode().IsRegular(), info.Mode()&fs.ModeNamedPipe != 0:
		return Pipe
	case info.Mode()&fs.ModeSocket != 0:
		return Socket
	}
	return NoInput
}

// ReadInput reads all of standard input, at most 4 MiB, and tells the person what
// is waited for. Unless it is wanted, one that stays silent is left alone after a
// while.
func ReadInput(ctx context.Context, stdin io.Reader, wanted bool, notice func(format string, args ...any)) (string, error) {
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
		n, err := stdin.Read(buf)
		first <- piece{buf[:n], err}
		if err != nil {
			return
		}
		rest, err := io.ReadAll(io.LimitReader(stdin, maxStdin+1-int64(n)))
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
				notice("standard input is open but gave nothing, and is left alone; end the prompt with - to wait for it")
				return "", nil
			}
			notice("waiting for the end of standard input; < /dev/null runs without it")
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
