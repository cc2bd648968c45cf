package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"alisio/agent/config"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// replies answers with its texts in turn; what comes behind them is a mistake.
type replies struct {
	texts []string
	asked []llm.Request
}

func (r *replies) ID() string   { return "replies" }
func (r *replies) Close() error { return nil }

func (r *replies) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		r.asked = append(r.asked, req)
		if len(r.asked) > len(r.texts) {
			yield(llm.Event{}, llm.Errorf(llm.CauseServer, "nothing more is said"))
			return
		}
		text := r.texts[len(r.asked)-1]
		if yield(llm.Event{Kind: llm.TextDelta, Text: text}, nil) {
			yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{Role: llm.RoleAssistant, Text: text}}, nil)
		}
	}
}

var versionSchema = json.RawMessage(`{"type":"object","required":["version"],"properties":{"version":{"type":"integer"}}}`)

func TestASchemaThatIsBadStartsNothing(t *testing.T) {
	dir, p := t.TempDir(), &replies{}
	a := stored(t, dir, p)
	begun := 0
	out, err := a.Run(context.Background(), "", "go", RunOptions{
		RequestID: "q", OutputSchema: json.RawMessage(`{"type":"objekt"}`), OnBegin: func() { begun++ },
	})
	if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), `#/type: found string "objekt"`) || out.SessionID != "" || begun != 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	if list, err := a.store.(*Store).List(context.Background(), session.Query{}); err != nil || len(list) != 0 || len(p.asked) != 0 {
		t.Errorf("stored: %+v, %v; asked %d times", list, err, len(p.asked))
	}
}

func TestWhatASchemaSaysInVainIsTold(t *testing.T) {
	var log bytes.Buffer
	a := app(t, `{"turns":[{"text":"[1,1]"}]}`, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	out, err := a.Run(context.Background(), "", "go", RunOptions{OutputSchema: json.RawMessage(`{"type":"array","uniqueItems":true}`)})
	if err != nil || out.Status != Completed || strings.Count(log.String(), "says more than is checked: #/uniqueItems") != 1 {
		t.Errorf("got %+v, %v, told %q", out, err, log.String())
	}
}

// What a person typed is what is shown; what the model was told is what it is
// told again in the next run, byte for byte.
func TestAPromptIsShownAsItWasTyped(t *testing.T) {
	ctx := context.Background()
	dir, p := t.TempDir(), &replies{texts: []string{"no", "```json\n{\"version\":1}\n```", "fine"}}
	out, err := stored(t, dir, p).Run(ctx, "", "which version?", RunOptions{OutputSchema: versionSchema})
	if err != nil || out.Text != `{"version":1}` {
		t.Fatalf("got %+v, %v", out, err)
	}
	a := stored(t, dir, p)
	if _, err := a.Run(ctx, out.SessionID, "thanks", RunOptions{}); err != nil {
		t.Fatal(err)
	}
	page, err := a.store.(*Store).MessagesPage(ctx, out.SessionID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range page {
		shown = append(shown, strings.SplitN(m.Message.Shown(), "\n", 2)[0])
	}
	want := []string{"which version?", "no", "[output schema] The answer does not fit the JSON Schema that was asked for:", "```json", "thanks", "fine"}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
	if sum, err := a.store.(*Store).Summary(ctx, out.SessionID); err != nil || sum.Title != "which version?" {
		t.Errorf("title %q, %v", sum.Title, err)
	}
	for i, m := range p.asked[1].Messages {
		if again := p.asked[2].Messages[i]; again.Text != m.Text {
			t.Errorf("message %d was %q and is %q", i, m.Text, again.Text)
		}
	}
}

func TestARequestIDStandsForOneSchema(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		texts  []string
		status run.Status
		said   []string
	}{
		{"at once", []string{`{"version":1}`}, Completed, []string{`{"version":1}`}},
		{"in a fence", []string{"```json\n{\"version\":1}\n```"}, Completed, []string{"```json\n{\"version\":1}\n```"}},
		{"repaired", []string{"no", `{"version":1}`}, Completed, []string{"no", `{"version":1}`}},
		{"never", []string{"no", "never"}, Failed, []string{"no", "never"}},
		{"broken off", []string{"no"}, Failed, []string{"no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), &replies{texts: c.texts}
			first, err := stored(t, dir, p).Run(ctx, "", "go", RunOptions{RequestID: "q", OutputSchema: versionSchema})
			if err != nil || first.Status != c.status {
				t.Fatalf("got %+v, %v", first, err)
			}
			asked := len(p.asked)
			var said []string
			again, err := stored(t, dir, p).Run(ctx, "", "go", RunOptions{RequestID: "q", OutputSchema: versionSchema, OnEvent: func(e plug.Event) {
				if d, ok := e.Data.(plug.Delta); ok {
					said = append(said, d.Delta)
				}
			}})
			if err != nil || !again.Replayed || again.Final() != first.Final() || len(p.asked) != asked {
				t.Errorf("again %+v, %v\nwant  %+v", again.Final(), err, first.Final())
			}
			if !reflect.DeepEqual(said, c.said) {
				t.Errorf("said %q, want %q", said, c.said)
			}
			for name, schema := range map[string]json.RawMessage{"none": nil, "another": json.RawMessage(`{"type":"object"}`)} {
				_, err := stored(t, dir, p).Run(ctx, "", "go", RunOptions{RequestID: "q", OutputSchema: schema})
				if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "another output schema") {
					t.Errorf("%s: got %v", name, err)
				}
			}
			_, err = stored(t, dir, p).Run(ctx, "", "stop", RunOptions{RequestID: "q", OutputSchema: versionSchema})
			if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "another prompt") {
				t.Errorf("another prompt: got %v", err)
			}
		})
	}
}

