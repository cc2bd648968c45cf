//go:build linux || darwin

package term

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"
)

// device is the terminal as the system has it.
type device struct {
	in, out *os.File
	own     []*os.File
	fd      int // of in
	saved   *term.State
	// A byte in the pipe ends a read: a reader that stays would eat what is typed for the
	// next program.
	wakeRead, wakeWrite *os.File
	wakeFD              int
}

func newDevice(in, out *os.File, own []*os.File) (device, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return device{}, err
	}
	d := device{in: in, out: out, own: own, wakeRead: r, wakeWrite: w}
	control(in, func(fd uintptr) { d.fd = int(fd) })
	control(r, func(fd uintptr) { d.wakeFD = int(fd) })
	if d.fd >= maxSelect || d.wakeFD >= maxSelect {
		d.close()
		return device{}, errors.New("too many files are open")
	}
	return d, nil
}

// controlling opens the terminal that controls the process.
func controlling(write bool) (*os.File, error) {
	mode := os.O_RDONLY
	if write {
		mode = os.O_WRONLY
	}
	return os.OpenFile("/dev/tty", mode|syscall.O_NOCTTY, 0)
}

// raw sets raw mode: terminal.md, section 1.
func (d *device) raw() error {
	state, err := term.MakeRaw(d.fd)
	if err == nil && d.saved == nil {
		d.saved = state
	}
	return err
}

// restore sets the mode that raw found, and drops answers that came too late.
func (d *device) restore() {
	if d.saved == nil {
		return
	}
	discard(uintptr(d.fd))
	term.Restore(d.fd, d.saved)
	d.saved = nil
}

// read waits for input, for ever where wait is 0. It returns errWoken after wake and
// os.ErrDeadlineExceeded after wait. While it waits it uses no time at all.
func (d *device) read(p []byte, wait time.Duration) (int, error) {
	end := time.Now().Add(wait)
	for {
		left := time.Duration(-1)
		if wait > 0 {
			left = max(time.Until(end), 0)
		}
		var set syscall.FdSet
		add(&set, d.fd)
		add(&set, d.wakeFD)
		n, err := selectRead(max(d.fd, d.wakeFD)+1, &set, left)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, os.ErrDeadlineExceeded
		case has(&set, d.wakeFD):
			var one [1]byte
			d.wakeRead.Read(one[:])
			return 0, errWoken
		}
		n, err = syscall.Read(d.fd, p)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// wake ends the read that is going on, or else the next.
func (d *device) wake() { d.wakeWrite.Write([]byte{0}) }

// drop throws away what the terminal has not taken yet.
func (d *device) drop() { control(d.out, dropOutput) }

func (d *device) size() (columns, rows int) { return Size(d.out) }

// erase is what the Backspace key sends, as the terminal was set up.
func (d *device) erase() byte { return eraseKey(d.fd) }

func (d *device) foreground() bool { return Foreground(d.in) }

func (d *device) close() {
	d.wakeRead.Close()
	d.wakeWrite.Close()
	for _, f := range d.own {
		f.Close()
	}
}
