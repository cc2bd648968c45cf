//go:build !unix

package agent

import "io/fs"

// trustedOwner is always true: owners are not told here, and there is no
// directory for all like /tmp.
func trustedOwner(fs.FileInfo, string) bool { return true }
