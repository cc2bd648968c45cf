package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/text"
	"alisio/db"
	"alisio/tui/cli/base"
)

// Symptom: a session could not be used for as long as any process had a number.
// Trigger: a row of version 1 or 2 with the pid of a process that is no Alisio.
func TestRecoverFreesASessionFromADoubtfulPID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	d, err := db.Open(t.Context(), db.Options{Path: path, Home: path + ".files"})
	if err != nil {
		t.Fatal(err)
	}
	pid := os.Getppid() // runs, and is not this process
	if err := d.Write(t.Context(), db.Normal, func(tx *db.Tx) error {
		return tx.CreateSession(db.Session{ID: "1a2b3c4d", LockedPID: pid})
	}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	try := func(words ...string) (int, string) {
		e := env(append([]string{"sessions", "recover", "1a2b", "--db", path}, words...)...)
		code := Main(t.Context(), e)
		return code, e.Stderr.(*bytes.Buffer).String()
	}
	code, got := try()
	want := fmt.Sprintf("may be in use by process %d: an older program noted no more than this number\n"+
		"hint:  if that process is no Alisio: alisio sessions recover 1a2b3c4d --db %s --acknowledge\n", pid, text.ShellWord(path))
	if code != base.ExitFailed || !strings.HasSuffix(got, want) {
		t.Errorf("exit code %d, %q; want %q", code, got, want)
	}
	code, got = try("--acknowledge")
	if want := fmt.Sprintf("process %d no longer counts as working in session 1a2b3c4d\n", pid); code != base.ExitDone || !strings.Contains(got, want) {
		t.Errorf("exit code %d, %q; want %q", code, got, want)
	}
	if code, got := try(); code != base.ExitDone || strings.Contains(got, "process") {
		t.Errorf("after that: exit code %d, %q", code, got)
	}
}
