package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/agent/session"
	"alisio/llm"
)

// many are so many messages of one text.
func many(text string, n int) []llm.Message { return slices.Repeat([]llm.Message{user(text)}, n) }

// Symptom: "nothing was found" with --here, though it stands there. Trigger: more than
// 2,000 newer messages with the word in other workspaces, or in few sessions.
func TestOldSessionsAreFoundBehindManyNewMessages(t *testing.T) {
	b := newBench(t)
	b.session("old", user("common apple"))
	for i := range 3 {
		b.session(fmt.Sprint("new", i), many("common", ranked/2)...)
	}
	found, err := b.Search(t.Context(), "common", 20, "/w/old")
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Session.ID != "old" || !found.Newest {
		t.Errorf("in one workspace: got %+v, %v", found, err)
	}
	if found, err = b.Search(t.Context(), "common", 20, "/w/none"); err != nil || len(found.Hits) != 0 {
		t.Errorf("in a workspace without sessions: got %+v, %v", found, err)
	}
	found, err = b.Search(t.Context(), "common", 20, "")
	if err != nil || len(found.Hits) != 4 || found.More || found.Hits[0].Messages != ranked/2 {
		t.Errorf("in all: got %d sessions, more %v, %v", len(found.Hits), found.More, err)
	}
}

// All messages that match are counted, also those behind the last session that is shown.
func TestHitsAreCountedBehindTheLimit(t *testing.T) {
	b := newBench(t)
	b.session("one", append(many("pear", 2), user(strings.Repeat("filler ", 300)+"pear"))...)
	b.session("two", user("a pear"))
	found, err := b.Search(t.Context(), "pear", 1, "")
	if err != nil || !found.More || len(found.Hits) != 1 || found.Hits[0].Messages != 3 {
		t.Errorf("got %+v, %v", found, err)
	}
}

