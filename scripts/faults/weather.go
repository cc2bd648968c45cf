package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// weather gives sessions to servers that do everything that servers do, and to people
// who stop and kill their runs meanwhile:
//
//	random replies ─► fakellm -strict -single ◄─ run, resume, resume, … ─► looked at
//	                                               each stopped, killed or let be
//
// Each request passes one check of what servers take (scripts/fakellm, strict.go) and
// repeats the one before it; each call has one result in the end; no tool ran twice, and
// none that is told as done did not run.
type weather struct {
	binary, fakellm, dir string
	n                    int
	seed                 uint64
	workers              int

	mu    sync.Mutex
	tally forecast
}

// forecast counts what came.
type forecast struct {
	processes, stopped, killed int
	requests, calls, ran       int
	uncertain                  int
	events                     map[string]int
}

// prompts is how many prompts a session gets in bad weather; retries how many may be
// needed afterwards until one succeeds.
const (
	prompts = 5
	retries = 12
)

func (c *weather) all(ctx context.Context, out io.Writer) error {
	root, err := repository()
	if err != nil {
		return err
	}
	c.fakellm, c.tally.events = filepath.Join(c.dir, "fakellm"), map[string]int{}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", c.fakellm, "./scripts/fakellm")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build fakellm: %w\n%s", err, text)
	}
	start := time.Now()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for worker := range c.workers {
		wg.Go(func() {
			for i := worker; i < c.n && ctx.Err() == nil; i += c.workers {
				if err := c.one(ctx, i); err != nil {
					stop(fmt.Errorf("session %d: %w", i, err))
				}
			}
		})
	}
	wg.Wait()
	t := c.tally
	fmt.Fprintf(out, "seed %d: %d sessions in %v: %d processes, %d stopped, %d killed, %d requests, %d calls, %d commands ran, %d times uncertain\n",
		c.seed, c.n, time.Since(start).Round(time.Second/10), t.processes, t.stopped, t.killed, t.requests, t.calls, t.ran, t.uncertain)
	fmt.Fprintf(out, "events: %v\n", t.events)
	return context.Cause(ctx)
}

// storm is one session.
type storm struct {
	*weather
	*world
	*rand.Rand
	session string
	mode    string
	server  *exec.Cmd
	// complaints is what the server prints of requests that it refuses.
	complaints strings.Builder
	url, log   string
}

func (c *weather) one(ctx context.Context, i int) (err error) {
	r := rand.New(rand.NewPCG(c.seed, uint64(i)))
	dir := filepath.Join(c.dir, fmt.Sprintf("session-%d", i))
	w, err := newWorld(c.binary, dir, nil)
	if err != nil {
		return err
	}
	s := &storm{weather: c, world: w, Rand: r, mode: []string{"chat", "responses"}[r.IntN(2)], log: filepath.Join(dir, "requests.jsonl")}
	const limits = `{"limits": {"firstTokenTimeoutMs": 500, "idleTimeoutMs": 500, "maxTurns": 20}}`
	if err := os.WriteFile(filepath.Join(w.config(), "config.json"), []byte(limits), 0o600); err != nil {
		return err
	}
	if err := s.serve(ctx, dir); err != nil {
		return err
	}
	defer func() {
		_ = s.server.Process.Kill() // an error says that it has ended
		_ = s.server.Wait()
		if s.complaints.Len() > 0 {
			err = errors.Join(err, fmt.Errorf("the server refused: %s", short(s.complaints.String())))
		}
		if err == nil {
			err = os.RemoveAll(dir)
		}
	}()
	for n := range prompts {
		if err := s.prompt(ctx, n); err != nil {
			return fmt.Errorf("prompt %d: %w", n+1, err)
		}
	}
	if err := s.clearUp(ctx); err != nil {
		return err
	}
	return s.judge(ctx)
}

// serve starts the server with random replies.
func (s *storm) serve(ctx context.Context, dir string) error {
	var replies []json.RawMessage
	for i := range 4 + s.IntN(16) {
		replies = append(replies, s.reply(i))
	}
	replies = append(replies, json.RawMessage(`{"text":"It is over.","repeat":-1}`))
	data, err := json.MarshalIndent(map[string][]json.RawMessage{"replies": replies}, "", " ")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "replies.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	s.server = exec.CommandContext(ctx, s.fakellm, "-strict", "-single", "-log", s.log, file)
	s.server.Stderr = &s.complaints
	stdout, err := s.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.server.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("start fakellm: %w", err)
	}
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	return nil
}

