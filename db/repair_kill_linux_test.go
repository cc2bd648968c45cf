package db

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"alisio/db/swap"
)

// brokenRows is how many messages brokenStore makes.
const brokenRows = filledRows + 2

// brokenStore makes a database of a session with messages, one of them in the log alone,
// whose file is damaged where no message is.
func brokenStore(t *testing.T) (o Options, data, log []byte) {
	t.Helper()
	o = filled(t)
	root := rootOf(t, o, "blob_refs_hash")
	d := must(Open(t.Context(), o))(t)
	// It is put in its place in more than one piece.
	write(t, d, func(x *Tx) error {
		_, err := x.AppendMessage(Message{Session: "s", Body: fmt.Sprintf(`{"role":"user","text":"%s"}`, strings.Repeat("z", 1<<20))})
		return err
	})
	shut(t, d)
	d = must(Open(t.Context(), o))(t)
	write(t, d, func(x *Tx) error {
		_, err := x.AppendMessage(Message{Session: "s", Body: `{"role":"user","text":"in the log"}`})
		return err
	})
	// The first page is in the log too, as it is wherever pages were added.
	if err := d.writer.pragma(`PRAGMA user_version = 0`); err != nil {
		t.Fatal(err)
	}
	log = must(os.ReadFile(o.Path + "-wal"))(t)
	shut(t, d)
	spoil(t, o, root, 200)
	if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	return o, must(os.ReadFile(o.Path))(t), log
}

