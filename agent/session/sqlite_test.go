package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/db"
	"alisio/db/lock"
	"alisio/llm"
	"alisio/plug"
)

// openAt opens the store of a directory; what it notices goes to notes, if set.
func openAt(t testing.TB, dir string, notes func(string)) *SQLite {
	t.Helper()
	s, err := OpenSQLite(context.Background(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir, Notice: notes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestSQLite(t *testing.T) {
	suite(t, func(t *testing.T) Store { return openAt(t, t.TempDir(), nil) })
}

func begin(run, session, request string, messages ...llm.Message) Begin {
	return Begin{Run: Run{ID: run, Session: session, RequestID: request, Model: "m", Created: time.UnixMilli(1000)}, Messages: messages}
}

func TestRunFromBeginToEnd(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	b := begin("r1", "", "req", user("hello"))
	b.Fresh = &Session{ID: "a", Workspace: "/w", Created: time.UnixMilli(1000)}
	b.Run.CorrelationID, b.Run.Started = "corr", time.UnixMilli(1001)
	got, _, err := s.BeginRun(ctx, b)
	if err != nil || got.ID != "r1" || got.Session != "a" || got.Status != RunRunning || got.OwnerPID != os.Getpid() || !got.Started.Equal(b.Run.Started) {
		t.Fatalf("begin: got %+v, %v", got, err)
	}
	sum, err := s.Summary(ctx, "a")
	if err != nil || sum.BusyPID != os.Getpid() || sum.Messages != 1 || sum.LastRun != RunRunning {
		t.Errorf("while it runs: got %+v, %v", sum, err)
	}
	usage := llm.Usage{Input: 7, Output: 3, CachedInput: 2, Reasoning: 1}
	end := RunEnd{ID: "r1", Status: RunFailed, Error: "why", Usage: usage}
	last := plug.Event{SessionID: "a", RunID: "r1", Seq: 1, Time: time.UnixMilli(2000), Data: plug.RunFailed{Error: "why", Code: llm.CauseServer}}
	if _, err := s.EndRun(ctx, RunEnd{ID: "r1", Status: RunRunning}, last); err == nil {
		t.Error("end with a state that is none: got no error")
	}
	end.Messages = []llm.Message{{Role: llm.RoleAssistant, Text: "the answer"}}
	turn := plug.Event{SessionID: "a", RunID: "r1", Seq: 0, Time: last.Time, Data: plug.TurnCompleted{Turn: 1}}
	numbers, err := s.EndRun(ctx, end, turn, last)
	if err != nil || len(numbers) != 2 || numbers[0] == 0 || numbers[1] <= numbers[0] {
		t.Fatalf("end: got %d, %v", numbers, err)
	}
	if m, err := s.Messages(ctx, "a"); err != nil || len(m) == 0 || m[len(m)-1].Text != "the answer" {
		t.Errorf("the last answer: got %+v, %v", m, err)
	}
	for _, status := range []RunStatus{RunCompleted, RunInterrupted} {
		if _, err := s.EndRun(ctx, RunEnd{ID: "r1", Status: status}, last); !errors.Is(err, ErrEnded) {
			t.Errorf("%s after the end: got %v, want ErrEnded", status, err)
		}
	}
	if _, err := s.EndRun(ctx, RunEnd{ID: "none", Status: RunFailed}, last); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown run: got %v, want ErrNotFound", err)
	}
	got, err = s.RunByRequest(ctx, RequestKey{Session: "a", RequestID: "req"})
	if err != nil || got.Status != RunFailed || got.Error != "why" || got.Usage != usage || !got.Ended.Equal(last.Time) || got.CorrelationID != "corr" {
		t.Errorf("got %+v, %v", got, err)
	}
	if other, err := s.RunByRequest(ctx, RequestKey{Workspace: "/w", RequestID: "req"}); err != nil || other != got {
		t.Errorf("by workspace: got %+v, %v", other, err)
	}
	if _, err := s.RunByRequest(ctx, RequestKey{Workspace: "/other", RequestID: "req"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("in another workspace: got %v, want ErrNotFound", err)
	}
	events, err := s.RunEvents(ctx, "a", "r1")
	if err != nil || len(events) != 2 || events[0].ID != numbers[0] || events[1].ID != numbers[1] {
		t.Errorf("events: got %+v, %v", events, err)
	}
	messages, err := s.RunMessages(ctx, "a", "r1")
	if err != nil || len(messages) != 2 || messages[0].Text != "hello" {
		t.Errorf("messages: got %+v, %v", messages, err)
	}
	if sum, err := s.Summary(ctx, "a"); err != nil || sum.BusyPID != 0 || sum.LastRun != RunFailed || !sum.Updated.Equal(last.Time) {
		t.Errorf("after the end: got %+v, %v", sum, err)
	}
}

func TestBeginRunStoresAllOrNothing(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	broken := llm.Message{Role: llm.RoleAssistant, ProviderData: []json.RawMessage{json.RawMessage("{")}}
	fresh := begin("r2", "", "", user("x"))
	fresh.Fresh = &Session{ID: "a"}
	other := begin("r3", "a", "", user("x"))
	other.Continues = "none"
	for name, b := range map[string]Begin{"broken message": begin("r1", "a", "", user("x"), broken), "taken session": fresh,
		"no session": begin("r4", "none", "", user("x")), "nothing to continue": other} {
		if r, _, err := s.BeginRun(ctx, b); err == nil {
			t.Errorf("%s: got %+v, want an error", name, r)
		}
	}
	c, err := s.Contents(ctx, "a")
	if err != nil || c.Messages != 0 || c.Runs != 0 {
		t.Errorf("got %+v %v, want nothing stored", c, err)
	}
	if _, _, err := s.BeginRun(ctx, begin("r1", "a", "")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.BeginRun(ctx, begin("r1", "a", "")); !errors.Is(err, ErrExists) {
		t.Errorf("id taken: got %v, want ErrExists", err)
	}
}

func TestRequestIsOneRunOfManyCallers(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a", Workspace: "/w"})
	for _, fresh := range []bool{false, true} {
		var mu sync.Mutex
		ids := map[string]int{}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				b := begin(fmt.Sprintf("%v-%d", fresh, i), "a", fmt.Sprintf("req-%v", fresh), user("x"))
				if fresh {
					b.Fresh = &Session{ID: fmt.Sprintf("fresh-%d", i), Workspace: "/w"}
				}
				r, _, err := s.BeginRun(ctx, b)
				if err != nil {
					t.Errorf("caller %d: %v", i, err)
				}
				mu.Lock()
				defer mu.Unlock()
				ids[r.ID]++
			})
		}
		wg.Wait()
		if len(ids) != 1 {
			t.Errorf("fresh %v: got runs %v, want one", fresh, ids)
		}
	}
	list, err := s.List(ctx, Query{Limit: 100})
	if err != nil || len(list) != 2 {
		t.Errorf("got %d sessions, %v, want the first and one fresh one", len(list), err)
	}
}

// childEnv makes the test binary a process that begins one run.
const childEnv = "ALISIO_SESSION_TEST_DIR"

func TestRequestIsOneRunOfManyProcesses(t *testing.T) {
	ctx := context.Background()
	if dir := os.Getenv(childEnv); dir != "" {
		s := openAt(t, dir, nil)
		b := begin(fmt.Sprint("run-", os.Getpid()), "", "req", user("x"))
		b.Fresh = &Session{ID: fmt.Sprint("session-", os.Getpid()), Workspace: "/w"}
		r, _, err := s.BeginRun(ctx, b)
		fmt.Printf("got %s %v\n", r.ID, err)
		return // without an end: as if it died
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var outs [3]bytes.Buffer
	var cmds []*exec.Cmd
	for i := range outs {
		cmd := exec.Command(self, "-test.run=^TestRequestIsOneRunOfManyProcesses$")
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, outs[i].String())
		}
	}
	first, _, _ := strings.Cut(outs[0].String(), "\n")
	for i := range outs {
		if line, _, _ := strings.Cut(outs[i].String(), "\n"); line != first || !strings.HasSuffix(line, "<nil>") {
			t.Errorf("process %d: got %q, want what the first got, %q", i, line, first)
		}
	}

	// The processes are dead: their run is interrupted, and can be continued by
	// one that takes the request id over, however many try.
	s := openAt(t, dir, nil)
	n, err := s.InterruptRuns(ctx)
	if err != nil || n != 1 {
		t.Errorf("interrupted %d runs, %v, want 1", n, err)
	}
	old, err := s.RunByRequest(ctx, RequestKey{Workspace: "/w", RequestID: "req"})
	if err != nil || old.Status != RunInterrupted {
		t.Fatalf("got %+v, %v", old, err)
	}
	for range 2 {
		b := begin("next", old.Session, "req")
		b.Continues = old.ID
		r, _, err := s.BeginRun(ctx, b)
		if err != nil || r.ID != "next" || r.RequestID != "req" {
			t.Fatalf("continue: got %+v, %v", r, err)
		}
	}
	if runs, err := s.Runs(ctx, old.Session, 10); err != nil || len(runs) != 2 {
		t.Errorf("got runs %+v, %v", runs, err)
	}
}

