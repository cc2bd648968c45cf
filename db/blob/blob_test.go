package blob

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func testBlobs(t *testing.T) (Files, string) {
	t.Helper()
	home := t.TempDir()
	b, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b, filepath.Join(home, "blobs", "sha256")
}

func TestBlobRoundTrip(t *testing.T) {
	b, dir := testBlobs(t)
	for _, data := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte{0, 255}, 1<<19)} {
		hash := Hash(data)
		if err := b.Put(hash, data, time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := b.Read(hash, int64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d, %v", len(data), len(got), err)
		}
		file, want := filepath.Join(dir, hash[:2], hash), os.FileMode(0o600)
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&^want != 0 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm()&^0o700 != 0 {
			t.Errorf("directory: %v, %v", info, err)
		}
	}
}

func TestSameBytesAreOneFile(t *testing.T) {
	b, dir := testBlobs(t)
	data := []byte("once")
	hash := Hash(data)
	old := time.Now().Add(-time.Hour)
	if err := b.Put(hash, data, old); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, hash[:2], hash)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := b.Put(hash, data, now); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again: %v", err)
	}
	if after.ModTime().Before(now.Add(-time.Minute)) {
		t.Errorf("a file in use looks like one of %v", after.ModTime())
	}
}

func TestDamagedBlobIsRefusedAndReplaced(t *testing.T) {
	data := []byte("some bytes of an image")
	hash := Hash(data)
	flipped := bytes.Clone(data)
	flipped[3] ^= 1
	tests := map[string][]byte{
		"flipped": flipped,
		"short":   data[:5],
		"long":    append(bytes.Clone(data), 'x'),
		"empty":   nil,
	}
	for name, bad := range tests {
		b, dir := testBlobs(t)
		path := filepath.Join(dir, hash[:2], hash)
		if err := b.Put(hash, data, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Read(hash, int64(len(data))); err == nil {
			t.Errorf("%s: read %q", name, got)
		}
		if b.Verify(hash, int64(len(data))) == nil {
			t.Errorf("%s: verified", name)
		}
		if err := b.Put(hash, data, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Read(hash, int64(len(data))); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: after a new put: %q, %v", name, got, err)
		}
	}
}

func TestHashes(t *testing.T) {
	good := strings.Repeat("0a", 32)
	if !ValidHash(good) {
		t.Errorf("%s is refused", good)
	}
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(good), "../" + good[3:], good[:63] + "/", good[:63] + "g"} {
		if ValidHash(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}

// The process dies after the bytes are written and before they have their name:
// there is no blob, not half of one, and the leftover is no obstacle.
func TestDeathBeforeTheRename(t *testing.T) {
	data := []byte("bytes of a process that dies")
	hash := Hash(data)
	if home := os.Getenv("ALISIO_DB_BLOBS"); home != "" {
		b, err := Open(home)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.writeTemp(hash, data); err != nil {
			t.Fatal(err)
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(self.Kill())
		select {}
	}
	home := t.TempDir()
	c := startChild(t, "ALISIO_DB_BLOBS="+home)
	if err := c.Run(); err == nil {
		t.Fatal("the child lives")
	}
	b, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	dir := filepath.Join(home, "blobs", "sha256", hash[:2])
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Fatalf("leftovers: %v, %v", entries, err)
	}
	if got, err := b.Read(hash, int64(len(data))); err == nil {
		t.Errorf("read %q", got)
	}
	if err := b.Put(hash, data, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(hash, int64(len(data))); err != nil {
		t.Error(err)
	}
}

// startChild runs this test again as another process, which does what env says.
func startChild(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	t.Cleanup(func() {
		if c.Process != nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}
