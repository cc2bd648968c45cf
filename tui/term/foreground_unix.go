//go:build linux || darwin || freebsd || netbsd

package term

import (
	"syscall"
	"unsafe"
)

func foreground(fd uintptr) bool {
	var group int32
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return e == 0 && int(group) == syscall.Getpgrp()
}

// continuable: the parent is in another process group of the same session.
func continuable() bool {
	parent := syscall.Getppid()
	group, err := syscall.Getpgid(parent)
	return err == nil && group != syscall.Getpgrp() && session(parent) == session(0)
}

// session is the session of a process; 0 is this one.
func session(pid int) int {
	id, _, e := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if e != 0 {
		return -1 - pid // like no other
	}
	return int(id)
}
