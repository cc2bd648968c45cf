package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"alisio/agent/config"
	"alisio/agent/profile"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/workspace"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// counting answers "answer N" to the N-th request, or fails, after hold.
type counting struct {
	asked atomic.Int64
	hold  chan struct{} // nil: at once
	fail  *llm.Error
}

func (c *counting) ID() string   { return "counting" }
func (c *counting) Close() error { return nil }

func (c *counting) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := c.asked.Add(1)
		if c.hold != nil {
			select {
			case <-c.hold:
			case <-ctx.Done():
			}
		}
		if c.fail != nil {
			yield(llm.Event{}, c.fail)
			return
		}
		text := "answer " + string(rune('0'+n))
		if yield(llm.Event{Kind: llm.TextDelta, Text: text}, nil) {
			yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{Role: llm.RoleAssistant, Text: text}}, nil)
		}
	}
}

// stored makes an application on a database in dir.
func stored(t *testing.T, dir string, p llm.Provider) *App {
	t.Helper()
	s, err := OpenStore(context.Background(), StoreOptions{Dirs: config.Dirs{State: filepath.Join(dir, "state")}})
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return app(t, "", Options{Dir: work, Provider: p, Model: llm.Model{ID: "m"}, Store: s})
}

// durable are the events that the store keeps, as JSON.
func durable(t *testing.T, events []plug.Event) []string {
	t.Helper()
	var lines []string
	for _, e := range events {
		if e.Data.EventType().Ephemeral() {
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

func TestARequestIsRunOnceAndShownAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		fail *llm.Error
	}{
		{"completed", nil},
		{"failed", llm.Errorf(llm.CauseQuota, "no credit is left")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), &counting{fail: c.fail}
			var outs []Outcome
			var shown [][]string
			for range 3 {
				var events []plug.Event
				// Each time another process would open the database anew.
				out, err := stored(t, dir, p).Run(context.Background(), "", "go", RunOptions{
					RequestID: "r1", CorrelationID: "c", OnEvent: func(e plug.Event) { events = append(events, e) },
				})
				if err != nil {
					t.Fatal(err)
				}
				outs = append(outs, out)
				shown = append(shown, durable(t, events))
			}
			if p.asked.Load() != 1 {
				t.Errorf("the model was asked %d times", p.asked.Load())
			}
			for i, out := range outs[1:] {
				if !out.Replayed || out.Text != outs[0].Text || out.Code != outs[0].Code || out.Status != outs[0].Status ||
					out.SessionID != outs[0].SessionID || out.RunID != outs[0].RunID || (out.Err == nil) != (c.fail == nil) {
					t.Errorf("got %+v\nwant %+v", out, outs[0])
				}
				if !reflect.DeepEqual(shown[i+1], shown[0]) {
					t.Errorf("shown again: %s\nwant %s", shown[i+1], shown[0])
				}
			}
			out, err := stored(t, dir, p).Run(context.Background(), "", "go", RunOptions{RequestID: "r2"})
			if err != nil || out.Replayed || out.SessionID == outs[0].SessionID {
				t.Errorf("another request: %+v, %v", out, err)
			}
		})
	}
}

