package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"alisio/db/storage"
	"alisio/plug"
)

// openSQL opens a database file of a plugin's own. A relative path stands in the
// state home and leads nowhere else, by ".." or by a link; an absolute one is what
// the plugin's configuration names.
func (h *Host) openSQL(ctx context.Context, e *entry, path string) (plug.SQL, error) {
	if err := h.present(e); err != nil {
		return nil, fmt.Errorf("open sql: %w", err)
	}
	abs, err := h.sqlPath(path)
	if err != nil {
		return nil, fmt.Errorf("open sql %q: %w", tell(path), err)
	}
	f, err := openFile(ctx, abs)
	if err != nil {
		return nil, err
	}
	d := &database{file: f, h: h, owner: e}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.state == gone {
		return nil, errors.Join(fmt.Errorf("open sql: %w", ErrGone), f.Close())
	}
	e.open[d] = true
	return d, nil
}

// sqlPath finds the file of a path and refuses those that are not the plugin's. The
// check is no wall: who can change links in the person's own directories meanwhile
// has the person's rights already.
func (h *Host) sqlPath(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", errors.New("want a path")
	}
	if !filepath.IsAbs(path) {
		var err error
		if path, err = h.below(path); err != nil {
			return "", err
		}
	}
	path = filepath.Clean(path)
	for _, closed := range h.o.ClosedOff {
		if sameFile(path, closed) {
			return "", errors.New("this file is not the plugin's own")
		}
	}
	return path, nil
}

// below finds a relative path in the state home, and makes its directory.
func (h *Host) below(path string) (string, error) {
	home := h.o.Dirs.State
	if home == "" {
		return "", errors.New("there is no state home in this run")
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator })
	if !filepath.IsLocal(path) || slices.Contains(parts, "..") || filepath.Clean(path) == "." {
		return "", errors.New("it leads out of the state home")
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(home) // whose links can not lead out
	if err != nil {
		return "", err
	}
	defer root.Close()
	dir := filepath.Dir(path)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if _, err := root.Stat(dir); err != nil {
		return "", err
	}
	return filepath.Join(home, path), nil
}

// sameFile reports whether two paths are one file, be it that it is not there yet.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// ownerOnly takes a database that others may read from them: one that an earlier
// program has made.
func ownerOnly(path string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Lstat(path + end)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path+end, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func openFile(ctx context.Context, path string) (*file, error) {
	if err := ownerOnly(path); err != nil {
		return nil, fmt.Errorf("open sql: %w", err)
	}
	s, err := storage.OpenStorage(ctx, path)
	if err != nil {
		return nil, err
	}
	return &file{s}, nil
}

// file adapts a storage to the contract.
type file struct{ *storage.Storage }

// database is the file of a plugin, which is closed with it.
type database struct {
	*file
	h     *Host
	owner *entry
}

// closeDatabases closes what a plugin has left open, without waiting for a call
// that still runs there.
func (h *Host) closeDatabases(e *entry) {
	h.mu.Lock()
	open := e.open
	e.open = nil
	h.mu.Unlock()
	for d := range open {
		// Close waits for the call that runs, which may be one that never returns.
		_, _ = call(context.Background(), e, h.o.Limits.Dispose, func(context.Context) (struct{}, error) {
			return struct{}{}, d.file.Close()
		})
	}
}

// Close closes the database.
func (d *database) Close() error {
	d.h.mu.Lock()
	delete(d.owner.open, d)
	d.h.mu.Unlock()
	return d.file.Close()
}

func values(args []any) []storage.Value {
	out := make([]storage.Value, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}

// Exec runs all statements of a text.
func (f *file) Exec(ctx context.Context, text string, args ...any) error {
	return f.Storage.Exec(ctx, text, values(args)...)
}

// Prepare returns the statement of a text.
func (f *file) Prepare(text string) plug.Statement { return &statement{f.Storage.Prepare(text)} }

type statement struct{ s *storage.Statement }

func (s *statement) Run(ctx context.Context, args ...any) (plug.Changed, error) {
	c, err := s.s.Run(ctx, values(args)...)
	return plug.Changed(c), err
}

func (s *statement) All(ctx context.Context, args ...any) (plug.Rows, error) {
	return rows(s.s.All(ctx, values(args)...))
}

func (s *statement) Get(ctx context.Context, args ...any) (plug.Rows, error) {
	return rows(s.s.Get(ctx, values(args)...))
}

func rows(r storage.Rows, err error) (plug.Rows, error) {
	if err != nil {
		return plug.Rows{}, err
	}
	out := plug.Rows{Columns: r.Columns}
	if len(r.Values) == 0 {
		return out, nil
	}
	// One array for all rows, as there can be many.
	all := make([]any, 0, len(r.Values)*len(r.Columns))
	out.Values = make([][]any, len(r.Values))
	for i, row := range r.Values {
		from := len(all)
		for _, v := range row {
			all = append(all, v)
		}
		out.Values[i] = all[from:len(all):len(all)]
	}
	return out, nil
}
