package db

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/db/blob"
	"alisio/db/pages"
)

const (
	pageSize = 4096
	lostSeed = 8
)

// history makes a database of some sessions with rows in every table, and some
// that were deleted, and returns its files, the log's latest commits in the log
// alone, and its messages.
func history(t *testing.T) (data, log []byte, all map[int64]Message) {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "home"))
	fill := func(id string, messages int) {
		write(t, d, func(x *Tx) error {
			errs := []error{
				x.CreateSession(Session{ID: id, Workspace: "/w", Title: "title of " + id, CreatedMs: 1, UpdatedMs: 2}),
				x.BeginRun(Run{ID: "run-" + id, Session: id, Status: "completed", Model: "m", CreatedMs: 5}),
				x.BeginCall(Call{Session: id, ID: "call", Status: "completed", Result: `{"a":1}`, StartedMs: 3}),
				x.SetState("plugin", id, "value"),
				x.AddBlob(Blob{Hash: blob.Hash([]byte(id)), MIME: "image/png", Size: 3, Width: 2, Height: 1, CreatedMs: 9}),
				x.OpenWorkspace("/w/"+id, 4),
			}
			for i := range messages {
				length := i * 37 % 900
				if i%40 == 7 {
					length = 3000 + i*113%20000
				}
				body := fmt.Sprintf(`{"role":"user","text":"%s %d %s"}`, id, i, strings.Repeat("y", length))
				_, err := x.AppendMessage(Message{Session: id, RunID: "run-" + id, Body: body})
				_, err2 := x.AddEvent(Event{Session: id, RunID: "run-" + id, Type: "text_delta", Body: `{"d":1}`, CreatedMs: 7, RunSeq: int64(i)})
				errs = append(errs, err, err2, x.AddBlobRef(id, int64(i), blob.Hash([]byte(id))))
			}
			return errors.Join(errs...)
		})
	}
	for i := range 5 {
		fill(fmt.Sprintf("kept-%d", i), 100)
		fill(fmt.Sprintf("deleted-%d", i), 100)
	}
	for i := range 5 {
		write(t, d, func(x *Tx) error { return x.DeleteSession(fmt.Sprintf("deleted-%d", i)) })
	}
	if err := d.writer.pragma(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	fill("late", 60)
	data, log = must(os.ReadFile(d.path))(t), must(os.ReadFile(d.path+"-wal"))(t)
	all = map[int64]Message{}
	for _, s := range must(d.Sessions(t.Context(), SessionQuery{Limit: 100}))(t) {
		for _, m := range must(d.ActiveMessages(t.Context(), s.ID))(t) {
			all[m.Seq] = m
		}
	}
	if len(all) != 560 {
		t.Fatalf("%d messages", len(all))
	}
	return data, log, all
}

// leafPages says on which page each message lies that has no other.
func leafPages(t *testing.T, data, log []byte, all map[int64]Message) map[int64]uint32 {
	t.Helper()
	f := must(pages.Open(bytes.NewReader(data), int64(len(data)), bytes.NewReader(log)))(t)
	out := map[int64]uint32{}
	for leaf := range f.Leaves(func(uint32, uint32) bool { return true }) {
		for _, c := range leaf.Cells {
			m, ok := all[c.ID]
			if !ok || len(c.Types) != 6 || len(m.Body) > 900 {
				continue
			}
			if v, err := f.Values(c); err == nil && string(v[2].Bytes) == m.Body {
				out[c.ID] = leaf.Page
			}
		}
	}
	return out
}

// interiors are the pages that lead to others.
func interiors(data []byte) (out []int) {
	for n := 2; n*pageSize <= len(data); n++ {
		if k := data[(n-1)*pageSize]; k == 5 || k == 2 {
			out = append(out, n)
		}
	}
	return out
}

