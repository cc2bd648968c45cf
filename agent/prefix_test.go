package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/llm"
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
	refuses  bool // the next request is refused
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
	n, broken, refused := r.asked, r.breaks, r.refuses
	r.breaks, r.refuses = false, false
	r.mu.Unlock()
	if refused {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	text, calls := fmt.Sprint("answer ", n), 0
	switch {
	case bytes.Contains(body, []byte("is about to be replaced by a checkpoint")):
		text = `{"goal":"to look"}`
	case n%4 != 0 && !broken:
		calls = 1 + n%2
	}
	wireAnswer{n: n, text: text, calls: looks(n, calls), broken: broken}.write(w, req)
}

// looks are calls: the second of two looks below the working directory.
func looks(n, calls int) (all []llm.ToolCall) {
	for i := range calls {
		args := fmt.Sprintf(`{"path":%q,"limit":%d}`, []string{".", "sub"}[i], n+i+1)
		all = append(all, llm.ToolCall{ID: fmt.Sprintf("c%d%d", n, i), Name: "list_files", Arguments: args})
	}
	return all
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

// talk is a session at the recorder, in one process after another.
type talk struct {
	*testing.T
	r        *recorder
	client   *http.Client
	protocol string
	dir      string
	a        *App
	id       string
	prompts  int
	// fails: a prompt may end otherwise than completed.
	fails bool
}

func newTalk(t *testing.T, protocol, dir string) *talk {
	s := &talk{T: t, r: &recorder{}, protocol: protocol, dir: dir}
	s.client = piped(t, s.r)
	s.a = s.open(perm.Policy{})
	return s
}

func (s *talk) open(policy perm.Policy) *App {
	s.Helper()
	return engine(s.T, "sqlite", s.dir, Options{Provider: wired(s.protocol, "http://host", s.client), Policy: policy})
}

// reopen ends the process and begins another.
func (s *talk) reopen(policy perm.Policy) {
	s.Helper()
	s.must(s.a.Close(context.Background()))
	s.a = s.open(policy)
}

func (s *talk) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *talk) say(times int, attachments ...llm.Attachment) {
	s.Helper()
	for range times {
		s.prompts++
		out, err := s.a.Run(context.Background(), s.id, fmt.Sprint("prompt ", s.prompts), RunOptions{Attachments: attachments, OnEvent: func(e plug.Event) {
			if d, ok := e.Data.(plug.PrefixChanged); ok {
				s.r.told(d.Cause)
			}
		}})
		if err != nil || !s.fails && out.Status != Completed {
			s.Fatalf("prompt %d: %+v, %v, %v", s.prompts, out, err, out.Err)
		}
		s.id = out.SessionID
	}
}

// answer has the recorder answer the next request otherwise.
func (s *talk) answer(set func(r *recorder)) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	set(s.r)
}

func (s *talk) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, "work", name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(text), 0o644))
}

func (s *talk) agent(id string) { s.Helper(); s.must(s.a.SetAgent(s.id, id)) }

func (s *talk) model(name string) {
	s.Helper()
	_, err := s.a.SetModel(context.Background(), s.id, name)
	s.must(err)
}

func (s *talk) compact() {
	s.Helper()
	switch told, err := s.a.Compact(context.Background(), s.id, ""); {
	case err != nil:
		s.Fatal(err)
	case told.Done != nil:
		s.r.told(plug.PrefixCompaction)
	}
}

