package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"alisio/agent/session"
	"alisio/db"
	"alisio/db/storage"
	"alisio/llm"
)

// bench is a real store with a real index.
type bench struct {
	t     *testing.T
	dir   string
	store *session.SQLite
	*Index
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, dir: dir, store: open(t, dir)}
	b.Index = b.index()
	return b
}

func open(t *testing.T, dir string) *session.SQLite {
	t.Helper()
	s, err := session.OpenSQLite(t.Context(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (b *bench) index() *Index {
	b.t.Helper()
	x, err := Open(b.t.Context(), b.store, filepath.Join(b.dir, "search.sqlite"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { x.Close() })
	return x
}

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

// session stores one with these messages.
func (b *bench) session(id string, messages ...llm.Message) {
	b.t.Helper()
	if err := b.store.Create(b.t.Context(), session.Session{ID: id, Workspace: "/w/" + id, Title: id}); err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.Append(b.t.Context(), id, "", messages...); err != nil {
		b.t.Fatal(err)
	}
}

// finds are the ids of the sessions in which a query is found, sorted.
func (b *bench) finds(query string) []string {
	b.t.Helper()
	found, err := b.Search(b.t.Context(), query, 100, "")
	if err != nil {
		b.t.Fatalf("%q: %v", query, err)
	}
	ids := []string{}
	for _, h := range found.Hits {
		ids = append(ids, h.Session.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestQueries(t *testing.T) {
	b := newBench(t)
	b.session("a", user("The parser reads a Token from plug/file.go"), llm.Message{Role: llm.RoleAssistant, Text: "It calls parseHTTPRequest and foo_bar."})
	b.session("b", user("Größe und café, naïve"), llm.Message{Role: llm.RoleTool, CallID: "c", Parts: []llm.Part{{Type: llm.PartText, Text: "result of a tool " + strings.Repeat("x ", maxResult) + "beyond"}}})
	b.session("c", user("日本語の文章を検索する"), user("NOT a parser AND nothing"))
	for query, want := range map[string][]string{
		"parser": {"a", "c"}, "PARSER reads": {"a"}, `"parser reads"`: {"a"}, `"reads parser"`: {}, "pars*": {"a", "c"}, "pars": {},
		"parser -nothing": {"a"}, "file.go": {"a"}, "plug/file.go": {"a"}, "foo_bar": {"a"}, "bar": {"a"}, "parseHTTPRequest": {"a"}, "request": {"a"},
		"http": {"a"}, "grosse": {}, "große": {"b"}, "größe": {"b"}, "grOSSe -x": {}, "Größe": {"b"}, "grÖße": {"b"}, "cafe": {"b"}, "naive": {"b"}, "tool": {"b"}, "beyond": {},
		"検索": {"c"}, "文章を検索": {"c"}, "索検": {}, "日本 parser": {}, "NOT": {"c"}, "AND": {"a", "c"}, "NEAR(parser": {}, "text:parser": {}, `"unclosed parser`: {},
		`parser"`: {"a", "c"}, "a* OR": {}, "'; DROP TABLE docs": {}, "^parser": {"a", "c"}, "{parser}": {"a", "c"}, "parser + reads": {"a"}, "\xff parser": {"a", "c"}, "par\x00ser": {},
	} {
		if got := b.finds(query); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"": "no letter", "-parser": "not only", "!!! --": "no letter", strings.Repeat("x", 1_001): "longer than", strings.Repeat("x ", 40): "more than 32",
	} {
		if _, err := b.Search(t.Context(), query, 10, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v", query, err)
		}
	}
}

func FuzzQueries(f *testing.F) {
	for _, s := range []string{`a "b`, "-", "*", "a* -b", "日本", `""`, "\xff", `"*"*`, "- a", "-\"x"} {
		f.Add(s)
	}
	dir := f.TempDir()
	s, err := session.OpenSQLite(f.Context(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	x, err := Open(f.Context(), s, filepath.Join(dir, "search.sqlite"))
	if err != nil {
		f.Fatal(err)
	}
	defer x.Close()
	f.Fuzz(func(t *testing.T, query string) {
		expr, err := match(query)
		if err != nil {
			return
		}
		if err := x.rows(t.Context(), expr, &gathering{x: x, query: query, limit: 1, at: map[string]int{}}); err != nil {
			t.Errorf("%q became %q: %v", query, expr, err)
		}
	})
}

func TestHits(t *testing.T) {
	b := newBench(t)
	b.session("one", user(strings.Repeat("before ", 100)+"the \x1b[31mNeedle\x07 here "+strings.Repeat("after ", 100)), user("needle again"))
	b.session("two", user("a needle"))
	found, err := b.Search(t.Context(), "needle", 1, "")
	if err != nil || len(found.Hits) != 1 || !found.More || found.Newest {
		t.Fatalf("got %+v, %v", found, err)
	}
	if found, err = b.Search(t.Context(), "needle", 10, "/w/one"); err != nil || len(found.Hits) != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	h := found.Hits[0]
	if h.Messages != 2 || h.Role != llm.RoleUser || !strings.EqualFold(h.Match, "needle") {
		t.Errorf("got %+v", h)
	}
	all := h.Before + h.Match + h.After
	if utf8.RuneCountInString(all) > 2*around || strings.ContainsAny(all, "\x1b\x07\n") {
		t.Errorf("snippet %q", all)
	}
}

// Copies, checkpoints and what plugins told are not found; what a compaction replaced is.
func TestCompactedSessions(t *testing.T) {
	b := newBench(t)
	talk := []llm.Message{user("first apple"), {Role: llm.RoleAssistant, Text: "pear"}, user("second apple"), {Role: llm.RoleAssistant, Text: "plum"}}
	b.session("s", talk...)
	if err := b.store.Append(t.Context(), "s", "", llm.Message{Role: llm.RoleUser, Text: "secret of a plugin", Context: "p/x"}); err != nil {
		t.Fatal(err)
	}
	checkpoint := llm.Message{Role: llm.RoleUser, Text: "checkpointword", Summary: true}
	if err := b.store.Compact(t.Context(), "s", session.Compaction{RunID: "r", Checkpoint: &checkpoint, Kept: talk[2:]}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"pear": 1, "apple": 2, "plum": 1, "checkpointword": 0, "plugin": 0} {
		found, err := b.Search(t.Context(), query, 10, "")
		n := 0
		if len(found.Hits) > 0 {
			n = found.Hits[0].Messages
		}
		if err != nil || n != want {
			t.Errorf("%s: %d messages, %v, want %d", query, n, err, want)
		}
	}
	if _, err := b.store.UndoCompaction(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := b.finds("pear apple"); len(got) != 0 { // of one message, not of a session
		t.Errorf("got %v", got)
	}
}

// Several fill at once; each message is filed once. An older program writes in between.
func TestManyFillAtOnce(t *testing.T) {
	b := newBench(t)
	for i := range 30 {
		var talk []llm.Message
		for j := range 50 {
			talk = append(talk, user(fmt.Sprintf("word%d number%d", i, j)))
		}
		b.session(fmt.Sprint("s", i), talk...)
	}
	indexes := []*Index{b.Index, b.index(), b.index(), b.index()}
	var wg sync.WaitGroup
	for _, x := range indexes {
		wg.Go(func() {
			if err := x.Fill(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := b.at.Prepare(`SELECT count(*), count(DISTINCT seq) FROM docs`).Get(t.Context())
	if err != nil || got.Values[0][0] != int64(1500) || got.Values[0][1] != int64(1500) {
		t.Errorf("%v, %v", got.Values, err)
	}
	found, err := b.Search(t.Context(), "number7", 100, "")
	if err != nil || len(found.Hits) != 30 || found.Hits[0].Messages != 1 {
		t.Errorf("%d sessions, %v", len(found.Hits), err)
	}
	if err := b.store.Append(t.Context(), "s3", "", user("late arrival")); err != nil {
		t.Fatal(err)
	}
	if got := b.finds("late"); !slices.Equal(got, []string{"s3"}) {
		t.Errorf("got %v", got)
	}
	if err := b.Fill(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// Deleted sessions leave the index, whoever deleted them.
func TestDeletedSessionsAreForgotten(t *testing.T) {
	b := newBench(t)
	b.session("gone", user("vanishing words"))
	b.session("stays", user("vanishing not"))
	if got := b.finds("vanishing"); len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	if _, err := b.store.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if got := b.finds("vanishing"); !slices.Equal(got, []string{"stays"}) {
		t.Errorf("got %v", got)
	}
	rows, err := b.at.Prepare(`SELECT count(*) FROM docs`).Get(t.Context())
	if err != nil || rows.Values[0][0] != int64(1) {
		t.Errorf("%v, %v", rows.Values, err)
	}
}

// A damaged index, or what is none, is made again.
func TestADamagedIndexIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"no database": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600)
		},
		"empty": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"another layout": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			s, err := storage.OpenStorage(t.Context(), path)
			if err != nil {
				return err
			}
			return errors.Join(s.Exec(t.Context(), `CREATE TABLE mark(id INTEGER PRIMARY KEY, upto INTEGER, sum INTEGER);
				CREATE TABLE docs(seq INTEGER PRIMARY KEY, session TEXT)`), s.Close())
		},
	} {
		b := newBench(t)
		b.session("s", user("words"))
		if got := b.finds("words"); len(got) != 1 {
			t.Fatal(got)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(b.path + suffix)
		}
		if err := damage(b.path); err != nil {
			t.Fatal(err)
		}
		b.Index = b.index()
		if got := b.finds("words"); !slices.Equal(got, []string{"s"}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
