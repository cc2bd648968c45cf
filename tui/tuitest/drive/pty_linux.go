package drive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"alisio/tui/tuitest"
)

// Pty is a child process on a real pseudo-terminal whose other end is a virtual
// terminal. A resize is one of the pseudo-terminal, of which the kernel tells the child.
type Pty struct {
	*tuitest.Terminal
	cmd    *exec.Cmd
	master *os.File
	before syscall.Termios
	after  syscall.Termios
	output sync.WaitGroup
	input  sync.WaitGroup
	ended  chan struct{} // closed when the child is gone and its output has been read
	err    error
}

// StartPty starts a command, whose streams are not set, on a pseudo-terminal. Without an
// environment of its own it gets a small one. When the test ends the terminal hangs up,
// and a child that outlives that is killed.
func StartPty(tb testing.TB, columns, rows int, o tuitest.Options, cmd *exec.Cmd) *Pty {
	tb.Helper()
	p := &Pty{Terminal: tuitest.New(columns, rows, o), cmd: cmd, ended: make(chan struct{})}
	slave, err := p.open()
	if err != nil {
		tb.Fatal(err)
	}
	if cmd.Env == nil {
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + tb.TempDir(), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		slave.Close()
		p.master.Close()
		tb.Fatalf("start %s on a pseudo-terminal: %v", cmd.Path, err)
	}
	p.OnResize(func(columns, rows int) { p.setSize(columns, rows) })
	p.output.Go(func() { io.Copy(p.Terminal, p.master) })
	p.input.Go(func() { io.Copy(p.master, p.Terminal) })
	go p.wait(slave)
	tb.Cleanup(p.Close)
	return p
}

// open makes the pseudo-terminal, of the size of the virtual one.
func (p *Pty) open() (slave *os.File, err error) {
	if p.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	var number, unlock uint32
	err = errors.Join(
		control(p.master, syscall.TIOCGPTN, unsafe.Pointer(&number)),
		control(p.master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)),
		p.setSize(p.Size()),
		control(p.master, syscall.TCGETS, unsafe.Pointer(&p.before)),
	)
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		p.master.Close()
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	return slave, nil
}

// control is an ioctl on a file that stays non-blocking.
func control(f *os.File, request uintptr, arg unsafe.Pointer) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var e syscall.Errno
	if err := c.Control(func(fd uintptr) {
		_, _, e = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
	}); err != nil {
		return err
	}
	if e != 0 {
		return e
	}
	return nil
}

func (p *Pty) setSize(columns, rows int) error {
	f := p.Features()
	size := [4]uint16{uint16(rows), uint16(columns), uint16(columns * f.CellWidth), uint16(rows * f.CellHeight)}
	return control(p.master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

// wait waits for the child and then for its output: only when our own slave is closed,
// too, has that an end.
func (p *Pty) wait(slave *os.File) {
	p.err = p.cmd.Wait()
	control(p.master, syscall.TCGETS, unsafe.Pointer(&p.after))
	slave.Close()
	p.output.Wait()
	close(p.ended)
}

// Signal sends the child a signal.
func (p *Pty) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Raw reports whether the pseudo-terminal is in raw mode now: no lines, no echo, no
// signals by keys.
func (p *Pty) Raw() bool {
	var now syscall.Termios
	if control(p.master, syscall.TCGETS, unsafe.Pointer(&now)) != nil {
		return false
	}
	return now.Lflag&(syscall.ICANON|syscall.ECHO|syscall.ISIG) == 0
}

// Wait waits for the child to end, with all its output shown, and gives its error, as
// exec.Cmd has it.
func (p *Pty) Wait(tb testing.TB) error {
	tb.Helper()
	timer := time.NewTimer(tuitest.Patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-timer.C:
		tb.Fatalf("%s has not ended after %v; shown is\n%s", p.cmd.Path, tuitest.Patience, p.Dump())
		return nil
	}
}

// Restored lists, when the child has ended, what it left changed: see
// tuitest.Terminal.Pristine, and the mode of the pseudo-terminal.
func (p *Pty) Restored(tb testing.TB) []string {
	tb.Helper()
	p.Wait(tb)
	left := p.Pristine()
	if p.after != p.before {
		left = append(left, fmt.Sprintf("the terminal's mode is %x, was %x", p.after, p.before))
	}
	return left
}

// Await is that of the Terminal; it gives up when the child ends.
func (p *Pty) Await(tb testing.TB, what string, holds func(*tuitest.Screen) bool) {
	tb.Helper()
	p.AwaitUnless(tb, what, holds, p.ended)
}

// Close hangs up, as when a window is closed, and kills a child that has not ended of
// that within a second.
func (p *Pty) Close() {
	p.Hangup()
	// Pending reads return: the file is non-blocking.
	p.master.Close()
	timer := time.AfterFunc(time.Second, func() { p.cmd.Process.Kill() })
	defer timer.Stop()
	<-p.ended
	p.input.Wait()
}
