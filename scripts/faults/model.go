package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// prompt is what a task is given with; the token names it in this whole program.
func prompt(token, kind string) string { return "task " + token + " " + kind }

// answer is one turn of the model.
type answer struct {
	text  string
	calls []toolCall
}

type toolCall struct {
	id, name string
	args     any
}

type shellArgs struct {
	Command string `json:"command"`
}

type writeArgs struct {
	Path         string  `json:"path"`
	Content      string  `json:"content"`
	ExpectedHash *string `json:"expectedHash"`
}

type readArgs struct {
	Path string `json:"path"`
}

type searchArgs struct {
	Pattern string `json:"pattern"`
}

// finished is the last word on a task.
func finished(token string) string { return "Finished with " + token + "." }

// marks are what the commands of a killed task write into the count file.
func marks(token string) []string { return []string{token + "-a", token + "-b", token + "-c"} }

// turns are the answers to a task, in order: long has commands, writes, reads and
// a result that is cut, one has one command, say and slow have none. A task of
// kind slow is not answered before release.
func turns(token, kind string) []answer {
	echo := func(id, mark, more string) toolCall {
		return toolCall{token + "-" + id, "shell", shellArgs{"echo " + mark + " >> count" + more}}
	}
	last := answer{text: finished(token)}
	m := marks(token)
	switch kind {
	case "long":
		return []answer{
			{text: "I begin with a command.", calls: []toolCall{echo("1", m[0], "")}},
			{calls: []toolCall{{token + "-2", "write_file", writeArgs{Path: token + ".txt", Content: "written for " + token + "\n"}}}},
			{text: "Now I look.", calls: []toolCall{
				{token + "-3", "read_file", readArgs{token + ".txt"}},
				{token + "-4", "search_text", searchArgs{"written for " + token}},
				echo("5", m[1], "; seq 1 20000"),
			}},
			{text: "One more.", calls: []toolCall{echo("6", m[2], "; sleep 0.01")}},
			last,
		}
	case "one":
		return []answer{{text: "One call.", calls: []toolCall{echo("1", m[0], "")}}, last}
	}
	return []answer{last}
}

// place says where a task stands, as far as the server knows.
type place uint8

const (
	beforeStart place = iota
	inStream
	inTool
	afterEnd
)

// model is a Chat Completions server that answers by the history.
type model struct {
	url    string
	server *http.Server
	// delay is the pause between two deltas.
	delay time.Duration

	mu       sync.Mutex
	places   map[string]place
	requests map[string]int
	released map[string]chan struct{}
	arrived  map[string]chan struct{}
	errs     []error
}

func newModel(delay time.Duration) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{
		url: "http://" + l.Addr().String() + "/v1", delay: delay,
		places: map[string]place{}, requests: map[string]int{},
		released: map[string]chan struct{}{}, arrived: map[string]chan struct{}{},
	}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := m.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			m.fail(err)
		}
	}()
	return m, nil
}

// close stops the server and tells what went wrong in it.
func (m *model) close() error {
	err := m.server.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(append(m.errs, err)...)
}

func (m *model) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errs = append(m.errs, err)
}

// at returns where a task stands.
func (m *model) at(token string) place {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places[token]
}

func (m *model) set(token string, p place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.places[token] = p
}

// asked returns how many requests a task made.
func (m *model) asked(token string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[token]
}

// gate returns the channel of a token, made when first asked for.
func (m *model) gate(gates map[string]chan struct{}, token string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if gates[token] == nil {
		gates[token] = make(chan struct{})
	}
	return gates[token]
}

// release lets a task of kind slow be answered, once for all its requests.
func (m *model) release(token string) { close(m.gate(m.released, token)) }

// reached is closed when the first request of a task has arrived.
func (m *model) reached(token string) <-chan struct{} { return m.gate(m.arrived, token) }

func (m *model) arrive(token string) {
	gate := m.gate(m.arrived, token)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[token]++
	m.places[token] = inStream
	if m.requests[token] == 1 {
		close(gate)
	}
}

type request struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// stands returns the task that a request is about and how far it has come.
func (r request) stands() (token, kind string, done int, err error) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		switch m := r.Messages[i]; m.Role {
		case "assistant":
			done++
		case "user":
			var text string
			if err := json.Unmarshal(m.Content, &text); err != nil {
				return "", "", 0, err
			}
			words := strings.Fields(text)
			if len(words) != 3 || words[0] != "task" {
				return "", "", 0, fmt.Errorf("the last prompt is %q", text)
			}
			return words[1], words[2], done, nil
		}
	}
	return "", "", 0, errors.New("a request without a prompt")
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return // the client was killed
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		m.fail(err)
		return
	}
	token, kind, done, err := q.stands()
	list := turns(token, kind)
	if err == nil && done >= len(list) {
		err = fmt.Errorf("task %s asked for turn %d of %d", token, done+1, len(list))
	}
	if err != nil {
		m.fail(err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.arrive(token)
	if kind == "slow" {
		select {
		case <-m.gate(m.released, token):
		case <-r.Context().Done():
			return
		}
	}
	m.send(w, list[done])
	next := inTool
	if done == len(list)-1 {
		next = afterEnd
	}
	m.set(token, next)
}

// send streams one answer as servers do.
func (m *model) send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	event := func(delta, finish string) {
		fmt.Fprintf(w, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		_ = flush.Flush() // the client may be dead
	}
	event(`{"role":"assistant","content":""}`, "null")
	for word := range strings.SplitAfterSeq(a.text, " ") {
		if word == "" {
			continue
		}
		event(`{"content":`+quote(word)+`}`, "null")
		if m.delay > 0 {
			time.Sleep(m.delay)
		}
	}
	for i, c := range a.calls {
		args, err := json.Marshal(c.args)
		if err != nil {
			m.fail(err)
			return
		}
		event(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`,
			i, quote(c.id), quote(c.name), quote(string(args))), "null")
	}
	finish := `"stop"`
	if len(a.calls) > 0 {
		finish = `"tool_calls"`
	}
	event(`{}`, finish)
	fmt.Fprint(w, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`+"\n\ndata: [DONE]\n\n")
	_ = flush.Flush() // the client may be dead
}

// quote writes a JSON string; a string always has a JSON form.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
