//go:build unix

package agent

import (
	"io/fs"
	"os"
	"syscall"
)

// trustedOwner reports whether what was found above a directory may make it a
// part of its workspace: it is the person's own, or belongs to who owns the
// directory, as git's safe.directory has it. Anybody can put a .git into /tmp.
func trustedOwner(found fs.FileInfo, dir string) bool {
	f, ok := found.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if f.Uid == uint32(os.Geteuid()) {
		return true
	}
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	d, ok := info.Sys().(*syscall.Stat_t)
	return ok && d.Uid == f.Uid
}
