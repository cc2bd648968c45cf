// Package llmtest is the conformance suite of wire clients: what servers really
// send, byte for byte, and the events that must come of it.
//
// It is for tests alone. A case is a file testdata/SET/NAME.txt:
//
//	# comment: the case's origin, symptom and trigger
//	-- response --
//	200 text/event-stream
//	Header: value
//
//	data: {"choices":[…]}
//	-- events --
//	text "Hello"
//	completed
//	-- message --
//	{"text":"Hello"}
//
// In the body each line ends with LF. Marks stand for what a text file can not
// show: <CR> <LF> and <xE5> for bytes, <> at the end of a line for no line end,
// <repeat 70000 a> for many, <cut> for a place where the network cuts, and
// <hold> for a connection that stays open until the client leaves. The events are
// text, reasoning, activity and call, neighbours of one kind put together, then
// completed or an error.
package llmtest

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"

	"alisio/llm"
)

//go:embed testdata
var testdata embed.FS

// New makes the provider under test for a base URL. Its id is "test" and its
// key Key.
type New func(baseURL string, client *http.Client) llm.Provider

// Key is the secret that providers under test are made with; responses echo it.
const Key = "sk-conformance-secret"

// Run replays every case of a set whose name matches pattern (path.Match), each
// whole, in pieces of odd sizes and byte for byte, over a real socket.
func Run(t *testing.T, set, pattern string, provider New) {
	t.Helper()
	dir := path.Join("testdata", set)
	entries, err := fs.ReadDir(testdata, dir)
	if err != nil {
		t.Fatal(err)
	}
	ran := false
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txt")
		if ok, err := path.Match(pattern, name); err != nil {
			t.Fatal(err)
		} else if !ok {
			continue
		}
		ran = true
		raw, err := fs.ReadFile(testdata, path.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse(string(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, cut := range chunkings(c) {
			t.Run(name+"/"+cut.name, func(t *testing.T) { c.run(t, cut, provider) })
		}
	}
	if !ran {
		t.Fatalf("no case of %s matches %s", dir, pattern)
	}
}

// run replays a case once.
func (c *testCase) run(t *testing.T, cut chunking, provider New) {
	s := serve(t, c, cut)
	p := provider("http://"+s.addr, s.client())
	defer p.Close()
	req := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}
	got, message := record(p, req)
	if got != c.events {
		t.Errorf("events: got\n%swant\n%s", clip(got), clip(c.events))
	}
	if c.message != "" && !sameJSON(message, c.message) {
		t.Errorf("message: got\n%s\nwant\n%s", clip(message), clip(c.message))
	}
}

// record writes down what a provider yields. How text is cut into deltas is no
// part of the contract, so neighbours of one kind are put together.
func record(p llm.Provider, req llm.Request) (events, message string) {
	var out strings.Builder
	var kind llm.EventKind
	var text strings.Builder
	flush := func() {
		switch kind {
		case llm.TextDelta:
			fmt.Fprintf(&out, "text %s\n", quote(text.String()))
		case llm.ReasoningDelta:
			fmt.Fprintf(&out, "reasoning %s\n", quote(text.String()))
		case llm.Activity:
			out.WriteString("activity\n")
		case llm.CallDelta:
			out.WriteString("call\n")
		}
		kind = 0
		text.Reset()
	}
	for ev, err := range p.Stream(context.Background(), req) {
		if err != nil || ev.Kind != kind {
			flush()
		}
		if err != nil {
			fmt.Fprintln(&out, failure(err))
			break
		}
		kind = ev.Kind
		text.WriteString(ev.Text)
		if ev.Kind == llm.Completed {
			out.WriteString("completed\n")
			message = describe(ev)
		}
	}
	flush()
	return out.String(), message
}

// failure is "error CAUSE [STATUS] [STREAM] [permanent] TEXT [usage COUNTS]", with the host's
// changing port left out. STREAM is how a stream ended that had begun.
func failure(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return "error, not an llm.Error: " + err.Error()
	}
	text := e.Message
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		word = strings.TrimSuffix(word, ":")
		if host, _, err := net.SplitHostPort(word); err == nil && host == "127.0.0.1" {
			text = strings.ReplaceAll(text, word, "HOST")
		}
	}
	words := []string{"error", string(e.Cause)}
	if e.Status > 0 {
		words = append(words, strconv.Itoa(e.Status))
	}
	if e.Stream != "" {
		words = append(words, string(e.Stream))
	}
	if e.Permanent {
		words = append(words, "permanent")
	}
	words = append(words, quote(text))
	if e.Usage != nil {
		words = append(words, fmt.Sprint("usage ", counts(*e.Usage)))
	}
	return strings.Join(words, " ")
}

// described is a completed message as a case file shows it.
type described struct {
	Text      string            `json:"text,omitempty"`
	Calls     [][3]string       `json:"calls,omitempty"`
	Data      []json.RawMessage `json:"data,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
	Usage     []int             `json:"usage,omitempty"` // input, output, cached, reasoning
}

func describe(ev llm.Event) string {
	d := described{Text: ev.Message.Text, Data: ev.Message.ProviderData, Truncated: ev.Message.Truncated}
	for _, c := range ev.Message.Calls {
		d.Calls = append(d.Calls, [3]string{c.ID, c.Name, c.Arguments})
	}
	if u := ev.Usage; u != nil {
		d.Usage = counts(*u)
	}
	b, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func counts(u llm.Usage) []int { return []int{u.Input, u.Output, u.CachedInput, u.Reasoning} }

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// clip keeps reports of huge cases readable.
func clip(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return s[:most/2] + " … " + s[len(s)-most/2:]
}

// Words are the strings without spaces in the bodies of a set: what its cases
// have to do with.
func Words(t *testing.T, set string) []string {
	t.Helper()
	files, err := fs.Glob(testdata, path.Join("testdata", set, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("set %s has %d files, %v", set, len(files), err)
	}
	var words []string
	for _, name := range files {
		raw, err := fs.ReadFile(testdata, name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse(string(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		words = append(words, strings.Split(strings.Join(c.pieces, ""), `"`)...)
	}
	return words
}
