package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/llm/responses"
	"alisio/plug"
)

// recorder is a server of both protocols that keeps what it was sent, over pipes, so
// that a test can let days pass. Each prompt is answered by calls, and then by a text.
type recorder struct {
	mu sync.Mutex
	// timeline holds the bodies, and between them the causes that were told.
	timeline []moment
	asked    int
	breaks   bool // the next answer breaks off
}

type moment struct {
	body  string
	cause plug.PrefixCause
}

func (r *recorder) told(c plug.PrefixCause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timeline = append(r.timeline, moment{cause: c})
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost { // the list of models
		http.NotFound(w, req)
		return
	}
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.timeline = append(r.timeline, moment{body: string(body)})
	r.asked++
	n, broken := r.asked, r.breaks
	r.breaks = false
	r.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	text, calls := fmt.Sprint("answer ", n), 0
	switch {
	case bytes.Contains(body, []byte("is about to be replaced by a checkpoint")):
		text = `{"goal":"to look"}`
	case n%4 != 0 && !broken:
		calls = 1 + n%2
	}
	chat := strings.HasSuffix(req.URL.Path, "/chat/completions")
	if chat {
		chatAnswer(w, text, n, calls, broken)
	} else {
		responsesAnswer(w, text, n, calls, broken)
	}
}

func chatAnswer(w io.Writer, text string, n, calls int, broken bool) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
	if broken {
		return
	}
	for i := range calls {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d%d\",\"type\":\"function\",\"function\":{\"name\":\"list_files\",\"arguments\":%q}}]}}]}\n\n",
			i, n, i, fmt.Sprintf(`{"limit":%d}`, n+i+1))
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func responsesAnswer(w io.Writer, text string, n, calls int, broken bool) {
	fmt.Fprintf(w, "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m%d\",\"output_index\":0,\"content_index\":0,\"delta\":%q}\n\n", n, text)
	if broken {
		return
	}
	items := []string{fmt.Sprintf(`{"type":"message","id":"m%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":%q,"annotations":[]}]}`, n, text)}
	for i := range calls {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"f%d%d","call_id":"c%d%d","name":"list_files","status":"completed","arguments":%q}`,
			n, i, n, i, fmt.Sprintf(`{"limit":%d}`, n+i+1)))
	}
	fmt.Fprintf(w, "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r%d\",\"status\":\"completed\",\"output\":[%s]}}\n\n", n, strings.Join(items, ","))
}

// piped is a client of a server that no real clock is part of.
func piped(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: h}
	var served sync.WaitGroup
	served.Go(func() { _ = srv.Serve(l) })
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		served.Wait()
	})
	return &http.Client{Transport: tr}
}

// pipes is a listener of pipes.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// tail is what stands behind the messages of a body.
var tail = regexp.MustCompile(`\](,"(parallel_tool_calls|include|stream_options|prompt_cache_key|reasoning|reasoning_effort|max_tokens|max_output_tokens)":.*)?\}$`)

// kept is what of a body the next one has to begin with: all up to its last message, but
// not what was told with that request alone.
func kept(t *testing.T, body string) string {
	t.Helper()
	at := tail.FindStringIndex(body)
	if at == nil || !json.Valid([]byte(body)) {
		t.Fatalf("not a body: %.200s … %s", body, body[max(0, len(body)-200):])
	}
	body = body[:at[0]]
	if i := strings.LastIndex(body, `,{"role":"user","content":"[note of the program]`); i >= 0 && !strings.Contains(body[i+1:], `},{`) {
		body = body[:i]
	}
	return body
}

// Golden: over 50 turns, midnight, other processes, other permissions, agents and models,
// a broken answer, a compaction and its undo, each request begins with the bytes of the
// last up to its new messages, or prefix_changed has told the cause; and it tells
// nothing else (spec runner.md, "Stable prefix").
func TestThePrefixIsStable(t *testing.T) {
	for _, protocol := range []string{"chat", "responses"} {
		t.Run(protocol, func(t *testing.T) {
			dir := realPath(t.TempDir())
			synctest.Test(t, func(t *testing.T) { prefixOver(t, protocol, dir) })
		})
	}
}

