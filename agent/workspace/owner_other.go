//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

// openFlags: files that opening could wait on do not live in directories here.
const openFlags = 0

// shared: the link count is not told here without another open, and owners are
// inherited from the directory. Hard links are split by a write.
func shared(fs.FileInfo) bool { return false }

func keepOwner(*os.File, fs.FileInfo) error { return nil }
