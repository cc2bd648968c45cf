//go:build unix

package workspace

import "syscall"

// openFlags make opening never wait, whatever was put in the file's place, and
// never follow a link.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
