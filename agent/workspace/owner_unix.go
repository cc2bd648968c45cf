//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags make opening never wait, whatever was put in the file's place, and
// never follow a link.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// shared tells whether replacing the file would split hard links or change its
// owner.
func shared(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid() || links(info) > 1
}

// links is how many names the file has.
func links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// keepOwner gives f the group of the old file; the owner is ours already.
func keepOwner(f *os.File, old fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	a, aok := now.Sys().(*syscall.Stat_t)
	b, bok := old.Sys().(*syscall.Stat_t)
	if !aok || !bok || a.Gid == b.Gid {
		return nil
	}
	return f.Chown(-1, int(b.Gid))
}
