//go:build !linux && !darwin && !freebsd && !netbsd

package term

func foreground(uintptr) bool { return true }

func continuable() bool { return false }
