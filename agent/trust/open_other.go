//go:build !unix

package trust

// nonblock has no counterpart here: a path in the file system is no pipe.
const nonblock = 0
