package session

import (
	"alisio/agent/session/archive"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// head is the first line of an export with these fields beside its id, "evil".
func evilHead(fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return `{"type":"session","schemaVersion":1,"id":"evil"` + fields + "}\n"
}

// An export that has a request id of a workspace must not answer that request, nor
// give it another prompt. Trigger: a run of any state in an export
// that names the person's workspace.
func TestAnImportTakesNoRequestOver(t *testing.T) {
	ctx := context.Background()
	for _, status := range []RunStatus{RunQueued, RunRunning, RunCompleted, RunTurnsExceeded, RunFailed, RunCancelled, RunInterrupted} {
		s := openAt(t, t.TempDir(), nil)
		for _, options := range []string{"", `,"options":"{\"imported\":null}"`, `,"options":"{\"readOnly\":true}"`} {
			_, err := s.Import(ctx, strings.NewReader(whole(evilHead(`"workspace":"/w"`+options)+`{"type":"run","id":"evil-run","status":"`+string(status)+`","requestId":"q"}`)))
			must(t, err)
			if r, err := s.RunByRequest(ctx, RequestKey{Workspace: "/w", RequestID: "q"}); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s, %s: the workspace's request is answered by %+v, %v", status, options, r, err)
			}
			r, err := s.RunByRequest(ctx, RequestKey{Session: "evil", RequestID: "q"})
			if err != nil || r.ID != "evil-run" || !r.Status.Ended() {
				t.Errorf("%s: in the session itself: got %+v, %v", status, r, err)
			}
			_, err = s.Delete(ctx, "evil")
			must(t, err)
		}
		_, err := s.Import(ctx, strings.NewReader(whole(evilHead(`"workspace":"/w"`)+`{"type":"run","id":"evil-run","status":"`+string(status)+`","requestId":"q"}`)))
		must(t, err)
		got, _, err := s.BeginRun(ctx, Begin{Run: Run{ID: "mine", RequestID: "q"}, Fresh: &Session{ID: "own", Workspace: "/w"}})
		if err != nil || got.ID != "mine" {
			t.Errorf("%s: the person's own run is %+v, %v", status, got, err)
		}
		if r, err := s.RunByRequest(ctx, RequestKey{Workspace: "/w", RequestID: "q"}); err != nil || r.ID != "mine" {
			t.Errorf("%s: asked again: got %+v, %v", status, r, err)
		}
	}
}

// A session that was imported works nowhere before a person says where, then there,
// whatever its export said.
func TestAnImportIsAdopted(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	for _, options := range []string{"", "{}", `{\"adopted\":1}`, `{\"a\":1}`} {
		_, err := s.Import(ctx, strings.NewReader(whole(evilHead(`"workspace":"/evil","options":"`+options+`"`))))
		must(t, err)
		before := exported(t, s, "evil")
		if ok, err := s.Adopted(ctx, "evil"); err != nil || ok {
			t.Errorf("%s: adopted at once: %v, %v", options, ok, err)
		}
		for _, tt := range []struct {
			workspace string
			want      bool
		}{{"/mine", true}, {"/other", false}} { // said once
			if done, err := s.Adopt(ctx, "evil", tt.workspace); err != nil || done != tt.want {
				t.Errorf("%s: adopt for %s: got %v, %v", options, tt.workspace, done, err)
			}
		}
		if ok, err := s.Adopted(ctx, "evil"); err != nil || !ok {
			t.Errorf("%s: not adopted: %v, %v", options, ok, err)
		}
		if head, _ := s.Session(ctx, "evil"); head.Workspace != "/mine" {
			t.Errorf("got workspace %s", head.Workspace)
		}
		if got, want := string(exported(t, s, "evil")), strings.Replace(string(before), "/evil", "/mine", 1); got != want {
			t.Errorf("%s: exported got\n%s\nwant\n%s", options, got, want)
		}
		_, err = s.Delete(ctx, "evil")
		must(t, err)
	}
	must(t, s.Create(ctx, Session{ID: "own", Workspace: "/w"}))
	if done, err := s.Adopt(ctx, "own", "/other"); done || err != nil {
		t.Errorf("adopt one's own: got %v, %v", done, err)
	}
	if head, err := s.Session(ctx, "own"); err != nil || head.Workspace != "/w" {
		t.Errorf("a session of one's own moved to %s, %v", head.Workspace, err)
	}
	if ok, err := s.Adopted(ctx, "own"); err != nil || !ok {
		t.Errorf("a session of one's own: got %v, %v", ok, err)
	}
	if _, err := s.Adopted(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no session: got %v", err)
	}
}