// A repair that is killed behind any of its steps leaves what there was, whole, and a
// database that is as it was, or is repaired, or refuses and names what lies there;
// the next repair ends it and takes away what the first left.
func TestRepairIsKilled(t *testing.T) {
	if at := os.Getenv("ALISIO_DB_KILLED_AT"); at != "" {
		left := must(strconv.Atoi(at))(t)
		o := Options{Path: os.Getenv("ALISIO_DB_PATH"), Home: filepath.Dir(os.Getenv("ALISIO_DB_PATH"))}
		_, err := repairBy(t.Context(), o, repairTime, func(name string) {
			if left--; left < 0 {
				fmt.Println("killed behind", name)
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	first, data, log := brokenStore(t)
	wantMessages := brokenRows
	seen := map[string]bool{}
	for step := 0; ; step += damageStride {
		o := Options{Home: t.TempDir()}
		o.Path = filepath.Join(o.Home, filepath.Base(first.Path))
		if err := errors.Join(os.WriteFile(o.Path, data, 0o600), os.WriteFile(o.Path+"-wal", log, 0o600)); err != nil {
			t.Fatal(err)
		}
		c := startChild(t, "ALISIO_DB_KILLED_AT="+fmt.Sprint(step), "ALISIO_DB_PATH="+o.Path)
		out := must(c.StdoutPipe())(t)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		killed := c.Wait() != nil
		if !killed {
			break
		}
		seen[strings.TrimSpace(strings.TrimPrefix(line, "killed behind "))] = true
		where := fmt.Sprintf("step %d, %s", step, line)

		aside := asideOf(t, o)
		if aside != "" && (!bytes.Equal(must(os.ReadFile(aside))(t), data) || !bytes.Equal(must(os.ReadFile(aside+"-wal"))(t), log)) {
			t.Errorf("%s: what was set aside is not what there was", where)
		}
		now := must(os.ReadFile(o.Path))(t)
		nowLog, _ := os.ReadFile(o.Path + "-wal")
		switch {
		case bytes.Equal(now, data) && bytes.Equal(nowLog, log):
		case swap.Marked(now):
			if aside == "" {
				t.Fatalf("%s: the database is written over, and nothing is set aside", where)
			}
			for _, readOnly := range []bool{false, true} {
				look := o
				look.ReadOnly = readOnly
				_, err := Open(t.Context(), look)
				var damaged *DamagedError
				if !errors.As(err, &damaged) || !strings.Contains(err.Error(), aside) {
					t.Errorf("%s: opened, to look %v: %v", where, readOnly, err)
				}
			}
			log, _ := os.ReadFile(o.Path + "-wal")
			if !bytes.Equal(now, must(os.ReadFile(o.Path))(t)) || !bytes.Equal(nowLog, log) {
				t.Errorf("%s: opening changed a file", where)
			}
		default:
			if got := len(everyMessage(t, o, "s")); got != wantMessages {
				t.Errorf("%s: %d messages of %d", where, got, wantMessages)
			}
		}
		if len(swap.Left(o.Path)) > 0 {
			r := must(Check(t.Context(), o))(t)
			for _, name := range swap.Left(o.Path) {
				if !strings.Contains(says(r, Note), name) {
					t.Errorf("%s: the check does not name %s", where, name)
				}
			}
		}

		if _, err := Repair(t.Context(), o, repairTime.Add(time.Second)); err != nil {
			t.Fatalf("%s: the next repair: %v", where, err)
		}
		if got := len(everyMessage(t, o, "s")); got != wantMessages {
			t.Errorf("%s: %d messages of %d after the next repair", where, got, wantMessages)
		}
		if sound, err := isSound(t.Context(), o.Path, o.Path); !sound || err != nil {
			t.Errorf("%s: not sound: %v", where, err)
		}
		if left := swap.Left(o.Path); len(left) > 0 {
			t.Errorf("%s: the next repair leaves %v", where, left)
		}
		if swap.Kept(o.Path) == nil {
			t.Errorf("%s: nothing is set aside", where)
		}
	}
	for _, name := range []string{"settled", "copied", "copied-wal", "renamed", "renamed-wal", "marked", "without-wal", "piece", "written"} {
		if damageStride == 1 && !seen[name] {
			t.Errorf("no process was killed behind %q: %v", name, seen)
		}
	}
}

// A process that came upon the file before it was marked may go on in the log's first
// page behind the kill: what it stores there is in the next repair.
func TestWrittenBehindAKilledRepair(t *testing.T) {
	t.Parallel()
	o, _, _ := brokenStore(t)
	func() {
		defer func() { recover() }()
		_, _ = repairBy(t.Context(), o, repairTime, func(name string) {
			if name == "marked" {
				panic("killed")
			}
		})
	}()
	head := must(os.ReadFile(o.Path))(t)
	if !swap.Marked(head) {
		t.Fatal("there is no mark")
	}
	pool, conn, err := openRaw(t.Context(), writable(o.Path, commonPragmas+"&_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO messages (session, body) VALUES ('s', '{"role":"user","text":"since"}')`); err != nil {
		t.Fatal(err)
	}
	log := must(os.ReadFile(o.Path + "-wal"))(t)
	if err := errors.Join(conn.Close(), pool.Close(), os.WriteFile(o.Path, head, 0o600), os.WriteFile(o.Path+"-wal", log, 0o600)); err != nil {
		t.Fatal(err)
	}
	must(Repair(t.Context(), o, repairTime.Add(time.Second)))(t)
	got := everyMessage(t, o, "s")
	if len(got) != brokenRows+1 || !strings.Contains(got[len(got)-1], "since") {
		t.Errorf("%d messages, the last is %q", len(got), got[len(got)-1])
	}
}

// Another process that waits while the database is repaired, with the file open, goes
// on in the one that takes its place.
func TestOpenedWhileRepaired(t *testing.T) {
	if path := os.Getenv("ALISIO_DB_WAITS"); path != "" {
		d := must(Open(t.Context(), Options{Path: path, Home: filepath.Dir(path)}))(t)
		create1(t, d, "waited", `{"role":"user","text":"waited"}`)
		shut(t, d)
		return
	}
	first, data, log := brokenStore(t)
	for i, moment := range []string{"settled", "renamed", "marked", "piece", "written"} {
		if i%damageStride != 0 {
			continue
		}
		o := Options{Home: t.TempDir()}
		o.Path = filepath.Join(o.Home, filepath.Base(first.Path))
		if err := errors.Join(os.WriteFile(o.Path, data, 0o600), os.WriteFile(o.Path+"-wal", log, 0o600)); err != nil {
			t.Fatal(err)
		}
		c := startChild(t, "ALISIO_DB_WAITS="+o.Path)
		started := false
		_, err := repairBy(t.Context(), o, repairTime, func(name string) {
			if name != moment || started {
				return
			}
			started = true
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			// It has the file open, and waits, before this goes on.
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for deadline := time.Now().Add(20 * time.Second); !hasOpen(c.Process.Pid, o.Path); <-tick.C {
				if time.Now().After(deadline) {
					t.Fatalf("%s: the other process does not open the database", moment)
				}
			}
		})
		if err != nil || !started {
			t.Fatalf("%s: %v, started %v", moment, err, started)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s: the other process: %v", moment, err)
		}
		if got := everyMessage(t, o, "waited"); len(got) != 1 {
			t.Errorf("%s: the other process stored %v", moment, got)
		}
		if got := len(everyMessage(t, o, "s")); got != brokenRows {
			t.Errorf("%s: %d messages are left", moment, got)
		}
		if sound, err := isSound(t.Context(), o.Path, o.Path); !sound || err != nil {
			t.Errorf("%s: not sound: %v", moment, err)
		}
		aside := asideOf(t, o)
		if !bytes.Equal(must(os.ReadFile(aside))(t), data) || !bytes.Equal(must(os.ReadFile(aside+"-wal"))(t), log) {
			t.Errorf("%s: what was set aside is not what there was", moment)
		}
	}
}

// hasOpen reports whether a process has a file open.
func hasOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && to == path {
			return true
		}
	}
	return false
}
