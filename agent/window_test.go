package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// narrow is a server of both protocols with a small window. It counts all text of a
// request, refuses what does not fit with its answer, and reports what it counts.
type narrow struct {
	t      *testing.T
	window int

	mu                   sync.Mutex
	refused, turns, sums int
}

// charsPerToken is a little fewer than are estimated.
const charsPerToken = 3.6

// tokens counts the keys and texts of a JSON value, and something for what is around
// each.
func tokens(v any) float64 {
	switch v := v.(type) {
	case string:
		return float64(utf8.RuneCountInString(v)) / charsPerToken
	case []any:
		n := 0.0
		for _, e := range v {
			n += tokens(e)
		}
		return n
	case map[string]any:
		n := 1.0
		for k, e := range v {
			n += tokens(e) + float64(len(k))/charsPerToken
		}
		return n
	}
	return 1
}

// knownHash finds the hash of small.txt in the newest result that tells it.
var knownHash = regexp.MustCompile(`small\.txt · lines 1-[0-9]+ of [0-9]+ · sha256: ([0-9a-f]{64})|Edited small\.txt.{0,80}?([0-9a-f]{64})`)

func (s *narrow) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		http.NotFound(w, req)
		return
	}
	raw, _ := io.ReadAll(req.Body)
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	output, _ := body["max_tokens"].(float64)
	if n, ok := body["max_output_tokens"].(float64); ok {
		output = n
	}
	in := int(tokens(body))
	if output < 256 || in+int(output) > s.window {
		s.refused++
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"%d and %d tokens are more than %d","code":"context_length_exceeded"}}`, in, int(output), s.window)
		return
	}
	text, calls := "", []llm.ToolCall(nil)
	if strings.Contains(string(raw), "is about to be replaced by a checkpoint") {
		s.sums++
		text = `{"goal":"to read on","accomplished":["` + strings.Repeat("a step of the work ", 15) + `"]}`
	} else {
		s.turns++
		text, calls = "all read", s.step(string(raw))
	}
	wireAnswer{n: s.turns + s.sums, text: text, calls: calls, in: in, out: 20 + len(text)/3}.write(w, req)
}

// step is what the model does: it reads, edits, runs programs, several at once.
func (s *narrow) step(body string) (calls []llm.ToolCall) {
	do := func(name, format string, args ...any) {
		calls = append(calls, llm.ToolCall{ID: fmt.Sprintf("c%d_%d", s.turns, len(calls)), Name: name, Arguments: fmt.Sprintf(format, args...)})
	}
	hash := ""
	if found := knownHash.FindAllStringSubmatch(body, -1); len(found) > 0 {
		last := found[len(found)-1]
		hash = last[1] + last[2]
	}
	switch n := s.turns; {
	case n > 40:
		return nil
	case n%5 == 0:
		do("read_file", `{"path":"small.txt"}`)
		do("read_file", `{"path":"f%d.txt"}`, n%4)
	case n%5 == 1 && hash != "":
		do("edit_file", `{"path":"small.txt","oldText":"line 1 ","newText":"line 1 %d ","expectedHash":"%s"}`, n, hash)
	case n%5 == 2:
		do("shell", `{"command":"cat f%d.txt; echo %d"}`, n%4, n)
	case n%5 == 3:
		do("read_file", `{"path":"f%d.txt","startLine":%d}`, n%4, n)
		do("search_text", `{"pattern":"line %d"}`, n)
		do("list_files", `{"limit":%d}`, n)
	default:
		do("read_file", `{"path":"f%d.txt","startLine":%d}`, n%4, n)
	}
	return calls
}

// C153. Symptom: input and requested output are more than the window, also in the request
// for a checkpoint. Trigger: a server that refuses that; here the whole program, with its
// tools, over a socket and in both protocols, in a task of 40 turns that reads, edits and
// runs programs. Nothing is refused.
func TestC153SmallWindowsOverTheSocket(t *testing.T) {
	for _, protocol := range []string{"chat", "responses"} {
		for _, window := range []int{8_192, 16_384, 32_768} {
			t.Run(fmt.Sprint(protocol, window), func(t *testing.T) { windowOver(t, protocol, window) })
		}
	}
}

func windowOver(t *testing.T, protocol string, window int) {
	s := &narrow{t: t, window: window}
	srv := httptest.NewServer(s)
	defer srv.Close()
	dir := realPath(t.TempDir())
	for i, size := range []int{4_000, 48_000, 12_000, 24_000} {
		put(t, filepath.Join(dir, "work", fmt.Sprintf("f%d.txt", i)), linesOf(size))
	}
	put(t, filepath.Join(dir, "work", "small.txt"), linesOf(4_000))
	put(t, filepath.Join(dir, "work", "AGENTS.md"), strings.Repeat("Use tabs, and tests. ", 400))
	o := Options{Provider: wired(protocol, srv.URL, srv.Client()), Policy: perm.Policy{Mode: perm.ModeFull}, Config: config.Default(), Model: llm.Model{ContextWindow: window}}
	if window < smallWindow {
		o.Config.Provider.Profile = "lean"
	}
	a := engine(t, "sqlite", dir, o)
	done := map[string]int{}
	out, err := a.Run(t.Context(), "", "read all of it, and never say banana", RunOptions{OnEvent: func(e plug.Event) {
		if d, ok := e.Data.(plug.ToolCompleted); ok && !d.IsError {
			done[d.Name]++
		}
	}})
	if err != nil || out.Status != Completed || out.Text != "all read" || s.refused > 0 || s.turns != 41 {
		t.Fatalf("%+v, %v, %v after %d turns, %d refused", out, err, out.Err, s.turns, s.refused)
	}
	if s.sums == 0 || done["edit_file"] < 4 || done["shell"] < 8 || done["read_file"] < 20 {
		t.Errorf("%d checkpoints; done: %v", s.sums, done)
	}
}

func linesOf(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of a text that says little\n", i)
	}
	return b.String()
}
