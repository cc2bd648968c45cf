package wire

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/llm/sse"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		body, field string
		want        bool
	}{
		{`{"error":{"message":"extra_forbidden: stream_options"}}`, "stream_options", true},
		{`{"error":{"message":"Unknown parameter: 'stream_options.include_obfuscation'.","param":"stream_options.include_obfuscation"}}`, "stream_options", true},
		{`{"error":{"message":"no","param":"include[0]"}}`, "include", true},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":false}]}`, "store", true},
		{`{"message":"[{'type': 'extra_forbidden', 'loc': ('body', 'include')}]"}`, "include", true},
		{`{"error":{"message":"Unsupported parameter: include"}}`, "include", true},
		{`{"error":{"message":"unknown field body.include"}}`, "include", true},
		{`{"error":{"message":"to get summaries, verify","param":"reasoning.summary"}}`, "reasoning.summary", true},
		{`{"error":{"message":"bad","param":"reasoning.effort"}}`, "reasoning.summary", false},
		{`{"error":{"message":"messages must include a user turn and store nothing"}}`, "include", false},
		{`{"error":{"message":"bad my_stream_options and stream_options_x"}}`, "stream_options", false},
		{`{"detail":[{"loc":["body","model"],"msg":"Field required","input":{"include":[],"stream_options":{}}}]}`, "stream_options", false},
		{`{"error":{"message":""}}`, "include", false},
	} {
		r := parse([]byte(c.body))
		if got := r.names(c.field); got != c.want {
			t.Errorf("%s: %s: got %v", c.body, c.field, got)
		}
	}
}

// bare is a protocol whose answer is its first event.
type bare struct{ t *Turn }

func (b bare) Event(ev sse.Event) error { b.t.Done(); return b.t.AddText(ev.Data) }
func (b bare) Whole([]byte) error       { return nil }
func (b bare) End() (llm.Event, error)  { return llm.Event{Kind: llm.Completed}, nil }

// ask sends a question whose body names the fields that it holds.
func ask(t *testing.T, e *Endpoint, model string) error {
	t.Helper()
	fields := []Field{{Name: "stream_options"}, {Name: "include"}, {Name: "max_tokens", Value: true}}
	q := Question{Path: "/x", Model: model, Optional: fields, Body: func(without Names) ([]byte, error) {
		var b []string
		for _, f := range fields {
			if !without.Has(f.Name) {
				b = append(b, f.Name)
			}
		}
		return []byte(strings.Join(b, " ")), nil
	}}
	return e.Ask(t.Context(), q, func(t *Turn) Protocol { return bare{t} }, func(llm.Event) bool { return true })
}

// Symptom: strict endpoints refuse stream_options with 422, so no turn ever
// works. Trigger: 422 that names the field while it is there.
func TestC045RefusedFieldIsLeftOut(t *testing.T) {
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(b))
		for _, field := range []string{"stream_options", "include"} {
			if strings.Contains(string(b), field) {
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"error":{"message":"extra_forbidden: %s"}}`, field)
				return
			}
		}
		io.WriteString(w, "data: hi\n\n")
	}))
	defer s.Close()
	e := NewEndpoint(s.URL, "", s.Client())
	for range 2 {
		if err := ask(t, e, "m"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(bodies, "|"), "stream_options include max_tokens|include max_tokens|max_tokens|max_tokens"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	bodies = nil
	if err := ask(t, e, "other"); err != nil || len(bodies) != 3 {
		t.Errorf("another model: got %q, %v", bodies, err)
	}
}

// A field whose name stands in an error that is none of its own is sent again: it
// was not the fault.
func TestNothingIsRememberedOfAFailure(t *testing.T) {
	for body, want := range map[string]int{
		`{"error":{"message":"bad 'include'"}}`:                             2,
		`{"error":{"message":"context_length_exceeded: stream_options"}}`:   1,
		`{"error":{"message":"max_tokens is too large: at most 10"}}`:       1,
		`{"error":{"message":"Unsupported parameter: 'max_tokens'"}}`:       2,
		`{"error":{"message":"no such model"}}`:                             1,
		`{"error":{"message":"the key is wrong","code":"invalid_api_key"}}`: 1,
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, body)
		}))
		e := NewEndpoint(s.URL, "", s.Client())
		for range 2 {
			if err := ask(t, e, "m"); err == nil {
				t.Error("got no error")
			}
		}
		s.Close()
		if asked != 2*want || len(e.refused) > 0 {
			t.Errorf("%s: asked %d times in two turns, want %d; remembered %v", body, asked, 2*want, e.refused)
		}
	}
}

// Symptom: each try at a server in trouble costs two requests. Trigger: it refuses a
// field, and without it answers 503.
func TestARefusalCountsBeforeAnotherFailure(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if b, err := io.ReadAll(r.Body); err != nil || strings.Contains(string(b), "stream_options") {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"unknown field: stream_options"}}`)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	e := NewEndpoint(s.URL, "", s.Client())
	for range 3 {
		if err := ask(t, e, "m"); llm.CauseOf(err) != llm.CauseServer {
			t.Errorf("got %v, want the server's 503", err)
		}
	}
	if asked != 4 {
		t.Errorf("asked %d times in three turns, want 4", asked)
	}
}
