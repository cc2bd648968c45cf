package hold

import (
	"os"
	"path/filepath"
	"strconv"
)

// setLock is F_OFD_SETLK (fcntl.h): a lock that belongs to the open file. The
// usual kind is lost as soon as this process closes the same file opened
// elsewhere, as copying it does.
const setLock = 37

// userOf is a process, not this one, that has a file open, or zero. Processes of
// other users can not be seen.
func userOf(path string) int {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", e.Name(), "fd")
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && to == path {
				return pid
			}
		}
	}
	return 0
}
