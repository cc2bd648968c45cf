package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"alisio/llm"
)

func TestAppendExtra(t *testing.T) {
	for in, want := range map[string]string{
		``:                                    `{`,
		` {} `:                                `{`,
		`{"a": [1, {"b":"\u00e9"}], "c":1.0}`: `{,"a":[1, {"b":"\u00e9"}],"c":1.0`,
		`{"model":"x","MODEL":"y","d":null}`:  `{,"d":null`,
		`{"ſtream":true,"a":1,"A":2,"a":3}`:   `{,"a":1`,
		`{"model.x":1,"":2}`:                  `{,"model.x":1,"":2`,
		`[]`:                                  "", `"a"`: "", `{`: "", `{} {}`: "", `null`: "", "{\"a\":\"\xff\"}": "",
	} {
		got, err := AppendExtra([]byte("{"), []byte(in), "model", "stream")
		if string(got) != want || (err != nil) != (want == "") || err != nil && llm.CauseOf(err) != llm.CauseBadRequest {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
}

// Headers go with each request, a header of the client's own stays, and no error
// holds a value.
func TestHeaders(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"tenant-4711 may not, nor tenant-"}}`)
	}))
	defer s.Close()
	e := NewEndpoint(s.URL, "", s.Client())
	e.UserAgent = "alisio/1"
	e.SetHeaders(map[string]string{"X-Tenant": "tenant-4711", "Accept": "text/html", "User-Agent": "other"})
	err := ask(t, e, "m")
	if got.Get("X-Tenant") != "tenant-4711" || got.Get("Accept") != "text/event-stream" || got.Get("User-Agent") != "alisio/1" {
		t.Errorf("got %v", got)
	}
	if err == nil || !strings.Contains(err.Error(), "[redacted] may not, nor [redacted]") || !strings.Contains(hintOf(err), "extraHeaders") {
		t.Errorf("got %v, %s", err, hintOf(err))
	}
	if _, err := e.Models(t.Context()); err == nil || got.Get("X-Tenant") != "tenant-4711" {
		t.Errorf("the catalog: got %v, %v", err, got)
	}
	got = nil
	e.SetHeaders(map[string]string{"X-Tenant": "a\nb: c"})
	if err := ask(t, e, "m"); llm.CauseOf(err) != llm.CauseAuth || got != nil {
		t.Errorf("a line break: got %v, sent %v", err, got)
	}
}

// Who does not know the path is asked elsewhere; who does not know the model, is
// not.
func TestHintForAnUnknownPath(t *testing.T) {
	const elsewhere = "speak differently"
	for _, c := range []struct {
		status int
		body   string
		want   bool
	}{
		{404, `{"detail":"Not Found"}`, true},
		{404, "404 page not found\n", true},
		{404, `{"error":{"message":"Invalid URL (POST /v1/responses)","type":"invalid_request_error"}}`, true},
		{404, `<html><title>404 Not Found</title></html>`, true},
		{405, `{"detail":"Method Not Allowed"}`, true},
		{501, ``, true},
		{404, `{"error":{"message":"The model 'toy' does not exist"}}`, false},
		{404, `{"error":"'Toy' was not found"}`, false},
		{400, `{"error":"no"}`, false},
		{500, `{"error":"no"}`, false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		e := NewEndpoint(s.URL, "", s.Client())
		q := Question{Path: "/x", Model: "toy", Elsewhere: elsewhere, Body: func(Names) ([]byte, error) { return []byte("{}"), nil }}
		err := e.Ask(t.Context(), q, func(t *Turn) Protocol { return bare{t} }, func(llm.Event) bool { return true })
		s.Close()
		if got := strings.Contains(hintOf(err), elsewhere); err == nil || got != c.want {
			t.Errorf("%d %s: got %v, hint %q", c.status, c.body, err, hintOf(err))
		}
	}
}

func hintOf(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Hint
}
