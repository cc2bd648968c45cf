package term

import (
	"syscall"
	"time"
	"unsafe"
)

// maxSelect is how many descriptors select knows.
const maxSelect = 1024

func add(s *syscall.FdSet, fd int)      { s.Bits[fd/32] |= 1 << uint(fd%32) }
func has(s *syscall.FdSet, fd int) bool { return s.Bits[fd/32]&(1<<uint(fd%32)) != 0 }

// selectRead waits until one of the descriptors can be read, for ever where wait is
// negative; 0 of them after it. The set says which, this system does not say how many.
func selectRead(n int, set *syscall.FdSet, wait time.Duration) (int, error) {
	var tv *syscall.Timeval
	if wait >= 0 {
		t := syscall.NsecToTimeval(wait.Nanoseconds())
		tv = &t
	}
	if err := syscall.Select(n, set, nil, nil, tv); err != nil {
		return 0, err
	}
	ready := 0
	for _, b := range set.Bits {
		if b != 0 {
			ready++
		}
	}
	return ready, nil
}

// eraseKey is VERASE of the terminal.
func eraseKey(fd int) byte {
	var t syscall.Termios
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCGETA, uintptr(unsafe.Pointer(&t))); e != 0 {
		return 0
	}
	return t.Cc[syscall.VERASE]
}
