//go:build unix

package transport

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestClientCertThatOthersCanRead(t *testing.T) {
	a := newAuthority(t)
	file := a.clientFile(a.issue(nil))
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true, 0o620: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{ClientCert: file, Origin: "https://model.invalid"})
		if !refused && err != nil {
			t.Errorf("%04o: %v", mode, err)
		}
		if refused && (err == nil || !strings.Contains(err.Error(), "others can read the private key") || !strings.Contains(err.Error(), "chmod 600")) {
			t.Errorf("%04o: got %v", mode, err)
		}
	}
}

// owned is a file of a user of the test's choice.
type owned struct{ uid uint32 }

func (owned) Name() string       { return "f" }
func (owned) Size() int64        { return 0 }
func (owned) Mode() fs.FileMode  { return 0o644 }
func (owned) ModTime() time.Time { return time.Time{} }
func (owned) IsDir() bool        { return false }
func (o owned) Sys() any         { return &syscall.Stat_t{Uid: o.uid} }

func TestKeyOfSomebodyElseIsTheirs(t *testing.T) {
	me := uint32(os.Getuid())
	for uid, want := range map[uint32]bool{me: true, me + 1: false} {
		if got := exposed(owned{uid}); got != want {
			t.Errorf("uid %d: got %v, want %v", uid, got, want)
		}
	}
}

// Opening a pipe would wait for a writer for ever.
func TestFileThatIsAPipe(t *testing.T) {
	path := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{CAFile: path}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}
