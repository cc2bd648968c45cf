package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

const (
	// termGrace is the time between TERM and KILL when the time is up,
	// cancelGrace when a person cancels.
	termGrace   = 5 * time.Second
	cancelGrace = 2 * time.Second
	// After the end of the program its output is read until nothing came for
	// drainQuiet, at most for drainMax.
	drainQuiet = 100 * time.Millisecond
	drainMax   = 500 * time.Millisecond
	// killWait bounds the wait for a program that was killed: one of another
	// user, or stuck in the kernel, would hold the call for ever.
	killWait = 5 * time.Second
	// settleRounds bounds how often what outlives the program is looked at,
	// settlePause apart, before it counts as left running.
	settleRounds = 10
	settlePause  = 10 * time.Millisecond

	readSize = 32 << 10
)

// process is a running program.
type process struct {
	cmd    *exec.Cmd
	out    *os.File      // our end of its output
	since  uint64        // when it began, as writers wants it
	exited chan struct{} // closed when the program has ended and was reaped
	// came tells of output. One is enough to know; what does not fit is dropped.
	came chan struct{}
	eof  chan struct{} // closed when the reader has ended
}

// supervise starts cmd and hands its output to sink, from one goroutine, until
// it returns.
//
//	start ──► exit ─────────────────────────┬─► drain ─► stop the rest ─► drain
//	  └─────► time is up, cancel ─► TERM ───┤
//	                                └► KILL ┘
func supervise(ctx context.Context, cmd *exec.Cmd, c Command, sink func([]byte)) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	began := time.Now()
	r, in, err := start(cmd, &c)
	if err != nil {
		return Exit{}, err
	}
	if in != nil {
		defer in.Close() // Ends give, should nobody ever read.
		go give(in, c.Stdin)
	}
	p := &process{cmd: cmd, out: r, since: since(cmd.Process.Pid), exited: make(chan struct{}), came: make(chan struct{}, 1), eof: make(chan struct{})}
	go p.read(sink)
	go p.reap()

	var e Exit
	err = p.wait(ctx, &c, &e)
	stopped := e.TimedOut || err != nil
	found, left := p.stopRest()
	e.LeftRunning, e.Survived = found && !stopped, left
	r.Close()
	<-p.eof
	e.Duration = time.Since(began)
	select {
	case <-p.exited:
		e.Code, e.Signal = status(cmd.ProcessState)
	default:
		e.Code = -1
		err = errors.Join(err, fmt.Errorf("run %s: it does not end, even when killed; process %d stays behind", c.name(), cmd.Process.Pid))
	}
	return e, err
}

// start starts cmd with one pipe for both outputs, so that their order is that
// of arrival. It returns our ends: of that pipe and, if there is input, of the
// one for input.
func start(cmd *exec.Cmd, c *Command) (out, in *os.File, err error) {
	out, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("run %s: %w", c.name(), err)
	}
	defer w.Close()
	cmd.Stdout, cmd.Stderr = w, w
	if c.Stdin != "" {
		var theirs *os.File
		if theirs, in, err = os.Pipe(); err != nil {
			out.Close()
			return nil, nil, fmt.Errorf("run %s: %w", c.name(), err)
		}
		defer theirs.Close()
		cmd.Stdin = theirs
	}
	keepPrivate()
	if err := cmd.Start(); err != nil {
		out.Close()
		if in != nil {
			in.Close()
		}
		return nil, nil, startError(c, err)
	}
	return out, in, nil
}

// give writes a program's input.
func give(in *os.File, s string) {
	defer in.Close()
	_, _ = in.WriteString(s) // A program need not read its input.
}

// read hands the pipe's bytes to sink until its end. It is a plain loop: a
// copy by io would look for ways around the sink's bounds.
func (p *process) read(sink func([]byte)) {
	defer close(p.eof)
	buf := make([]byte, readSize)
	for {
		n, err := p.out.Read(buf)
		if n > 0 {
			sink(buf[:n])
			select {
			case p.came <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *process) reap() {
	defer close(p.exited)
	_ = p.cmd.Wait() // What it tells stands in ProcessState.
}

// wait returns when the program has ended, or could not be ended. Its error is
// ctx's.
func (p *process) wait(ctx context.Context, c *Command, e *Exit) error {
	limit := time.NewTimer(c.timeout())
	defer limit.Stop()
	var err error
	grace := termGrace
	select {
	case <-p.exited:
		return nil
	case <-limit.C:
		e.TimedOut = true
	case <-ctx.Done():
		err, grace = ctx.Err(), cancelGrace
	}
	if c.grace > 0 {
		grace = c.grace
	}
	terminate(p.cmd.Process.Pid)
	if !p.ended(grace) {
		killRest(p.cmd.Process.Pid, nobody)
		_ = p.cmd.Process.Kill() // What matters is whether it ends.
		p.ended(killWait)
	}
	return err
}

// stopRest reads what is still to come and stops what outlives the program. It
// reports whether there was something, and whether there still is.
func (p *process) stopRest() (found, left bool) {
	pid := p.cmd.Process.Pid
	if !p.drain() {
		found, left = killRest(pid, func() []int { return writers(p.out, p.since) })
		// Who still holds the pipe after this is out of reach.
		open := !p.drain()
		return found || open, left || open
	}
	for range settleRounds {
		if len(members(pid)) == 0 {
			return false, false
		}
		time.Sleep(settlePause)
	}
	return killRest(pid, nobody)
}

// nobody is for killRest: no more than the session.
func nobody() []int { return nil }

// ended waits for the program's end, at most for d.
func (p *process) ended(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// drain waits until the output is quiet and reports whether it has ended.
func (p *process) drain() bool {
	most, quiet := time.NewTimer(drainMax), time.NewTimer(drainQuiet)
	defer most.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-p.eof:
			return true
		case <-p.came:
			quiet.Reset(drainQuiet)
		case <-quiet.C:
			return false
		case <-most.C:
			return false
		}
	}
}