func TestLostPages(t *testing.T) {
	t.Parallel()
	data, log, all := history(t)
	at := leafPages(t, data, log, all)
	if len(at) < 480 {
		t.Fatalf("the pages of %d messages are known", len(at))
	}
	zero := func(data []byte, n int) { clear(data[(n-1)*pageSize : n*pageSize]) }
	for i, tt := range []struct {
		name string
		// harm damages the file and returns the pages that are not whole then;
		// those of the log come on top.
		harm func(data []byte, rng *rand.Rand) (left []byte, lost []int)
		// every message is there, whole: nothing but ways was lost.
		every bool
	}{
		{"magic", func(data []byte, _ *rand.Rand) ([]byte, []int) { copy(data, "SQLite format 4"); return data, []int{1} }, true},
		{"first page zeroed", func(data []byte, _ *rand.Rand) ([]byte, []int) { zero(data, 1); return data, []int{1} }, true},
		{"first page flipped", func(data []byte, rng *rand.Rand) ([]byte, []int) {
			for range 200 {
				data[rng.IntN(pageSize)] ^= byte(1 + rng.IntN(255))
			}
			data[0] = 0
			return data, []int{1}
		}, true},
		{"page size", func(data []byte, _ *rand.Rand) ([]byte, []int) { data[16] = 0x20; return data, []int{1} }, true},
		{"interior pages zeroed", func(data []byte, _ *rand.Rand) ([]byte, []int) {
			lost := interiors(data)
			for _, n := range lost {
				zero(data, n)
			}
			return data, lost
		}, true},
		{"interior pages flipped", func(data []byte, rng *rand.Rand) ([]byte, []int) {
			lost := interiors(data)
			for _, n := range lost {
				for range 20 {
					data[(n-1)*pageSize+rng.IntN(pageSize)] ^= byte(1 + rng.IntN(255))
				}
			}
			return data, lost
		}, true},
		{"truncated", func(data []byte, _ *rand.Rand) ([]byte, []int) {
			keep := len(data) * 6 / 10
			var lost []int
			for n := keep/pageSize + 1; n <= len(data)/pageSize; n++ {
				lost = append(lost, n)
			}
			return data[:keep], lost
		}, false},
		{"any pages zeroed", func(data []byte, rng *rand.Rand) (_ []byte, lost []int) {
			for n := 1; n <= len(data)/pageSize; n++ {
				if rng.IntN(8) == 0 {
					zero(data, n)
					lost = append(lost, n)
				}
			}
			return data, lost
		}, false},
		{"any pages are noise", func(data []byte, rng *rand.Rand) (_ []byte, lost []int) {
			for n := 1; n <= len(data)/pageSize; n++ {
				if rng.IntN(8) == 0 {
					for i := range 200 {
						data[(n-1)*pageSize+i] = byte(rng.UintN(256))
					}
					lost = append(lost, n)
				}
			}
			return data, lost
		}, false},
	} {
		for _, withLog := range []bool{true, false} {
			if i%damageStride != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, log %v", tt.name, withLog), func(t *testing.T) {
				left, lost := tt.harm(bytes.Clone(data), rand.New(rand.NewPCG(lostSeed, uint64(len(tt.name)))))
				o := Options{Home: t.TempDir()}
				o.Path = filepath.Join(o.Home, "x.sqlite")
				gone := map[uint32]bool{}
				for _, n := range lost {
					gone[uint32(n)] = true
				}
				where, want := at, all
				if err := os.WriteFile(o.Path, left, 0o600); err != nil {
					t.Fatal(err)
				}
				if withLog {
					for n := range logged(log) {
						delete(gone, n)
					}
					if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
						t.Fatal(err)
					}
				} else {
					want = map[int64]Message{}
					for seq, m := range all {
						if m.Session != "late" {
							want[seq] = m
						}
					}
					where = leafPages(t, data, nil, want)
				}
				r := must(Repair(t.Context(), o, repairTime))(t)
				if sound, err := isSound(t.Context(), o.Path, o.Path); !sound || err != nil {
					t.Errorf("not sound after the repair: %v", err)
				}
				// The log may have every page that matters.
				aside := asideOf(t, o)
				if aside == "" != r.Sound() || aside == "" && !withLog || aside != "" && !bytes.Equal(must(os.ReadFile(aside))(t), left) {
					t.Errorf("the damaged file is not kept as it was: %q, %+v", aside, r.Findings)
				}
				got := messagesOf(t, o)
				for seq, m := range got {
					if !tt.every && (where[seq] == 0 && want[seq].Body != "" || strings.HasPrefix(m.Session, "deleted-")) {
						// A part of it may have been on a page of noise; or nobody knows
						// any more that it was deleted.
						continue
					}
					if want[seq].Body != m.Body || want[seq].Session != m.Session {
						t.Fatalf("message %d was made up: %.80q of %q", seq, m.Body, m.Session)
					}
				}
				missing := 0
				for seq := range want {
					if _, ok := got[seq]; !ok && (tt.every || where[seq] != 0 && !gone[where[seq]]) {
						missing++
					}
				}
				if missing > 0 {
					t.Errorf("%d of %d messages on whole pages are lost, %d are there: %+v", missing, len(want), len(got), r.Findings)
				}
				t.Logf("%d of %d", len(got), len(want))
			})
		}
	}
}

// logged are the pages that the log has.
func logged(log []byte) map[uint32]bool {
	out := map[uint32]bool{}
	for at := 32; at+24+pageSize <= len(log); at += 24 + pageSize {
		out[uint32(log[at])<<24|uint32(log[at+1])<<16|uint32(log[at+2])<<8|uint32(log[at+3])] = true
	}
	return out
}

// messagesOf reads all messages through the sessions that lists show.
func messagesOf(t *testing.T, o Options) map[int64]Message {
	t.Helper()
	d := must(Open(t.Context(), o))(t)
	defer shut(t, d)
	out := map[int64]Message{}
	for _, s := range must(d.Sessions(t.Context(), SessionQuery{Children: true, Archived: true, Limit: 100}))(t) {
		for _, m := range must(d.ActiveMessages(t.Context(), s.ID))(t) {
			out[m.Seq] = m
		}
	}
	var n int
	if err := d.readers.QueryRow(`SELECT count(*) FROM messages`).Scan(&n); err != nil || n != len(out) {
		t.Errorf("%d of %d messages are in a session, %v", len(out), n, err)
	}
	return out
}
