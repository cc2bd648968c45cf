package netfs

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingDirectoryCountsAsItsParent(t *testing.T) {
	dir := t.TempDir()
	wantName, want := Of(dir)
	name, got := Of(filepath.Join(dir, "not", "there", "yet"))
	if got != want || name != wantName {
		t.Errorf("got %q, %v; the parent gives %q, %v", name, got, wantName, want)
	}
}

func TestNetworkLineNamesBoth(t *testing.T) {
	line := Line("/home/x", "nfs")
	if !strings.Contains(line, "/home/x") || !strings.Contains(line, "nfs") || strings.Contains(line, "\n") {
		t.Errorf("line %q", line)
	}
}
