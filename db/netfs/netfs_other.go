//go:build !linux && !darwin

package netfs

// fileSystem can not tell here, and says so by saying no.
func fileSystem(string) (name string, network bool) { return "", false }
