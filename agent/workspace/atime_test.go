//go:build linux

package workspace

import (
	"syscall"
	"testing"
)

func atime(t *testing.T, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Atim.Nano()
}