// A process that died at any point of a repair: the next one with the request id
// takes the run to its end, is told of nothing twice and asks for nothing twice.
func TestAnInterruptedRepairIsTakenToItsEnd(t *testing.T) {
	ctx := context.Background()
	full := func() []llm.Message {
		dir := t.TempDir()
		a := stored(t, dir, &replies{texts: []string{"no", `{"version":1}`}})
		out, err := a.Run(ctx, "", "go", RunOptions{OutputSchema: versionSchema})
		if err != nil {
			t.Fatal(err)
		}
		messages, err := a.store.Messages(ctx, out.SessionID)
		if err != nil || len(messages) != 4 {
			t.Fatalf("%d messages, %v", len(messages), err)
		}
		return messages
	}()
	for n, asked := range map[int]int{1: 2, 2: 1, 3: 1, 4: 0} {
		dir := t.TempDir()
		p := &replies{texts: []string{"no", `{"version":1}`}[2-asked:]}
		a := stored(t, dir, p)
		s := a.store.(*Store)
		if err := s.Create(ctx, session.Session{ID: "s", Workspace: a.root}); err != nil {
			t.Fatal(err)
		}
		beginRun(t, s, "r1", "q", "", time.Now(), full[:n]...)
		for i := range 2 { // the second time it is shown again
			out, err := a.Run(ctx, "s", "go", RunOptions{RequestID: "q", OutputSchema: versionSchema})
			if err != nil || out.Status != Completed || out.Text != `{"version":1}` || len(p.asked) != asked || out.Replayed != (i == 1) {
				t.Errorf("%d messages were stored: got %+v, %v, asked %d times, want %d", n, out, err, len(p.asked), asked)
			}
		}
		messages, err := s.Messages(ctx, "s")
		if err != nil || len(messages) != len(full) {
			t.Fatalf("%d messages, %v", len(messages), err)
		}
		for i, m := range messages {
			if m.Text != full[i].Text || m.Role != full[i].Role || m.Display != full[i].Display {
				t.Errorf("message %d: got %q, want %q", i, m.Text, full[i].Text)
			}
		}
	}
}

// The stored form of what was typed is that of older programs.
func TestADisplayedPromptInTheDatabase(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	out, err := stored(t, dir, &replies{texts: []string{`{"version":1}`}}).Run(ctx, "", "go", RunOptions{OutputSchema: versionSchema})
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(ctx, StoreOptions{Dirs: config.Dirs{State: filepath.Join(dir, "state")}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page, err := s.MessagesPage(ctx, out.SessionID, 0, 1)
	if err != nil || len(page) != 1 {
		t.Fatal(page, err)
	}
	var body struct{ Text, Display string }
	if err := json.Unmarshal(page[0].Body, &body); err != nil || body.Display != "go" || !strings.HasPrefix(body.Text, "go\n\n[output schema] ") {
		t.Errorf("stored as %s, %v", page[0].Body, err)
	}
}
