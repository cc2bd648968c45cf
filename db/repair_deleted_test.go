package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"alisio/db/pages"
)

// Where a database's header has the first page of the list of free pages, and how
// many there are, in bytes.
const freeAt, freeCount = 32, 36

// more adds to a number of the header.
func more(t *testing.T, o Options, at int64, n int32) {
	t.Helper()
	f := must(os.Open(o.Path))(t)
	defer f.Close()
	var b [4]byte
	must(f.ReadAt(b[:], at))(t)
	putNumber(t, o, at, uint32(int32(binary.BigEndian.Uint32(b[:]))+n))
}

// putNumber writes a number of four bytes.
func putNumber(t *testing.T, o Options, at int64, n uint32) {
	t.Helper()
	f := must(os.OpenFile(o.Path, os.O_RDWR, 0))(t)
	defer f.Close()
	must(f.WriteAt(binary.BigEndian.AppendUint32(nil, n), at))(t)
}

// zero clears bytes of a file.
func zero(t *testing.T, o Options, at int64, n int) {
	t.Helper()
	f := must(os.OpenFile(o.Path, os.O_RDWR, 0))(t)
	defer f.Close()
	must(f.WriteAt(make([]byte, n), at))(t)
}

// trunks are the pages of the freelist that name others.
func trunks(t *testing.T, o Options) (out []int64) {
	t.Helper()
	data := must(os.ReadFile(o.Path))(t)
	for n := binary.BigEndian.Uint32(data[freeAt:]); n != 0; n = binary.BigEndian.Uint32(data[(n-1)*pageSize:]) {
		out = append(out, int64(n))
	}
	return out
}

// speak adds messages, events and a run to a session.
func speak(x *Tx, id string, messages int) error {
	err := errors.Join(x.BeginRun(Run{ID: "run-" + id, Session: id, Status: "completed", CreatedMs: 5}),
		x.Enqueue(Queued{Session: id, Text: strings.Repeat("z", 100), CreatedMs: 5}))
	for i := range messages {
		length := 2000 + i*37%3000
		if i%5 == 3 {
			length = 80_000 // many pages for few rows
		}
		body := fmt.Sprintf(`{"role":"user","text":"%s %d %s"}`, id, i, strings.Repeat("y", length))
		_, err1 := x.AppendMessage(Message{Session: id, RunID: "run-" + id, Body: body})
		_, err2 := x.AddEvent(Event{Session: id, RunID: "run-" + id, Type: "text_delta", Body: `{"d":1}`, CreatedMs: 7})
		err = errors.Join(err, err1, err2, x.AddBlobRef(id, int64(i), strings.Repeat("ab", 32)))
	}
	return err
}

// deletedTrees times four is how many sessions are deleted, each with a child and a
// grandchild: enough that their pages need a list of three.
const deletedTrees = 12

// deletedStore makes a database with sessions that are kept, some that were deleted,
// with children, and one that was deleted and imported again, whose row has the number
// that a deleted one had.
func deletedStore(t *testing.T) Options {
	t.Helper()
	d := open(t, t.TempDir())
	fill := func(id, parent string, messages int) {
		write(t, d, func(x *Tx) error {
			return errors.Join(x.CreateSession(Session{ID: id, Parent: parent, Title: id}), speak(x, id, messages))
		})
	}
	for i := range 4 {
		fill(fmt.Sprintf("kept-%d", i), "", 60)
		for j := range deletedTrees {
			fill(fmt.Sprintf("deleted-%d-%d", i, j), "", 9)
			fill(fmt.Sprintf("child-%d-%d", i, j), fmt.Sprintf("deleted-%d-%d", i, j), 2)
			fill(fmt.Sprintf("grandchild-%d-%d", i, j), fmt.Sprintf("child-%d-%d", i, j), 2)
		}
	}
	fill("again", "", 60)
	for i := range 4 {
		for j := range deletedTrees {
			write(t, d, func(x *Tx) error { return x.DeleteSession(fmt.Sprintf("deleted-%d-%d", i, j)) })
		}
	}
	write(t, d, func(x *Tx) error { return x.DeleteSession("again") })
	fill("again", "", 30)
	o := optionsOf(d)
	shut(t, d)
	return o
}

