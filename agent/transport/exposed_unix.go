//go:build unix

package transport

import (
	"io/fs"
	"os"
	"syscall"
)

// exposed reports whether a file is the person's own and somebody else can do
// anything with it.
func exposed(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(os.Getuid()) && info.Mode().Perm()&0o077 != 0
}
