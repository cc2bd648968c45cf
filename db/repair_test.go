package db

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/db/blob"
	"alisio/db/place"
	"alisio/db/swap"
)

var repairTime = time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)

// filledRows is how many messages filled makes: on so many pages that a page leads to
// them, as it does to those of thousands.
const filledRows = 600

// filled makes a database with messages, 500 blob references and a session
// that has them, all in its file, and returns its options.
func filled(t *testing.T) Options {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "home"))
	create1(t, d, "s")
	write(t, d, func(tx *Tx) error {
		for i := range int64(filledRows) {
			body := sentAs(i + 1)
			if _, err := tx.AppendMessage(Message{Session: "s", Body: body}); err != nil {
				return err
			}
		}
		for i := range 500 {
			if err := tx.AddBlobRef("s", int64(i), blob.Hash([]byte{byte(i), byte(i >> 8)})); err != nil {
				return err
			}
		}
		return nil
	})
	o := optionsOf(d)
	shut(t, d)
	return o
}

// sentAs is the body of a message of filled: every 50th has pages of its own.
func sentAs(seq int64) string {
	length := int(seq % 400)
	if seq%50 == 0 {
		length = 4000 + 25*int(seq)
	}
	return fmt.Sprintf(`{"role":"user","text":"%04d %s"}`, seq, strings.Repeat("x", length))
}

func sent() map[int64]string {
	out := map[int64]string{}
	for seq := range int64(filledRows) {
		out[seq+1] = sentAs(seq + 1)
	}
	return out
}

