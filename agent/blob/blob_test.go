package blob

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/agent/session"
	"alisio/db"
)

// open makes a store of a database of its own, which has the session s.
func open(t *testing.T) Store {
	t.Helper()
	dir := t.TempDir()
	s, err := session.OpenSQLite(t.Context(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	now := time.Now()
	if err := s.Create(t.Context(), session.Session{ID: "s", Workspace: "/w", Created: now, Updated: now}); err != nil {
		t.Fatal(err)
	}
	return Store{Backend: s}
}

func TestAnImageComesBack(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	s := open(t)
	ref, err := s.Put(t.Context(), b.Bytes())
	if err != nil || ref.MIMEType != "image/png" || ref.Size != int64(b.Len()) || ref.Width != 3 || ref.Height != 2 {
		t.Fatalf("got %+v, %v", ref, err)
	}
	if img, err := s.Attachment(t.Context(), ref); err != nil || !bytes.Equal(img.Data, b.Bytes()) {
		t.Errorf("got %+v, %v", img, err)
	}
	if _, err := s.Put(t.Context(), []byte("<html>")); err == nil {
		t.Error("a page was taken for an image")
	}
}

// What is kept for one session is not open to another, and no text is an image.
func TestATextIsOpenToItsSession(t *testing.T) {
	s := open(t)
	name, err := s.Keeper()(t.Context(), "s", "a long text")
	hash, ok := strings.CutPrefix(name, "blob:")
	if err != nil || !ok {
		t.Fatalf("got %q, %v", name, err)
	}
	f, err := s.Opener("s")(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, f.Info().Size)
	if n, err := f.ReadAt(got, 0); err != nil && !errors.Is(err, io.EOF) || string(got[:n]) != "a long text" {
		t.Errorf("got %q, %v", got[:n], err)
	}
	if i := f.Info(); i.Name != name || i.Mode != 0o400 {
		t.Errorf("got %+v", i)
	}
	if _, err := s.Opener("other")(t.Context(), hash); err == nil {
		t.Error("another session reads it")
	}
	if _, err := s.Attachment(t.Context(), Ref{Hash: hash}); err == nil {
		t.Error("a text was taken for an image")
	}
}

func TestAStoreWithoutABackend(t *testing.T) {
	var s Store
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(context.Background(), b.Bytes()); !errors.Is(err, errNoBlobs) {
		t.Errorf("Put: got %v", err)
	}
	if _, err := s.Attachment(context.Background(), Ref{}); !errors.Is(err, errNoBlobs) {
		t.Errorf("Attachment: got %v", err)
	}
	if s.Keeper() != nil || s.Opener("s") != nil {
		t.Error("keeps or opens something")
	}
}
