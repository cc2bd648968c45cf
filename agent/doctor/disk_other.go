//go:build !linux && !darwin

package doctor

// diskOf knows nothing of file systems here.
func diskOf(string) (kind string, free uint64, ok bool) { return "", 0, false }