// scripted is a reply of fakellm, of which this program uses a part.
type scripted struct {
	Text      string            `json:"text,omitempty"`
	Reasoning string            `json:"reasoning,omitempty"`
	Calls     []scriptedCall    `json:"calls,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
	Error     *scriptedFailure  `json:"error,omitempty"`
	Raw       *string           `json:"raw,omitempty"`
	Body      any               `json:"body,omitempty"`
	Status    int               `json:"status,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Chunk     int               `json:"chunk,omitempty"`
	Pause     int               `json:"chunkDelayMs,omitempty"`
	Bytes     int               `json:"writeBytes,omitempty"`
	CutAfter  *int              `json:"cutAfter,omitempty"`
	Reset     bool              `json:"reset,omitempty"`
	Hang      bool              `json:"hang,omitempty"`
}

type scriptedCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

type scriptedFailure struct {
	Cause   string `json:"cause"`
	Message string `json:"message"`
}

// reply is the i-th reply: an answer, mostly with something wrong, or no answer.
func (s *storm) reply(i int) json.RawMessage {
	var r scripted
	if s.IntN(4) > 0 {
		r = s.turn(i)
		s.spoil(&r)
	} else {
		r = s.refusal()
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil // The values are structs of strings and numbers.
	}
	return data
}

// turn is an answer of text and calls; each command in it has a mark of its own.
func (s *storm) turn(i int) scripted {
	r := scripted{Chunk: 1 + s.IntN(20)}
	if s.IntN(3) > 0 {
		r.Text = fmt.Sprintf("Answer %d says a few words. ", i)
	}
	if s.IntN(4) == 0 {
		r.Reasoning = "Let me think about this."
	}
	for k := range s.IntN(5) {
		c := s.call(fmt.Sprintf("%d-%d", i, k))
		switch s.IntN(6) {
		case 0:
			c.ID = "the_same"
		case 1:
			c.ID = strings.Repeat("long", 10)
		case 2:
			c.ID = "bell\a"
		}
		r.Calls = append(r.Calls, c)
	}
	return r
}

// call is one call of any effect, or one that is none.
func (s *storm) call(mark string) scriptedCall {
	switch s.IntN(10) {
	case 0, 1, 2:
		return scriptedCall{Name: "shell", Arguments: shellArgs{"echo m" + mark + " >> count"}}
	case 3:
		return scriptedCall{Name: "shell", Arguments: shellArgs{"echo m" + mark + " >> count; sleep 0.3"}}
	case 4:
		return scriptedCall{Name: "write_file", Arguments: writeArgs{Path: "w" + mark, Content: mark}}
	case 5, 6:
		return scriptedCall{Name: "read_file", Arguments: readArgs{"count"}}
	case 7:
		return scriptedCall{Name: []string{"no_such_tool", "a.b c", "Ünï", strings.Repeat("n", 90)}[s.IntN(4)], Arguments: "{}"}
	default:
		odd := []string{``, `null`, `[1]`, `"text"`, `7`, `{"path":`, `{"path":"a"}}`, `{'path':'a'}`, `{"path":"a","path":"b"}`, "{\"path\":\"\\ud800\"}"}
		return scriptedCall{Name: []string{"read_file", "shell", "write_file"}[s.IntN(3)], Arguments: odd[s.IntN(len(odd))]}
	}
}

// spoil lets something go wrong on the way of an answer.
func (s *storm) spoil(r *scripted) {
	switch s.IntN(12) {
	case 0, 1:
		at := s.IntN(1500) - 1
		r.CutAfter, r.Reset = &at, s.IntN(2) == 0
	case 2:
		at := s.IntN(1500)
		r.CutAfter, r.Hang = &at, true
	case 3:
		r.Truncated = true
	case 4:
		r.Truncated = true
		if n := len(r.Calls); n > 0 {
			r.Calls[n-1].Arguments = `{"path":"a","content":"half of `
		}
	case 5:
		if r.Text+r.Reasoning != "" || len(r.Calls) > 0 {
			r.Error = &scriptedFailure{[]string{"server", "rate_limited", "quota"}[s.IntN(3)], "it broke, retry after 10ms"}
		}
	case 6:
		r.Bytes, r.Pause = 40+s.IntN(200), 5
	}
}

// refusal is no answer.
func (s *storm) refusal() scripted {
	soon := map[string]string{"retry-after-ms": "10"}
	raw := func(text string) *string { return &text }
	switch s.IntN(8) {
	case 0:
		return scripted{Status: []int{408, 429, 500, 502, 503, 529}[s.IntN(6)], Headers: soon}
	case 1:
		return scripted{Status: []int{401, 403, 404, 413, 418}[s.IntN(5)]}
	case 2:
		return scripted{Hang: true}
	case 3:
		return scripted{Raw: raw("")}
	case 4:
		return scripted{Raw: raw("data: [DONE]\n\n")}
	case 5:
		return scripted{Raw: raw(": ping\n\ndata: {{{ nothing\n\n")}
	case 6:
		return scripted{Body: "<html>no model lives here</html>"}
	}
	at := -1
	return scripted{CutAfter: &at, Reset: s.IntN(2) == 0}
}

