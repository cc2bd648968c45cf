package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const binaryEnv = "ALISIO_FAULTS_BINARY"

// TestMain builds the program once for all tests.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "alisio-faults-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // one test is another user
	}
	if err == nil {
		var bin string
		if bin, err = build(context.Background(), dir); err == nil {
			err = os.Setenv(binaryEnv, bin)
		}
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// home is a world of its own with a model that answers at once.
func home(t *testing.T) *world {
	t.Helper()
	m, err := newModel(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	w, err := newWorld(os.Getenv(binaryEnv), t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// C109, C115, C116 and C117 in a short form. Symptoms: a lock error in the
// middle of a turn kills the prompt; two processes append to one session and one
// branch vanishes; a dead owner locks people out; readers see half a
// configuration. Triggers: BEGIN IMMEDIATE held from outside; two resumes at the
// same time; an owner killed with -9; 20 runs beside a loop that reads.
func TestC109C115C116C117Crowds(t *testing.T) {
	var out bytes.Buffer
	if err := crowds(context.Background(), os.Getenv(binaryEnv), t.TempDir(), 20, 3, time.Second, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}

// A program that does nothing must not pass: the first violation ends the
// campaign, with what is needed to look at it.
func TestAViolationIsToldAndKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"does nothing": {[]string{"-n", "1", "-seed", "5", "-binary", "true"}, 1, "the answer is not printed once"},
		"fails":        {[]string{"-n", "1", "-binary", "false"}, 1, "exit 1"},
		"crowd":        {[]string{"-crowd", "2", "-binary", "true"}, 1, "0 sessions are listed"},
		"unknown flag": {[]string{"-x"}, 2, "flag provided"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), c.args, &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%s: exit %d, %s", name, code, stderr.String())
		}
		if code != 1 {
			continue
		}
		_, dir, _ := strings.Cut(strings.TrimSpace(stderr.String()), "kept in ")
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: the directory is not kept: %v", name, err)
		}
	}
}

func messages(t *testing.T, lines ...string) conversation {
	t.Helper()
	c, err := conversationOf(strings.Join(lines, "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	userLine   = `{"kind":"message","seq":1,"body":{"role":"user","text":"x"}}`
	callsLine  = `{"kind":"message","seq":2,"body":{"role":"assistant","text":"","calls":[{"id":"a","name":"n"},{"id":"b","name":"n"}]}}`
	resultLine = `{"kind":"message","seq":3,"body":{"role":"tool","callId":"%s","result":{"content":[{"type":"text","text":"r"}]}}}`
	eventLine  = `{"kind":"event","runId":"%s","sessionId":"s","seq":%d,"type":"%s","timestamp":"t","data":{"a":1},"eventId":"%d"}`
)

func result(id string) string { return fmt.Sprintf(resultLine, id) }

func eventOf(run string, seq int, kind string, id int) string {
	return fmt.Sprintf(eventLine, run, seq, kind, id)
}

func TestPairs(t *testing.T) {
	for name, c := range map[string]struct {
		lines    []string
		mayOpen  bool
		complain string
	}{
		"whole":            {[]string{userLine, callsLine, result("a"), result("b"), userLine}, false, ""},
		"open":             {[]string{userLine, callsLine, result("a")}, false, `["b"] have no result`},
		"open, killed":     {[]string{userLine, callsLine, result("a")}, true, ""},
		"open in between":  {[]string{callsLine, result("a"), userLine}, true, `of user where ["b"]`},
		"wrong order":      {[]string{callsLine, result("b"), result("a")}, true, `answers b`},
		"twice":            {[]string{callsLine, result("a"), result("b"), result("b")}, true, `answers b`},
		"without its call": {[]string{userLine, result("a")}, true, `answers a`},
	} {
		got := fmt.Sprint(messages(t, c.lines...).pairs(c.mayOpen))
		if c.complain == "" && got != "<nil>" || !strings.Contains(got, c.complain) {
			t.Errorf("%s: got %s, want %q", name, got, c.complain)
		}
	}
}

func TestNumberedAndHolds(t *testing.T) {
	first, second := eventOf("r", 1, "run_started", 4), eventOf("r", 3, "run_completed", 7)
	for name, c := range map[string]struct {
		lines    []string
		complain string
	}{
		"whole":             {[]string{first, second}, ""},
		"seq twice":         {[]string{first, eventOf("r", 1, "x", 5)}, "seq 1 after 1"},
		"id twice":          {[]string{first, eventOf("r", 2, "x", 4)}, "event 4 comes after 4"},
		"begins in between": {[]string{eventOf("r", 2, "x", 4)}, "seq 2 after 0"},
	} {
		got := fmt.Sprint(messages(t, c.lines...).numbered())
		if c.complain == "" && got != "<nil>" || !strings.Contains(got, c.complain) {
			t.Errorf("%s: got %s, want %q", name, got, c.complain)
		}
	}
	stored := messages(t, first, second)
	delta := `{"runId":"r","seq":2,"type":"text_delta","data":{"delta":"x"}}`
	if err := stored.holds(first + "\n" + delta + "\n" + second + "\n" + first[:20]); err != nil {
		t.Error(err)
	}
	for name, lines := range map[string]string{
		"lost":    eventOf("r", 4, "x", 8) + "\n",
		"changed": strings.Replace(first, `"a":1`, `"a":2`, 1) + "\n",
		"no JSON": "oh\n",
	} {
		if stored.holds(lines) == nil {
			t.Errorf("%s: nobody complains", name)
		}
	}
}

func TestTheHistoryDecidesTheAnswer(t *testing.T) {
	w := home(t)
	for range 2 { // a second session must not be answered as the first went on
		e, err := w.must(context.Background(), w.task(prompt("here", "one"))...)
		if err != nil || e.stdout != "One call.\n"+finished("here")+"\n" && !strings.Contains(e.stdout, finished("here")) {
			t.Errorf("got %v, %v", e, err)
		}
	}
	if got, want := w.model.asked("here"), 4; got != want {
		t.Errorf("the server was asked %d times, want %d", got, want)
	}
	data, err := os.ReadFile(filepath.Join(w.work(), "count"))
	if want := "here-a\nhere-a\n"; err != nil || string(data) != want {
		t.Errorf("the count file holds %q, %v", data, err)
	}
}
