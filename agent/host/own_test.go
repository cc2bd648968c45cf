package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"alisio/plug"
)

// kept keeps state by plugin and key.
type kept map[string]json.RawMessage

func (k kept) Get(_ context.Context, plugin, key string) (json.RawMessage, error) {
	return k[plugin+"/"+key], nil
}

func (k kept) Set(_ context.Context, plugin, key string, value json.RawMessage) error {
	k[plugin+"/"+key] = value
	return nil
}

func (k kept) Delete(_ context.Context, plugin, key string) error {
	delete(k, plugin+"/"+key)
	return nil
}

func (k kept) Keys(_ context.Context, plugin, prefix string) ([]string, error) {
	var keys []string
	for key := range k {
		if rest, ok := strings.CutPrefix(key, plugin+"/"); ok && strings.HasPrefix(rest, prefix) {
			keys = append(keys, rest)
		}
	}
	return keys, nil
}

func TestState(t *testing.T) {
	k := kept{}
	h := toyHost(t, Options{State: k})
	ctx := t.Context()
	a := plugin(t, h, "a", func(api *plug.API) error { return api.State.Set(ctx, "k", []byte(`{"n":1}`)) })
	b := plugin(t, h, "b", nil)
	if v, err := a.State.Get(ctx, "k"); string(v) != `{"n":1}` || err != nil {
		t.Errorf("got %s, %v", v, err)
	}
	if v, err := b.State.Get(ctx, "k"); v != nil || err != nil {
		t.Errorf("of another plugin: got %s, %v", v, err)
	}
	value := []byte(`"` + strings.Repeat("x", plug.MaxStateValue-2) + `"`)
	for _, key := range []string{"z", "m", strings.Repeat("é", plug.MaxStateKey/2)} {
		if err := a.State.Set(ctx, key, value); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	value[1] = 'y'
	if v, _ := a.State.Get(ctx, "z"); v[1] != 'x' {
		t.Error("the value changed with the plugin's bytes")
	}
	if keys, err := a.State.Keys(ctx, ""); !slices.Equal(keys, []string{"k", "m", "z", strings.Repeat("é", plug.MaxStateKey/2)}) || err != nil {
		t.Errorf("got %q, %v", keys, err)
	}
	if err := a.State.Delete(ctx, "z"); err != nil || k["a/z"] != nil {
		t.Errorf("got %v", err)
	}
	for name, err := range map[string]error{
		"no key":       a.State.Set(ctx, "", []byte("1")),
		"long key":     a.State.Set(ctx, strings.Repeat("x", plug.MaxStateKey+1), []byte("1")),
		"control":      a.State.Set(ctx, "a\x00", []byte("1")),
		"invalid":      a.State.Set(ctx, "a\xff", []byte("1")),
		"no json":      a.State.Set(ctx, "x", []byte("{")),
		"two values":   a.State.Set(ctx, "x", []byte("1 2")),
		"no value":     a.State.Set(ctx, "x", nil),
		"a long value": a.State.Set(ctx, "x", append(value, ' ')),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if k["a/x"] != nil || len(k) != 3 {
		t.Errorf("kept %d values", len(k))
	}
}

func TestPathsAreOfThePluginsOwn(t *testing.T) {
	d := dirs(t)
	h := toyHost(t, Options{Dirs: d})
	api := plugin(t, h, "some.plugin", nil)
	if _, err := os.Stat(d.State); err == nil {
		t.Error("a directory is made before it is asked for")
	}
	for want, find := range map[string]func() (string, error){d.Config: api.Paths.Config, d.State: api.Paths.State, d.Cache: api.Paths.Cache} {
		got, err := find()
		info, err2 := os.Stat(got)
		if err := errors.Join(err, err2); err != nil || got != filepath.Join(want, "plugins", "some.plugin") || !info.IsDir() {
			t.Fatalf("got %q, %v", got, err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("mode %o", info.Mode().Perm())
		}
	}
	if err := os.RemoveAll(d.Cache); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := api.Paths.Cache(); err == nil {
		t.Errorf("a file in the way: got %q", got)
	}
}

func TestSQL(t *testing.T) {
	d := dirs(t)
	h := toyHost(t, Options{Dirs: d})
	api := plugin(t, h, "p", nil)
	ctx := t.Context()
	db, err := api.SQL(ctx, "sub/own.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(ctx, "CREATE TABLE t (a INTEGER, b TEXT); CREATE INDEX i ON t (a)"); err != nil {
		t.Fatal(err)
	}
	err = db.Transaction(ctx, func(ctx context.Context) error {
		for n, b := range []any{"x", nil, []byte{1}} {
			if _, err := db.Prepare("INSERT INTO t VALUES (?, ?)").Run(ctx, int64(n), b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Prepare("SELECT a, b FROM t ORDER BY a").All(ctx)
	if err != nil || !slices.Equal(got.Columns, []string{"a", "b"}) || len(got.Values) != 3 || got.Values[0][1] != "x" || got.Values[1][1] != nil || got.Values[2][0] != int64(2) {
		t.Errorf("got %v, %v", got, err)
	}
	if none, err := db.Prepare("SELECT a FROM t WHERE a = ?").Get(ctx, int64(9)); err != nil || len(none.Values) != 0 {
		t.Errorf("got %v, %v", none, err)
	}
	if c, err := db.Prepare("DELETE FROM t WHERE a > ?").Run(ctx, int64(0)); err != nil || c.Rows != 2 {
		t.Errorf("got %v, %v", c, err)
	}
	file := filepath.Join(d.State, "sub", "own.sqlite")
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	// One that others may read, as an earlier program made it, is read no more.
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	db, err = api.SQL(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	// What the plugin leaves open is closed with it.
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(ctx, "SELECT 1"); err == nil {
		t.Error("the database is open after the plugin went")
	}
}

func TestSQLStaysInTheStateHome(t *testing.T) {
	d := dirs(t)
	outside := filepath.Join(filepath.Dir(d.State), "outside")
	closed := filepath.Join(d.State, "sessions.sqlite")
	for _, dir := range []string{d.State, outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(closed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := toyHost(t, Options{Dirs: d, ClosedOff: []string{closed}})
	api := plugin(t, h, "p", nil)
	paths := []string{"", ".", "..", "../x.sqlite", "a/../x.sqlite", "a/../../outside/x.sqlite", "a\x00b", "sessions.sqlite", closed, d.State + "/./sessions.sqlite"}
	if runtime.GOOS != "windows" { // where making a link needs a privilege
		for link, to := range map[string]string{"dir": outside, "file.sqlite": filepath.Join(outside, "y.sqlite"), "same.sqlite": closed} {
			if err := os.Symlink(to, filepath.Join(d.State, link)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Link(closed, filepath.Join(outside, "hard.sqlite")); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "dir/x.sqlite", "dir/sub/x.sqlite", "file.sqlite", "same.sqlite", filepath.Join(outside, "hard.sqlite"))
	}
	for _, path := range paths {
		if db, err := api.SQL(t.Context(), path); err == nil {
			t.Errorf("%q was opened", path)
			db.Close()
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "hard.sqlite" }) {
		t.Errorf("outside: got %v, %v", entries, err)
	}
	if info, err := os.Stat(closed); err != nil || info.Size() != 0 {
		t.Errorf("got %v, %v", info, err)
	}
	for _, path := range []string{"x.sqlite", "a/b/x.sqlite", filepath.Join(outside, "z.sqlite")} {
		db, err := api.SQL(t.Context(), path)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		db.Close()
	}
}