// The answers of a run that is shown again come as deltas, before the events that
// end them and outside the protocol.
func TestAReplayedAnswerIsSaidAgain(t *testing.T) {
	dir, p := t.TempDir(), &counting{}
	ctx := context.Background()
	if _, err := stored(t, dir, p).Run(ctx, "", "go", RunOptions{RequestID: "r"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, err := stored(t, dir, p).Run(ctx, "", "go", RunOptions{RequestID: "r", OnEvent: func(e plug.Event) {
		entry := string(e.Data.EventType())
		if d, ok := e.Data.(plug.Delta); ok {
			entry = d.Delta
		}
		if (e.Seq == 0) != e.Data.EventType().Ephemeral() {
			t.Errorf("%s has seq %d", entry, e.Seq)
		}
		got = append(got, entry)
	}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"run_started", "answer 1", "turn_completed", "run_completed"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTwoCallersAtOnceGetOneAnswer(t *testing.T) {
	dir := t.TempDir()
	for _, session := range []bool{false, true} {
		p := &counting{hold: make(chan struct{})}
		id, request := "", "fresh"
		if session {
			quick := &counting{}
			out, err := stored(t, dir, quick).Run(context.Background(), "", "before", RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			id, request = out.SessionID, "in a session"
		}
		const callers = 4
		outs := make([]Outcome, callers)
		var wg sync.WaitGroup
		for i := range callers {
			a := stored(t, dir, p)
			wg.Go(func() {
				out, err := a.Run(context.Background(), id, "go", RunOptions{RequestID: request, OnEvent: func(e plug.Event) {
					if e.Data.EventType() == plug.TypeRunStarted && e.Seq == 1 && e.ID != 0 {
						select {
						case <-p.hold:
						default:
							close(p.hold)
						}
					}
				}})
				if err != nil {
					t.Error(err)
				}
				outs[i] = out
			})
		}
		wg.Wait()
		fresh := 0
		for _, out := range outs {
			if !out.Replayed {
				fresh++
			}
			if out.Text != "answer 1" || out.RunID != outs[0].RunID {
				t.Errorf("got %+v", out)
			}
		}
		if fresh != 1 || p.asked.Load() != 1 {
			t.Errorf("session %v: %d runs, asked %d times", session, fresh, p.asked.Load())
		}
	}
}

// spec events.md: every other event is stored before any observer sees it.
func TestAnObserverFindsTheRowOfWhatItSees(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	a := stored(t, dir, &counting{})
	other, err := OpenStore(ctx, StoreOptions{Dirs: config.Dirs{State: filepath.Join(dir, "state")}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var id string
	last := int64(0)
	for range 2 {
		seq := int64(0)
		out, err := a.Run(ctx, id, "go", RunOptions{RunID: NewID(), CorrelationID: "mine", OnEvent: func(e plug.Event) {
			if seq++; e.Seq != seq || e.CorrelationID != "mine" {
				t.Errorf("envelope %+v, want seq %d", e, seq)
			}
			if e.Data.EventType().Ephemeral() {
				return
			}
			page, err := other.EventsPage(ctx, e.SessionID, last, 10)
			// What was stored along with it may follow.
			if err != nil || len(page) == 0 || !reflect.DeepEqual(durable(t, page[:1]), durable(t, []plug.Event{e})) {
				t.Errorf("%s: the database holds %+v, %v", e.Data.EventType(), page, err)
			}
			if e.ID <= last {
				t.Errorf("eventId %d after %d", e.ID, last)
			}
			last = e.ID
		}})
		if err != nil {
			t.Fatal(err)
		}
		id = out.SessionID
		runs, err := other.Runs(ctx, id, 1)
		if err != nil || len(runs) != 1 || runs[0].ID != out.RunID || runs[0].CorrelationID != "mine" || runs[0].Status != run.Completed {
			t.Errorf("the run is %+v, %v", runs, err)
		}
	}
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAStoredImageBecomesAVerifiedAttachment(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	a := stored(t, dir, &counting{})
	ref, err := a.Blobs().Put(ctx, picture(t))
	if err != nil || ref.MIMEType != "image/png" || ref.Width != 3 || ref.Height != 2 || ref.Size != int64(len(picture(t))) {
		t.Fatalf("got %+v, %v", ref, err)
	}
	if again, err := a.Blobs().Put(ctx, picture(t)); err != nil || again != ref {
		t.Errorf("the same bytes again: %+v, %v", again, err)
	}
	img, err := a.Blobs().Attachment(ctx, ref)
	if err != nil || !bytes.Equal(img.Data, picture(t)) || img.Width != 3 {
		t.Fatalf("got %+v, %v", img, err)
	}
	out, err := a.Run(ctx, "", "what is this?", RunOptions{Attachments: []llm.Attachment{img}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := a.store.(*Store).MessagesPage(ctx, out.SessionID, 0, 1)
	if err != nil || len(page) != 1 || !strings.Contains(string(page[0].Body), `"data":"iVBORw0KGgo`) {
		t.Errorf("stored as %s, %v", page[0].Body, err)
	}
	file := filepath.Join(dir, "state", "blobs", "sha256", ref.Hash[:2], ref.Hash)
	for path, want := range map[string]os.FileMode{
		file: 0o600, filepath.Dir(file): 0o700, filepath.Join(dir, "state", "blobs"): 0o700, filepath.Join(dir, "state", "sessions.sqlite"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %o", path, info.Mode(), want)
		}
	}
	data := picture(t)
	data[len(data)-1] ^= 1
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Blobs().Attachment(ctx, ref); err == nil {
		t.Error("a flipped byte was not noticed")
	}
	if _, err := a.Blobs().Put(ctx, []byte("<html>")); err == nil {
		t.Error("a page was taken for an image")
	}
}

func TestARequestIDStandsForOnePrompt(t *testing.T) {
	dir, p := t.TempDir(), &counting{}
	ctx := context.Background()
	a := stored(t, dir, p)
	if _, err := a.Run(ctx, "", "go", RunOptions{RequestID: "r"}); err != nil {
		t.Fatal(err)
	}
	_, err := a.Run(ctx, "", "go on", RunOptions{RequestID: "r"})
	if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "another prompt") || p.asked.Load() != 1 {
		t.Errorf("got %v, asked %d times", err, p.asked.Load())
	}
}

// Symptom: the answer about one image was given for another. Trigger: the same
// request id and prompt.
func TestARequestIDStandsForItsImages(t *testing.T) {
	ctx := context.Background()
	one := llm.Attachment{MIMEType: "image/png", Data: picture(t)}
	two := llm.Attachment{MIMEType: "image/png", Data: append(picture(t), 0)}
	gif := llm.Attachment{MIMEType: "image/gif", Data: one.Data}
	for _, c := range []struct {
		name         string
		first, again []llm.Attachment
		same         bool
	}{
		{"none", nil, []llm.Attachment{}, true},
		{"the same", []llm.Attachment{one, two}, []llm.Attachment{one, two}, true},
		{"another", []llm.Attachment{one}, []llm.Attachment{two}, false},
		{"none, then one", nil, []llm.Attachment{one}, false},
		{"one, then none", []llm.Attachment{one}, nil, false},
		{"one more", []llm.Attachment{one}, []llm.Attachment{one, one}, false},
		{"another order", []llm.Attachment{one, two}, []llm.Attachment{two, one}, false},
		{"another type", []llm.Attachment{one}, []llm.Attachment{gif}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &counting{}
			a := stored(t, t.TempDir(), p)
			if _, err := a.Run(ctx, "", "go", RunOptions{RequestID: "r", Attachments: c.first}); err != nil {
				t.Fatal(err)
			}
			out, err := a.Run(ctx, "", "go", RunOptions{RequestID: "r", Attachments: c.again})
			refused := llm.CauseOf(err) == llm.CauseBadRequest && strings.Contains(err.Error(), "with other images")
			if out.Replayed != c.same || refused == c.same || p.asked.Load() != 1 {
				t.Errorf("got %+v, %v, asked %d times", out, err, p.asked.Load())
			}
		})
	}
}

// Nobody who is in doubt is waited for, and the surface tells how to go on. Trigger:
// a row of an older program with the pid of a process that runs.
func TestADoubtfulOwnerIsNotWaitedFor(t *testing.T) {
	dir, p := t.TempDir(), &counting{}
	ctx := context.Background()
	a := stored(t, dir, p)
	d, err := db.Open(ctx, db.Options{Path: filepath.Join(dir, "state", "sessions.sqlite"), Home: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Write(ctx, db.Normal, func(tx *db.Tx) error {
		return tx.CreateSession(db.Session{ID: "s", Workspace: a.root, LockedPID: os.Getppid()})
	}); err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"", "r"} {
		_, err := a.Run(ctx, "s", "go", RunOptions{RequestID: request})
		var busy *session.BusyError
		var told *llm.Error
		if !errors.As(err, &busy) || !busy.Doubtful || !errors.As(err, &told) || told.Cause != llm.CauseStore || told.Hint != "" {
			t.Errorf("request %q: got %v", request, err)
		}
	}
}

// The id is that of the workspace's first run: a later one inside a session must
// not change what the first caller is told.
func TestARequestIDInASessionIsItsOwn(t *testing.T) {
	dir, p := t.TempDir(), &counting{}
	ctx := context.Background()
	a := stored(t, dir, p)
	first, err := a.Run(ctx, "", "go", RunOptions{RequestID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.Run(ctx, "", "other", RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inside, err := a.Run(ctx, other.SessionID, "inside", RunOptions{RequestID: "r"})
	if err != nil || inside.Replayed || inside.SessionID != other.SessionID {
		t.Fatalf("got %+v, %v", inside, err)
	}
	begun := 0
	again, err := a.Run(ctx, "", "go", RunOptions{RequestID: "r", OnBegin: func() { begun++ }})
	if err != nil || again.RunID != first.RunID || begun != 0 {
		t.Errorf("got %+v, %v, want run %s; begun %d times", again, err, first.RunID, begun)
	}
}

func TestASessionChangesItsServerNotUnnoticed(t *testing.T) {
	for _, c := range []struct {
		was, now string
		named    bool
		refused  bool
		told     bool
	}{
		{"x:http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", false, false, false},
		{"x:http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", false, false, true},
		{"x:http://127.0.0.1:1/v1", config.Default().Provider.BaseURL, false, true, false},
		{"x:http://127.0.0.1:1/v1", config.Default().Provider.BaseURL, true, false, true},
		{"of an old program", config.Default().Provider.BaseURL, false, false, false},
	} {
		var log bytes.Buffer
		a := &App{store: session.NewMemory(), o: Options{Config: config.Default(), NamedServer: c.named, Log: slog.New(slog.NewTextHandler(&log, nil))}}
		a.o.Config.Provider.BaseURL = c.now
		err := a.sameServer(context.Background(), session.Session{ID: "s", Provider: c.was}, profile.Choice{Provider: &counting{}})
		if (llm.CauseOf(err) == llm.CauseBadRequest) != c.refused || (log.Len() > 0) != c.told {
			t.Errorf("%+v: got %v, told %q", c, err, log.String())
		}
	}
}

// A tool that opens and closes a file of the database would take its locks away
// from this process; one that writes there could take sessions over.
func TestToolsKeepOffTheStoresFiles(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	path := filepath.Join(work, "my.sqlite")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(context.Background(), StoreOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	a := app(t, "", Options{Dir: work, Provider: &counting{}, Model: llm.Model{ID: "m"}, Store: s})
	if _, err := a.Run(context.Background(), "", "go", RunOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"my.sqlite", "my.sqlite-wal", "my.sqlite-shm", "my.sqlite-journal", "my.sqlite.files/locks/other", "my.sqlite.files/blobs/sha256/aa/x"} {
		if f, err := a.files.OpenFile(name); !errors.Is(err, workspace.ErrClosedOff) {
			t.Errorf("%s was opened: %v", name, err)
			if err == nil {
				f.Close()
			}
		}
		target, err := a.files.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, protected := a.files.Protected(target); !protected {
			t.Errorf("%s is not protected", name)
		}
	}
}
