//go:build !unix

package workspace

// openFlags: files that opening could wait on do not live in directories here.
const openFlags = 0
