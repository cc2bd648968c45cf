package term

import (
	"syscall"
	"time"
	"unsafe"
)

// maxSelect is how many descriptors select knows.
const maxSelect = syscall.FD_SETSIZE

func add(s *syscall.FdSet, fd int) {
	bits := int(unsafe.Sizeof(s.Bits[0])) * 8
	s.Bits[fd/bits] |= 1 << uint(fd%bits)
}

func has(s *syscall.FdSet, fd int) bool {
	bits := int(unsafe.Sizeof(s.Bits[0])) * 8
	return s.Bits[fd/bits]&(1<<uint(fd%bits)) != 0
}

// selectRead waits until one of the descriptors can be read, for ever where wait is
// negative; 0 of them after it.
func selectRead(n int, set *syscall.FdSet, wait time.Duration) (int, error) {
	if wait < 0 {
		return syscall.Select(n, set, nil, nil, nil)
	}
	tv := syscall.NsecToTimeval(wait.Nanoseconds())
	return syscall.Select(n, set, nil, nil, &tv)
}

// eraseKey is VERASE of the terminal.
func eraseKey(fd int) byte {
	var t syscall.Termios
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); e != 0 {
		return 0
	}
	return t.Cc[syscall.VERASE]
}
