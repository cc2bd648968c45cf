//go:build unix

package trust

import "syscall"

// nonblock keeps an open from waiting when the path became a pipe.
const nonblock = syscall.O_NONBLOCK
