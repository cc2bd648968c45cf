package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/llm"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

func TestErrorsGetTheHintOfTheirKind(t *testing.T) {
	c, err := parse(env("sessions", "list", "--db", "my db"))
	if err != nil {
		t.Fatal(err)
	}
	fix, err := parse(env("doctor", "--store", "--fix"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := fmt.Errorf("list sessions: %w", &agent.DamagedError{Path: "x", Err: errors.New("bad page")})
	busy := fmt.Errorf("delete session 1: %w", &agent.BusyError{Session: "1", PID: 42})
	diary := &agent.DamagedError{Path: "x", Text: true, Err: errors.New("x")}
	doubtful := fmt.Errorf("lock session 1: %w", &agent.BusyError{Session: "1", PID: 42, Doubtful: true})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "error: plain\n"},
		{diary, "error: " + diary.Error() + "\nhint:  it never was a database: move it away\n"},
		{&agent.ForeignError{Path: "x"}, "error: \"x\" is the database of another program:\nhint:  name another with ALISIO_STATE_HOME or --db\n"},
		{damaged, "error: " + damaged.Error() + "\nhint:  to set it aside and recover what can be read: alisio doctor --store --fix --db 'my db'\n"},
		{busy, "error: " + busy.Error() + "\nhint:  one run of a session at a time: wait for it, or stop that process\n"},
		{doubtful, "error: lock session 1: session 1 may be in use by process 42: an older program noted no more than this number\n" +
			"hint:  if that process is no Alisio: alisio sessions recover 1 --db 'my db' --acknowledge\n"},
		{llm.Errorf(llm.CauseStore, "%w", busy).WithHint("its own"), "error: " + busy.Error() + "\nhint:  its own\n"},
	} {
		var b bytes.Buffer
		got := c.advised(tt.err)
		if plain.Failure(&b, got); b.String() != tt.want {
			t.Errorf("got %q, want %q", b.String(), tt.want)
		}
		if !errors.Is(got, tt.err) && !errors.Is(got, errors.Unwrap(tt.err)) {
			t.Errorf("%v: the error is lost", tt.err)
		}
	}
	var b bytes.Buffer
	if plain.Failure(&b, fix.advised(damaged)); strings.Contains(b.String(), "--fix") || !strings.Contains(b.String(), "move it away") {
		t.Errorf("what a repair failed at is sent to the repair: %q", b.String())
	}
}

func TestFileErrorsArePlain(t *testing.T) {
	_, none := os.Open(filepath.Join(t.TempDir(), "none"))
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		want string
	}{
		{none, "a.txt is not there"}, {os.ErrPermission, "a.txt can not be opened: permission denied"}, {other, "other"},
	} {
		if got := base.FileError("a.txt", c.err); got.Error() != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}

func TestWordsThatLookLikeIDs(t *testing.T) {
	for word, want := range map[string]bool{
		"1a2b": true, "DEAD": true, "1a2b3c4d-1": true, "1a2": false, "": false, "fix": false, "readme": false, "dead ": false,
	} {
		if got := hexadecimal(word); got != want {
			t.Errorf("%q: got %v", word, got)
		}
	}
}