func prefixOver(t *testing.T, protocol, dir string) {
	s := newTalk(t, protocol, dir)
	want := []plug.PrefixCause{plug.PrefixTools, plug.PrefixAgent, plug.PrefixAgent, plug.PrefixModel, plug.PrefixCompaction, plug.PrefixUndo, plug.PrefixInstructions}
	s.write("AGENTS.md", "be friendly")
	s.say(3)
	time.Sleep(26 * time.Hour)             // midnight passes
	s.write("sub/AGENTS.md", "look twice") // comes with the next call there
	s.say(2)
	s.reopen(perm.Policy{}) // another process, in the same words
	s.say(1)
	s.must(s.a.SetEffort(s.id, "high"))
	s.must(s.a.Enqueue(t.Context(), s.id, "and hurry"))
	s.say(1)
	s.answer(func(r *recorder) { r.breaks = true })
	s.say(1)
	s.reopen(perm.Policy{AllowWrite: true})
	s.say(2)
	s.agent("plan")
	s.say(1)
	s.agent("build")
	s.say(1)
	s.model("other")
	s.say(2)
	s.compact()
	s.say(1)
	_, err := s.a.UndoCompaction(t.Context(), s.id)
	s.must(err)
	s.r.told(plug.PrefixUndo)
	s.say(1)
	s.say(1, llm.Attachment{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\nimage")})
	s.write("AGENTS.md", "be brief") // counts for a process that begins
	s.say(1)
	s.reopen(perm.Policy{AllowWrite: true})
	s.model("other")
	s.say(1)

	checkTimeline(t, s.r.timeline, 50, want...)
	for _, said := range []string{"look twice", "and hurry", "image/png", `"effort`, "prompt 16"} {
		if !slices.ContainsFunc(s.r.timeline, func(m moment) bool {
			return strings.Contains(strings.ReplaceAll(m.body, "reasoning_effort", "effort"), said)
		}) {
			t.Errorf("no request says %s", said)
		}
	}
	checkSent(t, s.a, s.id)
}

// Two processes with one session, each of which knows what it sent itself: what the other
// one did in between counts.
func TestThePrefixIsThatOfTheLastProcess(t *testing.T) {
	s := newTalk(t, "chat", realPath(t.TempDir()))
	s.say(1)
	one, two := s.a, s.open(perm.Policy{})
	s.a = two
	s.say(1)
	s.model("other")
	s.say(1)
	s.a = one
	s.say(1)
	checkTimeline(t, s.r.timeline, 9, plug.PrefixModel, plug.PrefixModel)
}

// A request that fails is one, and what was told of it stays told, in another process too.
func TestThePrefixOfARequestThatFailed(t *testing.T) {
	s := newTalk(t, "chat", realPath(t.TempDir()))
	s.say(2)
	s.fails = true
	s.model("other")
	s.answer(func(r *recorder) { r.refuses = true })
	s.say(1)
	s.reopen(perm.Policy{})
	s.model("other")
	s.say(1)
	s.answer(func(r *recorder) { r.refuses = true })
	s.say(1)
	s.model("third")
	s.answer(func(r *recorder) { r.refuses = true })
	s.say(1)
	s.model("other")
	s.say(1)
	checkTimeline(t, s.r.timeline, 12, plug.PrefixModel, plug.PrefixModel, plug.PrefixModel)
}

// The same model at another place, and in another protocol, is another model.
func TestThePrefixOfAnotherProtocol(t *testing.T) {
	s := newTalk(t, "chat", realPath(t.TempDir()))
	s.say(2)
	s.protocol = "responses"
	s.reopen(perm.Policy{})
	s.say(2)
	checkTimeline(t, s.r.timeline, 10, plug.PrefixModel)
}

// Whatever happens in whatever order: a difference and its telling go together.
func TestThePrefixWhateverHappens(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := realPath(t.TempDir())
			synctest.Test(t, func(t *testing.T) { prefixWhatever(t, seed, dir) })
		})
	}
}

func prefixWhatever(t *testing.T, seed uint64, dir string) {
	r := rand.New(rand.NewPCG(seed, 7))
	s := newTalk(t, []string{"chat", "responses"}[seed%2], dir)
	s.fails = true
	s.say(1)
	model, policy := "toy", perm.Policy{}
	for range 14 {
		switch r.IntN(9) {
		case 0:
			s.reopen(policy)
			s.model(model) // as its surface chooses
		case 1:
			policy.AllowWrite = !policy.AllowWrite
			s.reopen(policy)
			s.model(model)
		case 2:
			s.agent([]string{"plan", "build"}[r.IntN(2)])
		case 3:
			model = []string{"toy", "other"}[r.IntN(2)]
			s.model(model)
		case 4:
			s.compact()
		case 5:
			if _, err := s.a.UndoCompaction(t.Context(), s.id); err == nil {
				s.r.told(plug.PrefixUndo)
			}
		case 6:
			s.answer(func(r *recorder) { r.refuses = true })
		case 7:
			s.answer(func(r *recorder) { r.breaks = true })
		}
		s.say(1 + r.IntN(2))
	}
	checkTimeline(t, s.r.timeline, 20)
}

// checkTimeline is the rule: the bytes, or a cause. Without wanted causes any will do.
func checkTimeline(t *testing.T, timeline []moment, least int, want ...plug.PrefixCause) {
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
	if turns < least {
		t.Errorf("only %d turns", turns)
	}
	if len(want) > 0 && !slices.Equal(all, want) {
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
	low, unknown, about := 0, 0, 0
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
		case d.Sent.About:
			about++
		case 10*(*d.Sent.Shared) < 5*d.Sent.Bytes:
			low++
		}
	}
	if unknown != 1 || about != 2 || low == 0 || low > 6 {
		t.Errorf("of %d requests nothing is known, of %d about how much is shared, of %d less than half is", unknown, about, low)
	}
}
