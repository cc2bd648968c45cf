package term

import (
	"bufio"
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// terminal opens a pseudo-terminal and returns its two ends.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var n, unlock uint32
	size := [4]uint16{24, 57}
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{
		{syscall.TIOCGPTN, unsafe.Pointer(&n)}, {syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)},
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},
	} {
		var e syscall.Errno
		// Not by Fd, which would let no read end by a Close.
		control(master, func(fd uintptr) { _, _, e = syscall.Syscall(syscall.SYS_IOCTL, fd, call.request, uintptr(call.arg)) })
		if e != 0 {
			t.Fatal(e)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// What was typed before, whole lines and the start of one, is gone; what is typed
// after is read.
func TestDiscard(t *testing.T) {
	master, slave := terminal(t)
	fmt.Fprint(master, "early\nhal")
	// The terminal echoes what it has taken in.
	echo := bufio.NewReader(master)
	for _, want := range []byte("early\r\nhal") {
		if got, err := echo.ReadByte(); err != nil || got != want {
			t.Fatalf("echo %q, %v, want %q", got, err, want)
		}
	}
	Discard(slave)
	fmt.Fprint(master, "late\n")
	if got, err := bufio.NewReader(slave).ReadString('\n'); err != nil || got != "late\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSize(t *testing.T) {
	_, slave := terminal(t)
	if columns, lines := Size(slave); columns != 57 || lines != 24 {
		t.Errorf("got %d columns and %d lines, want 57 and 24", columns, lines)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fmt.Fprint(w, "kept\n")
	Discard(r)
	columns, lines := Size(r)
	if got, err := bufio.NewReader(r).ReadString('\n'); columns != 0 || lines != 0 || got != "kept\n" || err != nil {
		t.Errorf("a pipe: %d columns, %d lines, read %q, %v", columns, lines, got, err)
	}
}
