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

// links: no write changes what other names stand for.
func links(fs.FileInfo) int { return 1 }

func keepOwner(*os.File, fs.FileInfo) error { return nil }