// What a user deleted stays deleted, and what is kept is kept, whatever becomes of
// the list of free pages, and of pages beside it.
func TestDeletedStaysDeleted(t *testing.T) {
	t.Parallel()
	first := deletedStore(t)
	data := must(os.ReadFile(first.Path))(t)
	list := trunks(t, first)
	if len(list) < 3 {
		t.Fatalf("the list of free pages has %d pages", len(list))
	}
	sessions := []string{"again", "kept-0", "kept-1", "kept-2", "kept-3"}
	for i, tt := range []struct {
		name string
		harm func(o Options)
		// any: some rows are lost for good.
		any bool
	}{
		{"the count is wrong", func(o Options) { more(t, o, freeCount, 3) }, false},
		{"the header has lost the list", func(o Options) { zero(t, o, freeAt, 8) }, false},
		{"and the root of the messages, without the list", func(o Options) { zero(t, o, freeAt, 8); spoil(t, o, rootOf(t, first, "messages"), pageSize) }, false},
		{"the first page of the list is lost", func(o Options) { spoil(t, o, list[0], pageSize) }, false},
		{"a page of the list is lost", func(o Options) { spoil(t, o, list[1], pageSize) }, false},
		{"a page of the list is empty", func(o Options) { clearPage(t, o, list[1]) }, false},
		{"the list names a page that a tree leads to", func(o Options) { putNumber(t, o, (list[1]-1)*pageSize+8, leafOf(t, o, "kept-1 7 ")) }, false},
		{"and the root of the messages", func(o Options) { spoil(t, o, list[1], pageSize); spoil(t, o, rootOf(t, first, "messages"), pageSize) }, false},
		{"and the root of the events", func(o Options) { spoil(t, o, list[1], pageSize); spoil(t, o, rootOf(t, first, "events"), pageSize) }, false},
		{"and the count, with the root of the runs", func(o Options) { more(t, o, freeCount, 3); spoil(t, o, rootOf(t, first, "runs"), pageSize) }, false},
		{"and the sessions", func(o Options) { spoil(t, o, list[1], pageSize); spoil(t, o, rootOf(t, first, "sessions"), pageSize) }, true},
		{"and the sessions and their indexes", func(o Options) {
			spoil(t, o, list[1], pageSize)
			for _, name := range []string{"sessions", "sqlite_autoindex_sessions_1", "sessions_recent", "sessions_parent", "sessions_workspace", "messages"} {
				spoil(t, o, rootOf(t, first, name), pageSize)
			}
		}, true},
	} {
		if i%damageStride != 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Home: t.TempDir()}
			o.Path = o.Home + "/x.sqlite"
			if err := os.WriteFile(o.Path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			tt.harm(o)
			damaged := must(os.ReadFile(o.Path))(t)
			r := must(Repair(t.Context(), o, repairTime))(t)
			if aside := asideOf(t, o); !bytes.Equal(must(os.ReadFile(aside))(t), damaged) {
				t.Error("what was set aside is not what there was")
			}
			d := must(Open(t.Context(), o))(t)
			defer shut(t, d)
			var got []string
			for _, s := range must(d.Sessions(t.Context(), SessionQuery{Children: true, Archived: true, Limit: 1000}))(t) {
				got = append(got, s.ID)
			}
			slices.Sort(got)
			if !slices.Equal(got, sessions) {
				t.Errorf("the sessions are %v; told %+v", got, r.Findings)
			}
			for _, id := range sessions {
				want := 60
				if id == "again" {
					want = 30
				}
				n := must(d.CountMessages(t.Context(), id))(t)
				if n != want && !(tt.any && id == "again" && n >= want) {
					t.Errorf("%s has %d messages, want %d", id, n, want)
				}
			}
			for _, table := range []string{"messages", "events", "runs", "blob_refs", "queue"} {
				var n int
				if err := d.readers.QueryRow(`SELECT count(*) FROM ` + table + ` WHERE session NOT IN (SELECT id FROM sessions)`).Scan(&n); err != nil || n > 0 {
					t.Errorf("%d rows of %s are of no session, %v", n, table, err)
				}
			}
		})
	}
}

func clearPage(t *testing.T, o Options, page int64) {
	t.Helper()
	f := must(os.OpenFile(o.Path, os.O_RDWR, 0))(t)
	defer f.Close()
	must(f.WriteAt(make([]byte, pageSize), (page-1)*pageSize))(t)
}

// Readable messages of a session that was deleted and imported again are kept, where
// the list of free pages and the session's own row are lost.
func TestImportedAgainIsKept(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error { return errors.Join(x.CreateSession(Session{ID: "again"}), speak(x, "again", 200)) })
	write(t, d, func(x *Tx) error { return x.DeleteSession("again") })
	write(t, d, func(x *Tx) error { return errors.Join(x.CreateSession(Session{ID: "again"}), speak(x, "again", 50)) })
	o := optionsOf(d)
	shut(t, d)
	for _, name := range []string{"sessions", "sqlite_autoindex_sessions_1", "sessions_recent", "sessions_parent", "sessions_workspace", "sessions_open"} {
		spoil(t, o, rootOf(t, o, name), 200)
	}
	more(t, o, freeCount, 3)
	r := must(Repair(t.Context(), o, repairTime))(t)
	if got := len(everyMessage(t, o, "again")); got != 50 {
		t.Errorf("%d messages of 50; told %+v", got, r.Findings)
	}
}

// leafOf is the page of a message that holds a text.
func leafOf(t *testing.T, o Options, text string) uint32 {
	t.Helper()
	disk := must(pages.OpenDisk(o.Path, nil))(t)
	defer disk.Close()
	for leaf := range disk.Pages.Leaves(func(page, root uint32) bool { return page != root }) {
		for _, c := range leaf.Cells {
			if v, err := disk.Pages.Values(c); err == nil && len(v) == 6 && strings.Contains(string(v[2].Bytes), text) {
				return leaf.Page
			}
		}
	}
	t.Fatal("there is no such message")
	return 0
}