// Symptom: the short id that a hint had named led to another session. Trigger: an
// import whose id is the beginning of an existing one, or that begins with one.
func TestAnImportTakesNoShortIDOver(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	const own = "e69f3989-f1e3-4111-8111-111111111111"
	must(t, s.Create(ctx, Session{ID: own}))
	must(t, s.Create(ctx, Session{ID: "Old"}))
	for id, other := range map[string]string{
		"e69f3989": own, "e": own, own + "-2": own, own[:len(own)-1]: own, "E69F": own, strings.ToUpper(own): own,
		"Old.2": "Old", "O": "Old", "e69f3989-f1e4": "", "e69f3989-f1e3-5": "", "old": "", "f": "", "69f": "",
	} {
		_, err := s.Import(ctx, strings.NewReader(whole(`{"type":"session","schemaVersion":1,"id":"`+id+`"}`)))
		var alike *archive.AlikeError
		switch {
		case other == "" && err == nil:
			_, err = s.Delete(ctx, id)
			must(t, err)
		case other == "", !errors.As(err, &alike), *alike != (archive.AlikeError{ID: id, Session: other}):
			t.Errorf("%s: got %v, want it to be alike %q", id, err, other)
		}
		if _, err := s.Session(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A session of the same or a like id that is made while the export is read is not
// overlooked.
func TestAnImportIsComparedWhenItIsStored(t *testing.T) {
	ctx := context.Background()
	for made, want := range map[string]string{"evil": "session evil exists already", "evil-1": "can be taken for that of session evil-1"} {
		s := openAt(t, t.TempDir(), nil)
		r, w := io.Pipe()
		go func() {
			io.WriteString(w, evilHead(""))
			io.WriteString(w, `{"type":"event","event":"x"}`+"\n") // the head has been checked
			if err := s.Create(ctx, Session{ID: made}); err != nil {
				t.Error(err)
			}
			io.WriteString(w, `{"type":"end","lines":2}`+"\n")
			w.Close()
		}()
		if _, err := s.Import(ctx, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", made, err, want)
		}
	}
}

// Symptom: --last went on in a session that nobody had named. Trigger: imports that
// name the person's workspace, newer than all of his own, and more than a page of
// them.
func TestAnImportIsNotTheLastSession(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	last := func(want string) {
		t.Helper()
		got, err := s.Last(ctx, "/w")
		if got.ID != want || (want == "") != errors.Is(err, ErrNotFound) {
			t.Errorf("last: got %q, %v, want %q", got.ID, err, want)
		}
	}
	for n := range 2*lastPage + 1 {
		head := fmt.Sprintf(`{"type":"session","schemaVersion":1,"id":"%c","workspace":"/w","updatedAt":99999999999999}`, 'a'+n)
		_, err := s.Import(ctx, strings.NewReader(whole(head)))
		must(t, err)
		if n == lastPage-1 || n == lastPage || n == 2*lastPage {
			last("")
		}
	}
	must(t, s.Create(ctx, Session{ID: "own", Workspace: "/w", Updated: time.UnixMilli(1)}))
	last("own")
	_, err := s.Adopt(ctx, "d", "/other")
	must(t, err)
	last("own")
	_, err = s.Adopt(ctx, "e", "/w")
	must(t, err)
	last("e")
}

// Symptom: an import was the last session for ever, and --json printed times that are
// none. Trigger: times in the future or before 1970, in any line.
func TestTimesOfAnImportAreClamped(t *testing.T) {
	ctx := context.Background()
	begun := time.Now().Truncate(time.Millisecond)
	for _, ms := range []int64{1 << 62, -1 << 62, time.Now().Add(1000 * time.Hour).UnixMilli(), -1, 0, 1234} {
		s := openAt(t, t.TempDir(), nil)
		at := func(fields ...string) string {
			return `"` + strings.Join(fields, `":`+strconv.FormatInt(ms, 10)+`,"`) + `":` + strconv.FormatInt(ms, 10)
		}
		_, err := s.Import(ctx, strings.NewReader(whole(evilHead(at("createdAt", "updatedAt", "archivedAt"))+
			`{"type":"run","id":"r","status":"failed",`+at("createdAt", "startedAt", "endedAt")+"}\n"+
			`{"type":"call","id":"c","status":"pending",`+at("startedAt")+"}\n"+
			`{"type":"call","id":"d","status":"completed","result":{},`+at("startedAt", "endedAt")+"}\n"+
			`{"type":"event","event":"x",`+at("createdAt")+`}`)))
		must(t, err)
		head, err := s.Session(ctx, "evil")
		must(t, err)
		runs, err := s.Runs(ctx, "evil", 1)
		must(t, err)
		calls, err := s.Calls(ctx, "evil", "c", "d")
		must(t, err)
		events, err := s.EventsPage(ctx, "evil", 0, 1)
		must(t, err)
		if len(runs) != 1 || len(calls) != 2 || len(events) != 1 {
			t.Fatalf("got %d runs, %d calls, %d events", len(runs), len(calls), len(events))
		}
		times := []time.Time{head.Created, head.Updated, head.Archived, runs[0].Created, runs[0].Started, runs[0].Ended, events[0].Time}
		for _, c := range calls {
			if times = append(times, c.Started); c.Done {
				times = append(times, c.Ended)
			}
		}
		for i, got := range times {
			now := !got.Before(begun) && !got.After(time.Now())
			if ms <= 0 && !got.IsZero() || ms == 1234 && got.UnixMilli() != ms || ms > 1234 && !now {
				t.Errorf("%d: time %d: got %v", ms, i, got)
			}
		}
	}
}

// What waits to be stored lies beside the database, not where others look, and
// nothing of it stays. Trigger: an import that fails half-way.
func TestAnImportWaitsBesideTheDatabase(t *testing.T) {
	home := t.TempDir()
	s := openAt(t, home, nil)
	t.Setenv("TMPDIR", filepath.Join(home, "none"))
	pieces := []string{evilHead(""), strings.Repeat(`{"type":"event","event":"`+strings.Repeat("x", 1000)+"\"}\n", 200), "broken\n"}
	r, w := io.Pipe()
	go func() {
		for _, p := range pieces {
			io.WriteString(w, p)
		}
		w.Close()
	}()
	if _, err := s.Import(context.Background(), r); err == nil || !strings.Contains(err.Error(), "line 202: ") {
		t.Errorf("got %v", err)
	}
	must(t, filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if strings.Contains(e.Name(), "import") {
			t.Errorf("left behind: %s", path)
		}
		return err
	}))
}

func TestAnImportIsOfBoundedRows(t *testing.T) {
	s := openAt(t, t.TempDir(), nil)
	_, err := s.Import(context.Background(), io.MultiReader(strings.NewReader(evilHead("")), &repeated{line: "{\"type\":\"event\",\"event\":\"x\"}\n"}))
	if want := "line 400001: an import has at most 400000 rows"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// repeated is a reader of one line again and again.
type repeated struct {
	line, rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		r.rest = strings.Repeat(r.line, 1000)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