// Symptom: each search fails for ever. Trigger: pages inside of the index are damaged,
// its first ones are not.
func TestAnIndexThatIsDamagedInsideIsMadeAgain(t *testing.T) {
	b := newBench(t)
	for i := range 40 {
		var talk []llm.Message
		for j := range 50 {
			talk = append(talk, user(strings.Repeat(fmt.Sprintf("w%d x%d ", i*50+j, j), 20)))
		}
		b.session(fmt.Sprint("s", i), talk...)
	}
	b.finds("w7")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(b.path)
	const sound = 12 * 4096
	if err != nil || len(raw) < 2*sound {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	copy(raw[sound:], bytes.Repeat([]byte{0xA5}, len(raw)-sound))
	if err := os.WriteFile(b.path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	x := b.index()
	if _, err := x.list(t.Context(), `SELECT d.seq, d.session FROM words w JOIN docs d ON d.seq = w.rowid WHERE words MATCH 'w7'`); !damaged(err) {
		t.Fatalf("the damage does not show: %v", err)
	}
	b.Index = x
	if got := b.finds("w7"); !slices.Equal(got, []string{"s0"}) {
		t.Errorf("got %v", got)
	}
}

// Symptom: each search fails for ever, with "UNIQUE constraint failed". Trigger: the mark
// stands before what is filed, or is gone.
func TestAnIndexWhoseMarkIsWrongIsMadeAgain(t *testing.T) {
	for _, change := range []string{`UPDATE mark SET seq = 0`, `UPDATE mark SET seq = -5`, `UPDATE mark SET seq = 'x'`, `DELETE FROM mark`} {
		b := newBench(t)
		b.session("s", user("apple"), user("pear"))
		b.finds("apple")
		if err := b.at.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if got := b.finds("apple"); !slices.Equal(got, []string{"s"}) {
			t.Errorf("%s: got %v", change, got)
		}
	}
}

// reopened is the same index beside another database file.
func (b *bench) reopened(file []byte) {
	b.t.Helper()
	if err := errors.Join(b.Close(), b.store.Close()); err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(b.dir, "sessions.sqlite")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.t.Fatal(err)
		}
	}
	if file != nil {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.store = open(b.t, b.dir)
	b.Index = b.index()
}

// Symptom: new messages are never found, and words of lost ones lead to others. Trigger:
// the database is replaced by a new or an older one, and its index stays.
func TestAnIndexOfAnotherDatabaseIsMadeAgain(t *testing.T) {
	b := newBench(t)
	b.session("a", user("first"))
	if err := errors.Join(b.Close(), b.store.Close()); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(filepath.Join(b.dir, "sessions.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	b.store = open(t, b.dir)
	b.Index = b.index()
	if err := b.store.Append(t.Context(), "a", "", user("lostword"), user("last")); err != nil {
		t.Fatal(err)
	}
	if got := b.finds("lostword"); len(got) != 1 {
		t.Fatal(got)
	}
	for _, c := range []struct {
		name  string
		file  []byte
		later int
	}{{"older, and behind the mark", backup, 1}, {"older, up to the mark", backup, 3}, {"new", nil, 1}} {
		b.reopened(c.file)
		if c.file == nil {
			b.session("a", user("first"))
		}
		for range c.later {
			if err := b.store.Append(t.Context(), "a", "", user("freshword")); err != nil {
				t.Fatal(err)
			}
		}
		for query, want := range map[string]int{"lostword": 0, "freshword": 1, "first": 1} {
			if got := b.finds(query); len(got) != want {
				t.Errorf("%s: %s in %v", c.name, query, got)
			}
		}
		if err := b.store.Append(t.Context(), "a", "", user("lostword"), user("last")); err != nil {
			t.Fatal(err)
		}
		b.finds("last")
	}
}

// lossy is a store that has lost a message.
type lossy struct {
	Store
	lost int64
}

func (l lossy) MessagesPage(ctx context.Context, id string, after int64, limit int) ([]session.Stored, error) {
	page, err := l.Store.MessagesPage(ctx, id, after, limit+1)
	page = slices.DeleteFunc(page, func(m session.Stored) bool { return m.Seq == l.lost })
	return page[:min(limit, len(page))], err
}

// Symptom: a hit shows another message than the one that was found. Trigger: a repair of
// the database has lost it.
func TestALostMessageIsNoHit(t *testing.T) {
	b := newBench(t)
	b.session("both", user("pear"), user("nothing of it"), user("a longer text with a pear in it"))
	b.session("one", user("pear"), user("nothing of it"))
	b.finds("pear")
	for lost, want := range map[int64][]string{1: {"both", "one"}, 4: {"both"}} {
		b.Index.store = lossy{b.store, lost}
		found, err := b.Search(t.Context(), "pear", 5, "")
		var ids []string
		for _, h := range found.Hits {
			ids = append(ids, h.Session.ID)
			if h.Match != "pear" || h.Seq == lost {
				t.Errorf("without %d: got %+v", lost, h)
			}
		}
		if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
			t.Errorf("without %d: got %v, %v", lost, ids, err)
		}
	}
}

// The message at the mark is deleted with its session: nothing is filed again for it.
func TestADeletedMessageAtTheMarkIsNoOtherDatabase(t *testing.T) {
	b := newBench(t)
	b.session("stays", user("apple"))
	b.session("gone", user("pear"))
	b.finds("pear")
	if _, err := b.store.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	err := b.at.Transaction(t.Context(), func(ctx context.Context) error {
		mark, rows, err := b.next(ctx, whole())
		if mark != 2 || len(rows) != 0 {
			t.Errorf("mark %d, %d rows", mark, len(rows))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What is in use, or may not be read, is not thrown away.
func TestAnIndexInUseIsKept(t *testing.T) {
	b := newBench(t)
	b.session("s", user("words"))
	b.finds("words")
	err := b.at.Transaction(t.Context(), func(context.Context) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		x, err := Open(ctx, b.store, b.path)
		if err == nil {
			x.Close()
			t.Error("opened, though another writes")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.at.Prepare(`SELECT seq FROM mark`).Get(t.Context()); err != nil || got.Values[0][0] != int64(1) {
		t.Errorf("%v, %v", got.Values, err)
	}
	odd := filepath.Join(b.dir, "odd") // no file, and empty, so that it could be removed
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	if x, err := Open(t.Context(), b.store, odd); err == nil {
		x.Close()
		t.Error("a directory is an index")
	}
	if info, err := os.Stat(odd); err != nil || !info.IsDir() {
		t.Errorf("it was thrown away: %v", err)
	}
}

// Symptom: a run ends seconds late, and plugins have no time left. Trigger: much that is
// not filed yet, from an import, say. Who has little time files a part, and what is long
// goes in by itself.
func TestFillingIsBounded(t *testing.T) {
	b := newBench(t)
	b.session("short", many("word", 4*small().messages)...)
	if err := b.Fill(t.Context(), time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	got, err := b.at.Prepare(`SELECT count(*) FROM docs`).Get(t.Context())
	if n, _ := got.Values[0][0].(int64); err != nil || int(n) != small().messages {
		t.Errorf("%d filed, %v", n, err)
	}
	if err := b.Fill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	all := int64(4 * small().messages)
	b.session("s", many("word "+strings.Repeat("x", 100<<10), 5)...)
	for _, c := range []struct {
		part part
		want int64
	}{{part{50, 250 << 10}, all + 2}, {part{1, 1 << 30}, all + 3}, {part{50, 1}, all + 4}} {
		err := b.at.Transaction(t.Context(), func(ctx context.Context) error {
			_, err := b.file(ctx, c.part)
			return err
		})
		got, _ := b.at.Prepare(`SELECT count(*) FROM docs`).Get(t.Context())
		if err != nil || got.Values[0][0] != c.want {
			t.Errorf("%+v: %v filed, %v, want %d", c.part, got.Values, err, c.want)
		}
	}
}
