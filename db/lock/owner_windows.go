package lock

import (
	"errors"
	"math"
	"syscall"
)

const (
	// processQuery is PROCESS_QUERY_LIMITED_INFORMATION.
	processQuery = 0x1000
	// stillActive is the exit code of a process that has not ended.
	stillActive = 259
)

// bootID is not needed: a process's start is a moment, not a time since the
// machine's start.
func bootID() string { return "windows" }

func processExists(pid int) bool {
	h, err := openProcess(pid)
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	defer syscall.CloseHandle(h)
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) != nil || code == stillActive
}

// processStart is in ns since the epoch.
func processStart(pid int) (int64, bool) {
	h, err := openProcess(pid)
	if err != nil {
		return 0, false
	}
	defer syscall.CloseHandle(h)
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return 0, false
	}
	return created.Nanoseconds(), true
}

func processStartMs(pid int) (int64, bool) {
	ns, ok := processStart(pid)
	return ns / 1e6, ok
}

func openProcess(pid int) (syscall.Handle, error) {
	if int64(pid) > math.MaxUint32 {
		return 0, syscall.EINVAL
	}
	return syscall.OpenProcess(processQuery, false, uint32(pid))
}
