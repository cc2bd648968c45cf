package db

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// turn stores what one tool turn stores: the model's message, the call's begin
// on the disk, its result, the events in between.
func turn(b *testing.B, d *DB, i int) {
	b.Helper()
	body := `{"role":"assistant","text":"` + strings.Repeat("x", 500) + `"}`
	call := Call{Session: "s", ID: fmt.Sprintf("call-%d", i), RunID: "r", Name: "shell", Effect: "process", StartedMs: 1}
	event := func(x *Tx) error {
		_, err := x.AddEvent(Event{Session: "s", RunID: "r", Type: "tool_started", Body: `{"id":"c"}`, CreatedMs: int64(i), RunSeq: int64(i)})
		return err
	}
	message := func(x *Tx) error {
		_, err := x.AppendMessage(Message{Session: "s", RunID: "r", Body: body})
		return err
	}
	for _, step := range []struct {
		s  Sync
		do func(*Tx) error
	}{
		{Normal, message},
		{Normal, event},
		{Normal, event},
		{Full, func(x *Tx) error { return x.BeginCall(call) }},
		{Normal, func(x *Tx) error {
			if err := x.EndCall(call); err != nil {
				return err
			}
			return event(x)
		}},
		{Normal, message},
		{Normal, event},
	} {
		if err := d.Write(context.Background(), step.s, step.do); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToolTurn(b *testing.B) {
	d := open(b, b.TempDir())
	create1(b, d, "s")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		turn(b, d, i)
	}
}

// BenchmarkToolTurnWithoutIndexes says what the indexes of the steps from 1001
// cost.
func BenchmarkToolTurnWithoutIndexes(b *testing.B) {
	d := open(b, b.TempDir())
	create1(b, d, "s")
	for _, name := range []string{"messages_active", "calls_pending", "runs_open", "sessions_open", "sessions_recent", "sessions_workspace", "events_run"} {
		if err := d.writer.pragma(`DROP INDEX ` + name); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		turn(b, d, i)
	}
}

func BenchmarkOpenClose(b *testing.B) {
	dir := b.TempDir()
	create1(b, open(b, dir), "s")
	// Another database keeps the log alive otherwise.
	o := Options{Path: filepath.Join(dir, "other.sqlite"), Home: dir}
	for b.Loop() {
		d, err := Open(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenNew(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		d, err := Open(context.Background(), Options{Path: filepath.Join(dir, fmt.Sprint(i)), Home: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// fill makes a session of n messages of 1 kB of which the last 200 are active.
func fill(t testing.TB, d *DB, n int) {
	t.Helper()
	create1(t, d, "s")
	body := `{"role":"user","text":"` + strings.Repeat("x", 1000) + `"}`
	write(t, d, func(x *Tx) error {
		for i := range n {
			if _, err := x.AppendMessage(Message{Session: "s", Body: body, Compacted: i < n-200}); err != nil {
				return err
			}
		}
		return nil
	})
}

// The cost at 1×, 10× and 100× of what is kept.
func BenchmarkLongSession(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		d := open(b, b.TempDir())
		fill(b, d, n)
		b.Run(fmt.Sprintf("active/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, err := d.ActiveMessages(context.Background(), "s"); err != nil || len(got) != 200 {
					b.Fatal(len(got), err)
				}
			}
		})
		b.Run(fmt.Sprintf("append/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, d, func(x *Tx) error {
					_, err := x.AppendMessage(Message{Session: "s", Body: "{}", Compacted: true})
					return err
				})
			}
		})
		b.Run(fmt.Sprintf("page/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, err := d.MessagesPage(context.Background(), "s", int64(n)/2, 50); err != nil || len(got) != 50 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

func BenchmarkSessionList(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		d := open(b, b.TempDir())
		write(b, d, func(x *Tx) error {
			for i := range n {
				if err := x.CreateSession(Session{ID: fmt.Sprintf("%08d", i), Workspace: fmt.Sprintf("/w%d", i%7), UpdatedMs: int64(i * 7919 % n)}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, workspace := range []string{"", "/w3"} {
			b.Run(fmt.Sprintf("%d%s", n, workspace), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Sessions(context.Background(), SessionQuery{Workspace: workspace, Limit: 50}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
