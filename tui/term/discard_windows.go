package term

import "syscall"

func discard(fd uintptr) {
	flush := syscall.NewLazyDLL("kernel32.dll").NewProc("FlushConsoleInputBuffer")
	if flush.Find() == nil {
		flush.Call(fd)
	}
}
