// Sessions times what stored sessions cost: whole processes with a session
// database against a server in this program that answers at once.
//
//	go run ./scripts/bench/sessions [-n 40] [-binary PATH] [-reference PATH]
//
// The reference is a program of another commit, measured in turn with this one.
// It can be one from before there was a database: only its "run" is used. Rows
// are run n times after one that does not count, in turn with the others; times
// are medians with the smallest and the largest. Ten thousand sessions are made
// with python3, which is left out where that is missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// toolTurns is how many turns with a call the long run has.
	toolTurns = 50
	// active is how many messages of a long session are not compacted.
	active = 200
	// manySessions is how many there are to list.
	manySessions = 10_000
	// fewSessions is as many as a list shows.
	fewSessions = 50
)

func main() {
	n := flag.Int("n", 40, "counted runs of each row")
	binary := flag.String("binary", "", "the `program` to measure; built when empty")
	reference := flag.String("reference", "", "a `program` of another commit to measure beside")
	flag.Parse()
	dir, err := os.MkdirTemp("", "alisio-bench-")
	if err == nil {
		b := &bench{n: *n, dir: dir, alisio: *binary, reference: *reference, out: os.Stdout}
		err = errors.Join(b.run(context.Background()), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// bench is one measurement.
type bench struct {
	n         int
	dir       string
	alisio    string
	reference string
	server    *server
	out       io.Writer
	made      int
}

// row is one command and what was measured of it.
type row struct {
	name string
	bin  string
	// state is the state home; fresh runs each get a workspace of their own.
	state string
	args  []string
	// turns with a call before the answer.
	turns int

	wall, first []time.Duration
	peak        int64 // bytes
}

func (b *bench) run(ctx context.Context) error {
	err := b.build(ctx)
	if err != nil {
		return err
	}
	if b.server, err = listen(); err != nil {
		return err
	}
	err = errors.Join(b.turns(ctx), b.long(ctx), b.list(ctx))
	return errors.Join(err, b.server.close())
}

// build builds the stripped program, unless one was given.
func (b *bench) build(ctx context.Context) error {
	if b.alisio != "" {
		return nil
	}
	b.alisio = filepath.Join(b.dir, "alisio")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.alisio, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build alisio: %w\n%s", err, text)
	}
	return nil
}

// turns measures a run of one turn and one of many with calls.
func (b *bench) turns(ctx context.Context) error {
	bins := []string{b.alisio}
	names := []string{"alisio"}
	if b.reference != "" {
		bins, names = append(bins, b.reference), append(names, "reference")
	}
	rows := []*row{{name: "true", bin: "true"}}
	for i, bin := range bins {
		state := filepath.Join(b.dir, "turns-"+names[i])
		rows = append(rows,
			&row{name: names[i] + " run, one turn", bin: bin, state: state, args: b.task("run", "hello")},
			&row{name: fmt.Sprintf("%s run, %d turns with a write", names[i], toolTurns), bin: bin, state: state, args: b.task("run", "hello"), turns: toolTurns})
	}
	if err := b.measure(ctx, rows); err != nil {
		return err
	}
	b.report(rows)
	for i := 1; i < len(rows); i += 2 {
		each := (median(rows[i+1].wall) - median(rows[i].wall)) / toolTurns
		fmt.Fprintf(b.out, "%s: a turn with a write %.2f ms, of which the server waits %.0f ms\n", names[i/2], ms(each), ms(serverTime))
	}
	if len(rows) == 5 {
		fmt.Fprintf(b.out, "one turn ÷ reference: %.2f\n", float64(median(rows[1].wall))/float64(median(rows[3].wall)))
	}
	return nil
}

func (b *bench) task(words ...string) []string {
	return slices.Concat(words[:1], []string{"-m", "m", "--base-url", b.server.url, "--allow-write"}, words[1:])
}

// long measures the resuming of sessions of a thousand messages and of ten and a
// hundred times as many, of which the last are active.
func (b *bench) long(ctx context.Context) error {
	const id = "00000000-0000-4000-8000-000000000001"
	var rows, lists []*row
	for _, count := range []int{1_000, 10_000, 100_000} {
		state := filepath.Join(b.dir, fmt.Sprintf("long-%d", count))
		file := state + ".jsonl"
		if err := writeSession(file, id, b.workspace("long"), count); err != nil {
			return err
		}
		start := time.Now()
		if out, err := b.command(ctx, b.alisio, state, "long", "sessions", "import", file).CombinedOutput(); err != nil {
			return fmt.Errorf("import %d messages: %w\n%s", count, err, out)
		}
		size, err := treeSize(state)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "imported %d messages in %v; the database has %.1f MB\n", count, time.Since(start).Round(time.Millisecond), float64(size)/1e6)
		rows = append(rows, &row{name: fmt.Sprintf("resume of %d messages", count), bin: b.alisio, state: state, args: b.task("resume", id, "go on", "--cwd", ".")})
		lists = append(lists, &row{name: fmt.Sprintf("sessions list, %d messages", count), bin: b.alisio, state: state, args: []string{"sessions", "list"}})
	}
	if err := b.measure(ctx, slices.Concat(rows, lists)); err != nil {
		return err
	}
	b.report(slices.Concat(rows, lists))
	base := rows[0]
	for _, r := range rows {
		fmt.Fprintf(b.out, "%s: first request after %.1f ms (%.1f … %.1f), × the shortest %.2f; whole × the shortest %.2f\n", r.name,
			ms(median(r.first)), ms(slices.Min(r.first)), ms(slices.Max(r.first)),
			float64(median(r.first))/float64(median(base.first)), float64(median(r.wall))/float64(median(base.wall)))
	}
	return nil
}

// list measures the list of many sessions beside that of few.
func (b *bench) list(ctx context.Context) error {
	few, many := filepath.Join(b.dir, "few"), filepath.Join(b.dir, "many")
	for state, count := range map[string]int{few: fewSessions, many: manySessions} {
		if out, err := b.command(ctx, b.alisio, state, "w", b.task("run", "hello")...).CombinedOutput(); err != nil {
			return fmt.Errorf("make a session: %w\n%s", err, out)
		}
		fill := exec.CommandContext(ctx, "python3", "-c", manyProgram, filepath.Join(state, "sessions.sqlite"), fmt.Sprint(count))
		if out, err := fill.CombinedOutput(); err != nil {
			fmt.Fprintf(b.out, "left out: the list of %d sessions: %v\n%s", manySessions, err, out)
			return nil
		}
	}
	size, err := treeSize(many)
	if err != nil {
		return err
	}
	rows := []*row{
		{name: fmt.Sprintf("sessions list, %d sessions", fewSessions), bin: b.alisio, state: few, args: []string{"sessions", "list"}},
		{name: fmt.Sprintf("sessions list, %d sessions", manySessions), bin: b.alisio, state: many, args: []string{"sessions", "list"}},
		{name: "the same, --limit 10000", bin: b.alisio, state: many, args: []string{"sessions", "list", "--limit", "10000"}},
		{name: fmt.Sprintf("run, %d sessions", fewSessions), bin: b.alisio, state: few, args: b.task("run", "hello")},
		{name: fmt.Sprintf("run, %d sessions", manySessions), bin: b.alisio, state: many, args: b.task("run", "hello")},
	}
	if err := b.measure(ctx, rows); err != nil {
		return err
	}
	b.report(rows)
	fmt.Fprintf(b.out, "%d sessions of 10 messages: the database has %.1f MB\n", manySessions, float64(size)/1e6)
	return nil
}

// manyProgram copies the one session of a database many times.
const manyProgram = `
import sqlite3, sys, uuid
c = sqlite3.connect(sys.argv[1])
(sid,) = c.execute("SELECT id FROM sessions").fetchone()
cols = [r[1] for r in c.execute("PRAGMA table_info(sessions)") if r[1] not in ("id", "updated_at")]
runs = [r[1] for r in c.execute("PRAGMA table_info(runs)") if r[1] not in ("id", "session")]
for i in range(int(sys.argv[2]) - 1):
    new = str(uuid.uuid4())
    c.execute("INSERT INTO sessions (id, updated_at, %s) SELECT ?, updated_at + ?, %s FROM sessions WHERE id = ?" % (",".join(cols), ",".join(cols)), (new, i, sid))
    c.execute("INSERT INTO runs (id, session, %s) SELECT ?, ?, %s FROM runs WHERE session = ?" % (",".join(runs), ",".join(runs)), (str(uuid.uuid4()), new, sid))
    for k in range(5):
        c.execute("INSERT INTO messages (session, body) SELECT ?, body FROM messages WHERE session = ? ORDER BY seq LIMIT 2", (new, sid))
    c.execute("INSERT INTO events (session, run_id, type, body, created_at, run_seq) SELECT ?, run_id, type, body, created_at, run_seq FROM events WHERE session = ?", (new, sid))
c.commit()
`

// measure runs the rows in turn.
func (b *bench) measure(ctx context.Context, rows []*row) error {
	for i := range b.n + 1 {
		for _, r := range rows {
			if err := b.once(ctx, r, i > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// once runs a row's command. This program stays small, since a child is charged
// for the memory of its parent at its start.
func (b *bench) once(ctx context.Context, r *row, counts bool) error {
	work := "long"
	if !strings.HasPrefix(r.name, "resume") {
		b.made++
		work = fmt.Sprint("work-", b.made)
	}
	cmd := b.command(ctx, r.bin, r.state, work, r.args...)
	b.server.expect(r.turns)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	took := time.Since(start)
	if !counts {
		return nil
	}
	r.wall = append(r.wall, took)
	if at := b.server.firstAt(); !at.IsZero() {
		r.first = append(r.first, at.Sub(start))
	}
	r.peak = max(r.peak, peak(cmd.ProcessState))
	return nil
}

func (b *bench) workspace(name string) string { return filepath.Join(b.dir, "work", name) }

func (b *bench) command(ctx context.Context, bin, state, work string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = b.workspace(work)
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		cmd.Dir = b.dir
	}
	cmd.Env = append(os.Environ(), "HOME="+b.dir, "ALISIO_CONFIG_HOME="+filepath.Join(b.dir, "config"), "ALISIO_STATE_HOME="+state)
	return cmd
}

func (b *bench) report(rows []*row) {
	fmt.Fprintf(b.out, "\n%-40s %30s %10s\n", "", "wall ms (min … max)", "peak MB")
	for _, r := range rows {
		fmt.Fprintf(b.out, "%-40s %10.1f (%6.1f … %6.1f) %10.1f\n", r.name,
			ms(median(r.wall)), ms(slices.Min(r.wall)), ms(slices.Max(r.wall)), float64(r.peak)/1e6)
	}
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	if len(s) == 0 {
		return 0
	}
	return s[len(s)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