// readable asks a copy of a database, row by row, for all messages it gives.
func readable(t *testing.T, o Options) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	copied := filepath.Join(t.TempDir(), "copy")
	for _, end := range []string{"", "-wal"} {
		if err := swap.Copy(o.Path+end, copied+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	pool, conn, err := openRaw(t.Context(), writable(copied, salvagePragmas))
	if err != nil {
		return out
	}
	defer pool.Close()
	defer conn.Close()
	st, err := conn.PrepareContext(t.Context(), `SELECT body, session, compacted, copy_of, run_id FROM messages WHERE seq = ?`)
	if err != nil {
		return out
	}
	defer st.Close()
	for seq := range int64(filledRows + 1) {
		var body []byte
		var rest [4]sql.RawBytes
		rows, err := st.QueryContext(t.Context(), seq)
		if err != nil {
			continue
		}
		found := rows.Next() && rows.Scan(&body, &rest[0], &rest[1], &rest[2], &rest[3]) == nil
		if errors.Join(rows.Err(), rows.Close()) == nil && found {
			out[seq] = string(body)
		}
	}
	return out
}

func asideOf(t *testing.T, o Options) string {
	t.Helper()
	names := must(filepath.Glob(o.Path + ".damaged-20250304-050607*"))(t)
	for _, n := range names {
		if !strings.HasSuffix(n, "-wal") && !strings.HasSuffix(n, "-shm") && !strings.HasSuffix(n, "-journal") && !strings.HasSuffix(n, ".part") {
			return n
		}
	}
	return ""
}

// everyMessage are all messages that a session's rows hold, by session.
func everyMessage(t *testing.T, o Options, session string) (out []string) {
	t.Helper()
	d := must(Open(t.Context(), o))(t)
	defer shut(t, d)
	for _, m := range must(d.ActiveMessages(t.Context(), session))(t) {
		out = append(out, m.Body)
	}
	return out
}

// whole opens what a repair left and looks whether SQLite finds it sound and
// every row is there that was readable before.
func whole(t *testing.T, o Options, before map[int64]string) {
	t.Helper()
	if sound, err := isSound(t.Context(), o.Path, o.Path); !sound || err != nil {
		t.Errorf("not sound after the repair: %v", err)
	}
	after := readable(t, o)
	for seq, body := range before {
		if got, ok := after[seq]; !ok || got != body {
			t.Errorf("message %d was readable as %.60q and is %.60q, %v", seq, body, got, ok)
			return
		}
	}
	for _, pattern := range []string{".checked-*", ".recovered-*", "*.part"} {
		if left := must(filepath.Glob(o.Path + pattern))(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	d := must(Open(t.Context(), o))(t)
	shut(t, d)
}

func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	base := filled(t)
	sound := must(os.ReadFile(base.Path))(t)
	recovered := 0
	for seed := uint64(0); seed < 12; seed += damageStride {
		rng := rand.New(rand.NewPCG(seed, 1))
		data := bytes.Clone(sound)
		const page = 4096
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(data)/page) * page
			if seed%4 == 0 {
				at = 0
			}
			for range 1 + rng.IntN(300) {
				data[at+rng.IntN(page)] ^= byte(1 + rng.IntN(255))
			}
		}
		o := Options{Path: filepath.Join(t.TempDir(), "x.sqlite"), Home: base.Home}
		if err := os.WriteFile(o.Path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := readable(t, o)
		readsOrSays(t, o, seed)
		if err := os.WriteFile(o.Path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		removeSidecars(o.Path)
		r, err := Repair(t.Context(), o, repairTime)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		whole(t, o, before)
		if aside := asideOf(t, o); aside != "" {
			recovered++
			if !bytes.Equal(must(os.ReadFile(aside))(t), data) {
				t.Errorf("seed %d: the damaged file was changed", seed)
			}
			if r.Sound() {
				t.Errorf("seed %d: no problem was told", seed)
			}
		}
		if len(before) > filledRows-10 && t.Failed() {
			return
		}
	}
	if recovered < 6/damageStride {
		t.Errorf("only %d databases were found damaged: the test does not damage", recovered)
	}
}

func removeSidecars(path string) {
	for _, end := range swap.Sidecars()[1:] {
		os.Remove(path + end)
	}
}

// readsOrSays opens a damaged database as a run does: it works, or says what is wrong.
func readsOrSays(t *testing.T, o Options, seed uint64) {
	t.Helper()
	fine := func(err error) {
		var damaged *DamagedError
		if err != nil && !errors.As(err, &damaged) && !errors.Is(err, ErrNotFound) {
			t.Errorf("seed %d: got %v", seed, err)
		}
	}
	d, err := Open(t.Context(), o)
	if err != nil {
		fine(err)
		return
	}
	defer d.Close()
	_, err = d.ActiveMessages(t.Context(), "s")
	fine(err)
}

func TestDamagedHeader(t *testing.T) {
	t.Parallel()
	o := filled(t)
	data := must(os.ReadFile(o.Path))(t)
	copy(data, "not SQLite at all")
	if err := os.WriteFile(o.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(Repair(t.Context(), o, repairTime))(t)
	whole(t, o, sent())
	if !strings.Contains(says(r, Problem), fmt.Sprintf("%d rows recovered from single pages", filledRows)) {
		t.Errorf("told:\n%s", says(r, Problem))
	}
	if !bytes.Equal(must(os.ReadFile(asideOf(t, o)))(t), data) {
		t.Error("the damaged file was changed")
	}
}

func TestTruncatedFile(t *testing.T) {
	t.Parallel()
	for _, keep := range []float64{0.9, 0.5} {
		o := filled(t)
		if err := os.Truncate(o.Path, int64(float64(place.Size(o.Path))*keep)); err != nil {
			t.Fatal(err)
		}
		before := readable(t, o)
		must(Repair(t.Context(), o, repairTime))(t)
		whole(t, o, before)
	}
}

// A header that says too few pages, or too many, loses no row.
func TestWrongPageCount(t *testing.T) {
	t.Parallel()
	for _, n := range []int32{-30, 1000} {
		o := filled(t)
		more(t, o, 28, n)
		r := must(Repair(t.Context(), o, repairTime))(t)
		if asideOf(t, o) == "" {
			t.Errorf("%d pages more are no damage: %+v", n, r.Findings)
		}
		whole(t, o, sent())
	}
}

// C112
// Symptom: after a power cut the last record is half written and resume shows an
// empty conversation without a word.
// Trigger: kill -9 during a call; cut the last 20 bytes of the -wal file.
func TestC112TornLog(t *testing.T) {
	if dir := os.Getenv("ALISIO_DB_TORN"); dir != "" {
		d := open(t, dir)
		create1(t, d, "s", `"one"`, `"two"`)
		write(t, d, func(tx *Tx) error {
			_, err := tx.AppendMessage(Message{Session: "s", Body: `"three"`})
			return err
		})
		fmt.Println("written")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := filepath.Join(t.TempDir(), "home")
	c := startChild(t, "ALISIO_DB_TORN="+dir)
	stdin := must(c.StdinPipe())(t)
	defer stdin.Close()
	out := must(c.StdoutPipe())(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "written\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	c.Process.Kill()
	c.Wait()
	o := Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir}
	if place.Size(o.Path+"-wal") < 4096 {
		t.Fatalf("the log has %d bytes", place.Size(o.Path+"-wal"))
	}
	if err := os.Truncate(o.Path+"-wal", place.Size(o.Path+"-wal")-20); err != nil {
		t.Fatal(err)
	}
	r := must(Repair(t.Context(), o, repairTime))(t)
	if !r.Sound() {
		t.Errorf("a torn log is no damage: %s", says(r, Problem))
	}
	d := open(t, dir)
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != `"one" "two"` && got != `"one","two"` {
		t.Errorf("got %s", got)
	}
}

func TestRepairOfASoundStore(t *testing.T) {
	t.Parallel()
	o := filled(t)
	before := readable(t, o)
	for i := range 5 {
		r := must(Repair(t.Context(), o, repairTime.Add(time.Duration(i)*time.Second)))(t)
		if !r.Sound() || !strings.Contains(says(r, Good), "a backup was made") {
			t.Errorf("told: %+v", r.Findings)
		}
	}
	whole(t, o, before)
	backups := must(filepath.Glob(o.Path + ".*.backup"))(t)
	if len(backups) != backupsKept || !strings.HasSuffix(backups[2], ".20250304-050611.backup") {
		t.Errorf("backups %v", backups)
	}
	for _, b := range backups {
		if info := must(os.Stat(b))(t); info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", b, info.Mode())
		}
		if sound, err := isSound(t.Context(), b, b); !sound || err != nil {
			t.Errorf("backup: %v", err)
		}
	}
	// The same moment again: nothing is overwritten.
	must(Repair(t.Context(), o, repairTime.Add(4*time.Second)))(t)
	if _, err := os.Lstat(o.Path + ".20250304-050611.backup"); err != nil {
		t.Error(err)
	}
}

// Another process has the database open and does nothing.
func TestRepairIsRefusedWhileInUse(t *testing.T) {
	if dir := os.Getenv("ALISIO_DB_OPEN"); dir != "" {
		d := open(t, dir)
		create1(t, d, "held")
		fmt.Println("open")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	o := filled(t)
	c := startChild(t, "ALISIO_DB_OPEN="+o.Home)
	stdin := must(c.StdinPipe())(t)
	out := must(c.StdoutPipe())(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	_, err := Repair(t.Context(), o, repairTime)
	var used *InUseError
	if !errors.As(err, &used) || used.PID != 0 && used.PID != c.Process.Pid {
		t.Errorf("got %v, want process %d", err, c.Process.Pid)
	}
	stdin.Close()
	io.Copy(io.Discard, out)
	c.Wait()
	if _, err := Repair(context.WithoutCancel(t.Context()), o, repairTime); err != nil {
		t.Error(err)
	}
}

// A newer program's column, an index and a table come through a recovery.
func TestRecoveryKeepsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	o := filled(t)
	pool, conn, err := openRaw(t.Context(), writable(o.Path, commonPragmas))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`ALTER TABLE sessions ADD COLUMN mood TEXT`, `UPDATE sessions SET mood = 'good'`,
		`CREATE TABLE "odd ""name" (a PRIMARY KEY, b) WITHOUT ROWID`, `INSERT INTO "odd ""name" VALUES (1, x'00ff'), (2, 2.5)`,
		`CREATE INDEX odd_b ON "odd ""name" (b)`,
	} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	var root int64
	if err := conn.QueryRowContext(t.Context(), `SELECT rootpage FROM sqlite_master WHERE name = 'messages'`).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Close(), pool.Close()); err != nil {
		t.Fatal(err)
	}
	f := must(os.OpenFile(o.Path, os.O_RDWR, 0))(t)
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xee}, 200), (root-1)*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	r := must(Repair(t.Context(), o, repairTime))(t)
	if asideOf(t, o) == "" || !strings.Contains(says(r, Good), fmt.Sprintf("messages: all %d", filledRows)) {
		t.Fatalf("told %+v", r.Findings)
	}
	whole(t, o, sent())
	pool, conn, err = openRaw(t.Context(), writable(o.Path, commonPragmas))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	defer conn.Close()
	var mood, odd string
	var seq, indexes, refs int64
	err = conn.QueryRowContext(t.Context(), `SELECT (SELECT mood FROM sessions), (SELECT group_concat(quote(b)) FROM (SELECT b FROM "odd ""name" ORDER BY a)),
		(SELECT seq FROM sqlite_sequence WHERE name = 'messages'), (SELECT count(*) FROM sqlite_master WHERE name = 'odd_b'),
		(SELECT count(*) FROM blob_refs)`).Scan(&mood, &odd, &seq, &indexes, &refs)
	if err != nil || mood != "good" || odd != "X'00FF',2.5" || seq != filledRows || indexes != 1 || refs != 500 {
		t.Errorf("mood %q, odd %q, next number behind %d, indexes %d, references %d, %v", mood, odd, seq, indexes, refs, err)
	}
}

// startChild runs this test again as another process, which does what env says.
func startChild(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	t.Cleanup(func() {
		if c.Process != nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}
