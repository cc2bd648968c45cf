//go:build darwin || freebsd || netbsd

package term

import (
	"syscall"
	"unsafe"
)

func discard(fd uintptr) {
	queue := int32(syscall.TCIFLUSH) // FREAD of sys/fcntl.h has the same value
	syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCFLUSH, uintptr(unsafe.Pointer(&queue)))
}

// dropOutput throws away what was written and not taken yet.
func dropOutput(fd uintptr) {
	queue := int32(syscall.TCOFLUSH) // FWRITE of sys/fcntl.h has the same value
	syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCFLUSH, uintptr(unsafe.Pointer(&queue)))
}
