package doctor

import "syscall"

// diskOf tells of the file system of a directory: its kind, empty when it is not
// known, and how many bytes of it are free for this user.
func diskOf(dir string) (kind string, free uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", 0, false
	}
	b := make([]byte, 0, len(s.Fstypename))
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b), s.Bavail * uint64(s.Bsize), true
}