func TestOnlyAnInterruptedRunIsContinued(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	if _, _, err := s.BeginRun(ctx, begin("r1", "a", "req")); err != nil {
		t.Fatal(err)
	}
	b := begin("r2", "a", "req")
	b.Continues = "r1"
	if r, _, err := s.BeginRun(ctx, b); err == nil {
		t.Errorf("a running one: got %+v, want an error", r)
	}
	if _, err := s.EndRun(ctx, RunEnd{ID: "r1", Status: RunCompleted}); err != nil {
		t.Fatal(err)
	}
	if r, _, err := s.BeginRun(ctx, b); err == nil {
		t.Errorf("one that has ended: got %+v, want an error", r)
	}
	b.Continues = ""
	if r, _, err := s.BeginRun(ctx, b); err != nil || r.ID != "r1" || r.Status != RunCompleted {
		t.Errorf("again: got %+v, %v, want the first run", r, err)
	}
}

// C116: a lock without take-over locks people out of their own session. Trigger:
// a process works in a session and is killed.
func TestC116DeadOwnersSessionIsTakenOver(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	s.Create(ctx, Session{ID: "child", Parent: "a", Depth: 1, Status: "running"})
	err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		dead := db.Owner{PID: 2147483000, Boot: "none", Start: 1}
		if err := tx.SetOwner("a", &dead); err != nil {
			return err
		}
		return tx.BeginRun(db.Run{ID: "r", Session: "a", Status: "running", Owner: dead, CreatedMs: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := s.Summary(ctx, "a"); err != nil || sum.BusyPID != 0 {
		t.Errorf("got %+v, %v, want no living owner", sum, err)
	}
	unlock, err := s.Lock(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	runs, err := s.Runs(ctx, "a", 1)
	if err != nil || len(runs) != 1 || runs[0].Status != RunInterrupted {
		t.Errorf("got %+v, %v, want an interrupted run", runs, err)
	}
	if child, err := s.Session(ctx, "child"); err != nil || child.Status != "interrupted" {
		t.Errorf("got %+v, %v, want an interrupted child", child, err)
	}
}

// C115: two processes append to one session and one of them loses its messages.
// Trigger: two runs of a session at the same time.
func TestC115SecondStoreIsRefused(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	one, two := openAt(t, dir, nil), openAt(t, dir, nil)
	unlock, err := one.Lock(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := two.Lock(ctx, "a"); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("got %v, want a *BusyError with the pid", err)
	}
	unlock()
	if unlock, err = two.Lock(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestPagesAreBounded(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	s.Create(ctx, Session{ID: "b"})
	for i := range 25 {
		for _, id := range []string{"a", "b"} {
			if err := s.Append(ctx, id, "r", user(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			if _, err := s.AddEvent(ctx, plug.Event{SessionID: id, RunID: "r", Seq: int64(i + 1), Data: plug.RunStarted{}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var texts, seqs []string
	for after := int64(0); ; {
		page, err := s.MessagesPage(ctx, "a", after, 10)
		if err != nil || len(page) > 10 {
			t.Fatalf("got %d, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			texts = append(texts, m.Message.Text)
			after = m.Seq
		}
	}
	for after := int64(0); ; {
		page, err := s.EventsPage(ctx, "a", after, 10)
		if err != nil || len(page) > 10 {
			t.Fatalf("got %d, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			seqs = append(seqs, fmt.Sprint(e.Seq-1))
			after = e.ID
		}
	}
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprint(i))
	}
	if fmt.Sprint(texts) != fmt.Sprint(want) || fmt.Sprint(seqs) != fmt.Sprint(want) {
		t.Errorf("got %v and %v, want %v", texts, seqs, want)
	}
	if _, err := s.MessagesPage(ctx, "none", 0, 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown session: got %v, want ErrNotFound", err)
	}
}

// C112: a torn record makes resume show an empty conversation without a word.
// Trigger: a row that can not be read among good ones.
func TestC112UnreadableRowIsSkippedAndToldOnce(t *testing.T) {
	ctx := context.Background()
	var notes []string
	s := openAt(t, t.TempDir(), func(text string) { notes = append(notes, text) })
	s.Create(ctx, Session{ID: "a"})
	err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		for _, body := range []string{`{"role":"user","text":"1"}`, `{"role":"user","te`, `{"role":"user","text":"2"}`} {
			if _, err := tx.AppendMessage(db.Message{Session: "a", Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.Messages(ctx, "a")
		if err != nil || len(got) != 2 || got[0].Text != "1" || got[1].Text != "2" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "message 2") {
		t.Errorf("got notices %q, want one that names the message", notes)
	}
	page, err := s.MessagesPage(ctx, "a", 0, 10)
	if err != nil || len(page) != 3 || page[1].Err == nil || string(page[1].Body) != `{"role":"user","te` {
		t.Errorf("page: got %+v, %v", page, err)
	}
}

func TestBlobsBelongToSessions(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	s.Create(ctx, Session{ID: "b"})
	data := []byte("\x89PNG picture")
	hash, err := s.PutBlob(ctx, "", data, "image/png", 1, 1)
	if err != nil || hash != hashOf(data) {
		t.Fatalf("got %s, %v", hash, err)
	}
	if _, err := s.OpenBlob(ctx, "a", hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("before a reference: got %v, want ErrNotFound", err)
	}
	image := user("see")
	image.Attachments = []llm.Attachment{{MIMEType: "image/png", Data: data}, {MIMEType: "image/png", Data: []byte("never uploaded")}}
	if err := s.Append(ctx, "a", "", image); err != nil {
		t.Fatal(err)
	}
	if got, err := s.OpenBlob(ctx, "a", hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, name := range []string{hash, hashOf([]byte("never uploaded")), "../../etc/passwd", ""} {
		if _, err := s.OpenBlob(ctx, "b", name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q from another session: got %v, want ErrNotFound", name, err)
		}
	}
	if got, err := s.Blob(ctx, hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("any: got %q, %v", got, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	ctx := context.Background()
	s := openAt(b, b.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	m := benchMessage()
	for b.Loop() {
		if err := s.Append(ctx, "a", "r", m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMessages200(b *testing.B) {
	b.ReportAllocs()
	ctx := context.Background()
	s := openAt(b, b.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	m := benchMessage()
	for range 200 {
		s.Append(ctx, "a", "r", m)
	}
	for b.Loop() {
		if got, err := s.Messages(ctx, "a"); err != nil || len(got) != 200 {
			b.Fatal(len(got), err)
		}
	}
}

// "no such session" was said of whatever was missing.
func TestErrorsNameWhatIsMissing(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(ctx, Session{ID: "a"}))
	_, _, err := s.BeginRun(ctx, begin("r", "a", ""))
	must(t, err)
	_, blob := s.OpenBlob(ctx, "a", "h")
	_, anyBlob := s.Blob(ctx, "h")
	_, request := s.RunByRequest(ctx, RequestKey{Session: "a", RequestID: "q"})
	_, head := s.Session(ctx, "none")
	_, _, twice := s.BeginRun(ctx, begin("r", "a", ""))
	_, _, lost := s.BeginRun(ctx, begin("r2", "none", ""))
	_, end := s.EndRun(ctx, RunEnd{ID: "none", Status: RunFailed})
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{blob, ErrNotFound, `open blob "h": not found`}, {anyBlob, ErrNotFound, "open blob h: not found"},
		{request, ErrNotFound, "request q: not found"}, {head, ErrNotFound, "session none: not found"},
		{twice, ErrExists, "begin run r of session a: exists already"}, {lost, ErrNotFound, "begin run r2 of session none: not found"},
		{end, ErrNotFound, "end run none: not found"}, {s.Create(ctx, Session{ID: "a"}), ErrExists, "create session a: exists already"},
	} {
		if !errors.Is(c.err, c.is) || c.err.Error() != c.want {
			t.Errorf("got %q, want %q", c.err, c.want)
		}
	}
}

// A run that could not store its end leaves this process's name in the session,
// which would keep others out for as long as the process lives.
func TestUnlockTakesTheOwnersNameAway(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(ctx, Session{ID: "a"}))
	unlock, err := s.Lock(ctx, "a")
	must(t, err)
	_, _, err = s.BeginRun(ctx, begin("r", "a", ""))
	must(t, err)
	if sum, err := s.Summary(ctx, "a"); err != nil || sum.BusyPID != os.Getpid() {
		t.Fatalf("while it runs: %+v, %v", sum, err)
	}
	unlock()
	if sum, err := s.Summary(ctx, "a"); err != nil || sum.BusyPID != 0 {
		t.Errorf("after the lock was given back: busy with %d, %v", sum.BusyPID, err)
	}
}

// Two processes whose locks lie in two directories: the row decides.
func TestRunIsRefusedWhileTheOwnerLives(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(ctx, Session{ID: "a"}))
	c := exec.Command("sleep", "60")
	must(t, c.Start())
	defer c.Wait()
	defer c.Process.Kill()
	o := lock.Of(c.Process.Pid)
	if _, known := o.Alive(); !known {
		t.Skip("this system does not tell when a process began: the lock alone decides")
	}
	must(t, s.db.Write(ctx, db.Normal, func(tx *db.Tx) error { return tx.SetOwner("a", &o) }))
	var busy *BusyError
	if _, _, err := s.BeginRun(ctx, begin("r", "a", "")); !errors.As(err, &busy) || busy.PID != o.PID {
		t.Errorf("begin: got %v, want it in use by %d", err, o.PID)
	}
	if _, err := s.Lock(ctx, "a"); !errors.As(err, &busy) || busy.PID != o.PID {
		t.Errorf("lock: got %v, want it in use by %d", err, o.PID)
	}
}

func benchMessage() llm.Message {
	return llm.Message{
		Role: llm.RoleAssistant, Text: strings.Repeat("Some text of an answer.\n", 40),
		Calls:        []llm.ToolCall{{ID: "call_1", Name: "read_file", Arguments: `{"path":"tax/rates.go"}`}},
		ProviderData: []json.RawMessage{json.RawMessage(`{"type":"reasoning","encrypted_content":"` + strings.Repeat("A", 1200) + `"}`)},
		Origin:       llm.Origin{Provider: "openai", API: "responses", Model: "m"},
	}
}
