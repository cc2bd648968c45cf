package db

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func putBlob(t *testing.T, d *DB, session, data string) Blob {
	t.Helper()
	return must(d.PutBlob(t.Context(), session, 0, []byte(data), "image/png", 2, 3))(t)
}

func blobAt(home string, b Blob) string {
	return filepath.Join(home, "blobs", "sha256", b.Hash[:2], b.Hash)
}

// age makes a file look as if it had been written before.
func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

func TestBlob(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	b := putBlob(t, d, "s", "picture")
	data, got, err := d.OpenBlob(t.Context(), b.Hash)
	if err != nil || string(data) != "picture" || got.MIME != "image/png" || got.Width != 2 || got.Size != 7 {
		t.Errorf("%q, %+v, %v", data, got, err)
	}
	if !must(d.HasBlobRef(t.Context(), "s", b.Hash))(t) {
		t.Error("no reference")
	}
	if again := putBlob(t, d, "", "picture"); again.Hash != b.Hash {
		t.Errorf("hash %s, want %s", again.Hash, b.Hash)
	}
	for _, hash := range []string{strings.Repeat("0", 64), "../../x", ""} {
		if _, _, err := d.OpenBlob(t.Context(), hash); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", hash, err)
		}
	}
	if _, err := d.PutBlob(t.Context(), "", 0, make([]byte, MaxBlob+1), "x", 0, 0); err == nil {
		t.Error("a blob that is too large was taken")
	}
}

func TestDamagedBlob(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	b := putBlob(t, d, "", "picture")
	if err := os.WriteFile(blobAt(d.home, b), []byte("pictUre"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := d.OpenBlob(t.Context(), b.Hash)
	var damaged *DamagedBlobError
	if !errors.As(err, &damaged) || damaged.Hash != b.Hash {
		t.Errorf("got %v", err)
	}
	putBlob(t, d, "", "picture")
	if data, _, err := d.OpenBlob(t.Context(), b.Hash); err != nil || string(data) != "picture" {
		t.Errorf("after another put: %q, %v", data, err)
	}
}

func TestCollectBlobs(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	needed, unused, fresh := putBlob(t, d, "s", "needed"), putBlob(t, d, "", "unused"), putBlob(t, d, "", "fresh")
	week := 8 * 24 * time.Hour
	age(t, blobAt(d.home, needed), week)
	age(t, blobAt(d.home, unused), week)
	dir := filepath.Dir(blobAt(d.home, needed))
	stray := filepath.Join(dir, needed.Hash[:2]+strings.Repeat("0", 62))
	temp := filepath.Join(dir, needed.Hash+".tmp-x")
	newTemp := filepath.Join(dir, needed.Hash+".tmp-y")
	foreign := filepath.Join(dir, "README")
	for _, p := range []string{stray, temp, newTemp, foreign} {
		if err := os.WriteFile(p, []byte("1234"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{stray, foreign} {
		age(t, p, week)
	}
	age(t, temp, 25*time.Hour)

	// The rows were made now: in a week less than an hour nothing is due.
	none := must(d.CollectBlobs(t.Context(), time.Now().Add(-2*time.Hour)))(t)
	if none.Blobs != 0 {
		t.Errorf("collected too early: %+v", none)
	}
	got := must(d.CollectBlobs(t.Context(), time.Now()))(t)
	if got.Blobs != 0 {
		t.Errorf("a row of today was collected: %+v", got)
	}
	age(t, blobAt(d.home, fresh), -7*24*time.Hour)
	later := must(d.CollectBlobs(t.Context(), time.Now().Add(7*24*time.Hour+time.Minute)))(t)
	if later.Blobs != 1 {
		t.Errorf("got %+v", later)
	}
	for path, want := range map[string]bool{
		blobAt(d.home, needed): true, blobAt(d.home, unused): false, blobAt(d.home, fresh): true,
		stray: false, temp: false, newTemp: false, foreign: true,
	} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
}
