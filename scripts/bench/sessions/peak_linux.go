package main

import (
	"os"
	"syscall"
)

// peak is the largest resident memory of an ended process, in bytes.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
