package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// coded stands for SQLite's errors, which can not be made by hand.
type coded int

func (c coded) Error() string { return fmt.Sprintf("code %d", int(c)) }
func (c coded) Code() int     { return int(c) }

func TestWhatIsRetried(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want time.Duration
	}{
		{nil, 0},
		{errors.New("x"), 0},
		{coded(sqlite3.SQLITE_BUSY), 60 * time.Second},
		{fmt.Errorf("wrapped: %w", coded(sqlite3.SQLITE_BUSY)), 60 * time.Second},
		{coded(sqlite3.SQLITE_BUSY_RECOVERY), 60 * time.Second},
		{coded(sqlite3.SQLITE_BUSY_SNAPSHOT), 60 * time.Second},
		{coded(sqlite3.SQLITE_BUSY_TIMEOUT), 60 * time.Second},
		{coded(sqlite3.SQLITE_LOCKED), 60 * time.Second},
		{coded(sqlite3.SQLITE_PROTOCOL), 60 * time.Second},
		{coded(sqlite3.SQLITE_CANTOPEN), 3 * time.Second},
		{coded(sqlite3.SQLITE_IOERR_SHMLOCK), 3 * time.Second},
		{coded(sqlite3.SQLITE_IOERR_WRITE), 0},
		{coded(sqlite3.SQLITE_FULL), 0},
		{coded(sqlite3.SQLITE_CORRUPT), 0},
		{coded(sqlite3.SQLITE_CONSTRAINT_UNIQUE), 0},
	} {
		if got := patience(tt.err); got != tt.want {
			t.Errorf("patience(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestRetryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		tries := 0
		err := Retry(t.Context(), func() error { tries++; return coded(sqlite3.SQLITE_BUSY) })
		took := time.Since(begun)
		if err != coded(sqlite3.SQLITE_BUSY) || took < time.Minute || took > time.Minute+2*longestPause {
			t.Errorf("%v after %v", err, took)
		}
		if tries < 300 || tries > 1500 {
			t.Errorf("%d tries in a minute", tries)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := Retry(ctx, func() error { return coded(sqlite3.SQLITE_BUSY) })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		left := 50
		err := Retry(t.Context(), func() error {
			if left--; left == 0 {
				return nil
			}
			return coded(sqlite3.SQLITE_BUSY_RECOVERY)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// child runs a function of this test binary in a process of its own.
func child(t *testing.T, test string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(must(os.Executable())(t), "-test.run=^"+test+"$", "-test.timeout=30s")
	c.Env = append(os.Environ(), "DB_TEST_CHILD="+test, "DB_TEST_PATH="+args[0])
	return c
}

func childPath(test string) (string, bool) {
	return os.Getenv("DB_TEST_PATH"), os.Getenv("DB_TEST_CHILD") == test
}

// Many processes begin on a path where nothing is, at the same moment: none sees
// an error of a lock (spec store.md).
func TestManyProcessesOnANewPath(t *testing.T) {
	if path, ok := childPath("TestManyProcessesOnANewPath"); ok {
		// The parent closes the pipe when all are there.
		if _, err := io.ReadAll(os.Stdin); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), Options{Path: path, Home: filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		create1(t, d, fmt.Sprint(os.Getpid()), "1", "2")
		for range 5 {
			write(t, d, func(x *Tx) error {
				_, err := x.AppendMessage(Message{Session: fmt.Sprint(os.Getpid()), Body: "3"})
				return err
			})
		}
		shut(t, d)
		return
	}
	const processes = 40
	path := filepath.Join(t.TempDir(), "new", "sessions.sqlite")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range processes {
		c := child(t, "TestManyProcessesOnANewPath", path)
		c.Stdin = r
		out := &tail{}
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := c.Wait(); err != nil {
				t.Errorf("%v: %s", err, out.data)
			}
		})
	}
	r.Close()
	w.Close()
	wg.Wait()
	pool := raw(t, path)
	if got := strs(t, pool, `SELECT (SELECT count(*) FROM sessions)||' '||(SELECT count(*) FROM messages)`); got[0] != fmt.Sprint(processes, " ", processes*7) {
		t.Errorf("sessions and messages: %s", got[0])
	}
	if got := strs(t, pool, `PRAGMA integrity_check`); got[0] != "ok" {
		t.Errorf("integrity_check: %s", got)
	}
}

type tail struct{ data []byte }

func (o *tail) Write(p []byte) (int, error) {
	o.data = append(o.data, p...)
	return len(p), nil
}

// pauses is a context that tells when it was waited upon for the left-th time:
// once for the turn to write, and once for each pause between two tries.
type pauses struct {
	context.Context
	left    atomic.Int32
	reached chan struct{}
}

// afterTries is reached when a write was refused that often, and waits still.
func afterTries(ctx context.Context, n int32) *pauses {
	p := &pauses{Context: ctx, reached: make(chan struct{})}
	p.left.Store(1 + n)
	return p
}

func (p *pauses) Done() <-chan struct{} {
	if p.left.Add(-1) == 0 {
		close(p.reached)
	}
	return p.Context.Done()
}

// A lock error in the middle of a turn kills the prompt although a retry would
// work. Trigger: another process holds BEGIN IMMEDIATE for longer than SQLite's
// own timeout.
func TestC109HeldByAnotherProcess(t *testing.T) {
	if path, ok := childPath("TestC109HeldByAnotherProcess"); ok {
		pool := raw(t, path)
		pool.SetMaxOpenConns(1)
		run(t, pool, `BEGIN IMMEDIATE`)
		fmt.Println("held")
		if _, err := io.ReadAll(os.Stdin); err != nil {
			t.Fatal(err)
		}
		run(t, pool, `COMMIT`)
		return
	}
	d := open(t, t.TempDir())
	create1(t, d, "s")
	c := child(t, "TestC109HeldByAnotherProcess", d.path)
	in := must(c.StdinPipe())(t)
	out := must(c.StdoutPipe())(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	if _, err := io.ReadFull(out, make([]byte, len("held"))); err != nil {
		t.Fatal(err)
	}
	// A write that may not wait hears its context.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits := afterTries(ctx, 1)
	go func() {
		<-waits.reached
		cancel()
	}()
	if err := d.Write(waits, Normal, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// Reads go on.
	must(d.Session(t.Context(), "s"))(t)
	must(d.MessagesPage(t.Context(), "s", 0, 1))(t)
	done := make(chan error, 1)
	begun := time.Now()
	waits = afterTries(context.Background(), 3)
	go func() {
		done <- d.Write(waits, Normal, func(x *Tx) error { return x.RenameSession("s", "waited") })
	}()
	select {
	case err := <-done:
		t.Fatalf("the write did not wait: %v", err)
	case <-waits.reached:
	}
	// While one waits, another's look is not held up.
	if s := must(d.Session(t.Context(), "s"))(t); s.Title != "" {
		t.Errorf("title %q before the write", s.Title)
	}
	in.Close()
	if err := <-done; err != nil {
		t.Fatalf("after %v: %v", time.Since(begun), err)
	}
	if s := must(d.Session(t.Context(), "s"))(t); s.Title != "waited" {
		t.Errorf("title %q", s.Title)
	}
}

// Where there is no write-ahead log a reader stands in the way of the commit.
func TestReaderBeforeACommitWithoutLog(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	if err := d.setJournal(t.Context(), "delete"); err != nil {
		t.Fatal(err)
	}
	if now := strs(t, d.writer.conn, `PRAGMA journal_mode`); now[0] != "delete" {
		t.Fatalf("the journal is %s", now)
	}
	pool := raw(t, d.path)
	rows := must(pool.Query(`SELECT id FROM sessions`))(t)
	if !rows.Next() {
		t.Fatal("no session")
	}
	calls := 0
	done := make(chan error, 1)
	waits := afterTries(context.Background(), 3)
	go func() {
		done <- d.Write(waits, Normal, func(x *Tx) error {
			calls++
			return x.RenameSession("s", "waited")
		})
	}()
	select {
	case err := <-done:
		t.Fatalf("the write did not wait: %v", err)
	case <-waits.reached:
	}
	rows.Close()
	if err := <-done; err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