func prefixOver(t *testing.T, protocol, dir string) {
	r := &recorder{}
	client := piped(t, r)
	open := func(policy perm.Policy) *App {
		var p llm.Provider = chatapi.New(chatapi.Config{ID: "wire", BaseURL: "http://host/v1", HTTP: client})
		if protocol == "responses" {
			p = responses.New(responses.Config{ID: "wire", BaseURL: "http://host/v1", HTTP: client})
		}
		return engine(t, "sqlite", dir, Options{Provider: p, Policy: policy})
	}
	ctx := context.Background()
	a, id := open(perm.Policy{}), ""
	next := 0
	say := func(times int) {
		t.Helper()
		for range times {
			next++
			out, err := a.Run(ctx, id, fmt.Sprint("prompt ", next), RunOptions{OnEvent: func(e plug.Event) {
				if d, ok := e.Data.(plug.PrefixChanged); ok {
					r.told(d.Cause)
				}
			}})
			if err != nil || out.Status != Completed {
				t.Fatalf("prompt %d: %+v, %v, %v", next, out, err, out.Err)
			}
			id = out.SessionID
		}
	}
	reopen := func(policy perm.Policy) {
		t.Helper()
		if err := a.Close(ctx); err != nil {
			t.Fatal(err)
		}
		a = open(policy)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []plug.PrefixCause{plug.PrefixTools, plug.PrefixAgent, plug.PrefixAgent, plug.PrefixModel, plug.PrefixCompaction, plug.PrefixUndo}
	say(3)
	time.Sleep(26 * time.Hour) // midnight passes
	say(2)
	reopen(perm.Policy{}) // another process, in the same words
	say(2)
	r.mu.Lock()
	r.breaks = true
	r.mu.Unlock()
	say(1)
	reopen(perm.Policy{AllowWrite: true})
	say(2)
	must(a.SetAgent(id, "plan"))
	say(1)
	must(a.SetAgent(id, "build"))
	say(1)
	_, err := a.SetModel(ctx, id, "other")
	must(err)
	say(2)
	_, err = a.Compact(ctx, id, "")
	must(err)
	r.told(plug.PrefixCompaction)
	say(1)
	_, err = a.UndoCompaction(ctx, id)
	must(err)
	r.told(plug.PrefixUndo)
	say(2)

	checkTimeline(t, r.timeline, want)
	checkSent(t, a, id)
}

// checkTimeline is the rule: the bytes, or a cause.
func checkTimeline(t *testing.T, timeline []moment, want []plug.PrefixCause) {
	t.Helper()
	var causes, all []plug.PrefixCause
	last, turns := "", 0
	for _, m := range timeline {
		if m.body == "" {
			causes, all = append(causes, m.cause), append(all, m.cause)
			continue
		}
		begins := last == "" || strings.HasPrefix(m.body, last)
		if strings.Contains(m.body, "is about to be replaced by a checkpoint") {
			// It has the older messages alone, and behind them what is asked of it.
			if head, _, _ := strings.Cut(m.body, `,{"role":"user","content":"[note of the program] The conversation so far`); !strings.HasPrefix(last, head) {
				t.Errorf("request %d, for a checkpoint, begins anew: %s", turns, differs(last, head))
			}
			continue
		}
		turns++
		if begins == (len(causes) > 0) {
			t.Errorf("request %d: begins with the last one's bytes: %v, told: %v\n%s", turns, begins, causes, differs(last, m.body))
		}
		causes, last = nil, kept(t, m.body)
	}
	if turns < 50 {
		t.Errorf("only %d turns", turns)
	}
	if !slices.Equal(all, want) {
		t.Errorf("told %v, want %v", all, want)
	}
}

func differs(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at %d: …%q, then …%q", i, a[max(0, i-40):min(len(a), i+80)], b[max(0, i-40):min(len(b), i+80)])
}

// checkSent is what is stored of it, for sessions show --prefix.
func checkSent(t *testing.T, a *App, id string) {
	t.Helper()
	events, _ := storedEvents(t, a, id)
	low, unknown := 0, 0
	for _, e := range events {
		d, ok := e.Data.(plug.TurnCompleted)
		if !ok {
			continue
		}
		switch {
		case d.Sent == nil || d.Sent.Bytes == 0 || len(strings.Fields(d.Sent.Key)) != 4:
			t.Fatalf("turn %d tells of %+v", d.Turn, d.Sent)
		case d.Sent.Shared == nil:
			unknown++
		case 10*(*d.Sent.Shared) < 5*d.Sent.Bytes:
			low++
		}
	}
	if unknown != 3 || low == 0 || low > 6 {
		t.Errorf("%d requests are the first of a process, of %d less than half is shared", unknown, low)
	}
}