// args is the command line of a prompt.
func (s *storm) args(say string, acknowledge bool) []string {
	flags := []string{"-m", "m", "--base-url", s.url, "--allow-write", "--allow-process", "--json"}
	if acknowledge {
		flags = append(flags, "--acknowledge-uncertain")
	}
	if s.session == "" {
		return append(append([]string{"run"}, flags...), say)
	}
	return append(append([]string{"resume"}, flags...), s.session, say)
}

// codes are how processes may end here: by what servers do, by a doubt, by a signal.
var codes = []int{0, 1, 3, 5, 7, 9, 130}

// prompt gives the session one prompt, and perhaps stops or kills the process.
func (s *storm) prompt(ctx context.Context, n int) error {
	p, err := s.startIn(ctx, s.args(fmt.Sprintf("prompt %d", n+1), s.IntN(2) == 0)...)
	if err != nil {
		return err
	}
	what := s.IntN(3)
	if what > 0 {
		timer := time.NewTimer(time.Duration(s.IntN(1500)) * time.Millisecond)
		select {
		case <-timer.C:
		case <-p.done:
		}
		timer.Stop()
	}
	switch what {
	case 1:
		_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended
	case 2:
		p.kill()
	}
	e, err := p.wait()
	if err != nil {
		return err
	}
	return s.look(ctx, e)
}

// startIn starts the program with the protocol of this session.
func (s *storm) startIn(ctx context.Context, args ...string) (*process, error) {
	return s.startWith(ctx, []string{"ALISIO_API_MODE=" + s.mode}, args...)
}

// look checks what a process left.
func (s *storm) look(ctx context.Context, e ended) error {
	s.count(e)
	if !e.killed && !slices.Contains(codes, e.code) {
		return errors.New(e.String())
	}
	for _, code := range []string{"internal", "store"} {
		if strings.Contains(e.stdout, `"code":"`+code+`"`) {
			return fmt.Errorf("a run failed by %s: %v", code, e)
		}
	}
	if s.session == "" {
		list, err := s.list(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		s.session = list[0].ID
	}
	c, err := s.show(ctx, s.session)
	if err == nil {
		err = c.pairs(e.killed || e.code == 9)
	}
	if err == nil {
		err = c.holds(e.stdout)
	}
	if err != nil {
		return fmt.Errorf("after %v: %w", e, err)
	}
	return nil
}

func (s *storm) count(e ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.weather.tally
	t.processes++
	switch {
	case e.killed:
		t.killed++
	case e.code == 130:
		t.stopped++
	case e.code == 9:
		t.uncertain++
	}
	for _, kind := range []string{"request_retry", "stream_recovery", "truncation_recovery", "response_truncated", "run_completed", "run_failed", "run_cancelled"} {
		t.events[kind] += strings.Count(e.stdout, `"type":"`+kind+`"`)
	}
}

// clearUp lets a run succeed, which the replies allow sooner or later.
func (s *storm) clearUp(ctx context.Context) error {
	for range retries {
		p, err := s.startIn(ctx, s.args("now in good weather", true)...)
		if err != nil {
			return err
		}
		e, err := p.wait()
		if err == nil {
			err = s.look(ctx, e)
		}
		if err != nil || e.code == 0 {
			return err
		}
	}
	return fmt.Errorf("no run succeeded in %d", retries)
}

// judge checks the end: the history, and what the tools did.
func (s *storm) judge(ctx context.Context) error {
	if err := s.doctor(ctx); err != nil {
		return err
	}
	c, err := s.show(ctx, s.session)
	if err == nil {
		err = c.pairs(false)
	}
	if err == nil {
		err = c.once()
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(s.work(), "count"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ran := map[string]int{}
	for mark := range strings.Lines(string(data)) {
		if mark = strings.TrimSpace(mark); ran[mark] > 0 {
			return fmt.Errorf("the command of %s ran twice", mark)
		}
		ran[mark]++
	}
	calls := 0
	for mark, said := range c.commands() {
		calls++
		switch {
		case said.IsError || strings.Contains(said.text(), "unknown"):
			if strings.Contains(said.text(), "not executed") && ran[mark] > 0 {
				return fmt.Errorf("the command of %s is told as not executed and ran", mark)
			}
		case ran[mark] != 1:
			return fmt.Errorf("the command of %s is told as done and did not run", mark)
		}
		delete(ran, mark)
	}
	if len(ran) > 0 {
		return fmt.Errorf("commands %v ran and the history knows nothing of them", ran)
	}
	log, err := os.ReadFile(s.log)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.weather.tally
	t.calls += calls
	t.ran += strings.Count(string(data), "\n")
	t.requests += strings.Count(string(log), "\n")
	return err
}
