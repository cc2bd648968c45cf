package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"alisio/llm/script"
)

// maxBody bounds a request in bytes.
const maxBody = 64 << 20

// server answers requests with the replies of a scenario, in the order in
// which the requests have arrived whole.
type server struct {
	*scenario
	stderr io.Writer
	log    io.Writer     // nil for none
	done   chan struct{} // closed when the last reply was sent
	// strict: requests must have histories that every server takes; single: and all be
	// of one conversation, each repeating the one before it.
	strict, single bool

	mu       sync.Mutex
	requests int // logged
	answers  int // replies handed out, repeats counted
	index    int // of the reply that is next
	served   int // times that it was handed out
	sending  int // replies handed out and not yet sent
	failures int
	vars     map[string]string
	// given are the items of answers so far.
	given []pieces
	// said is the last request of a single conversation.
	said conversation
}

func newServer(sc *scenario, stderr io.Writer) *server {
	s := &server{scenario: sc, stderr: stderr, done: make(chan struct{}), vars: map[string]string{}}
	if len(sc.replies) == 0 {
		close(s.done)
	}
	return s
}

func (s *server) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures > 0
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // The client left, or sent more than any client does.
	}
	s.record(r, body)
	switch {
	case s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key:
		refuse(w, http.StatusUnauthorized, "incorrect API key provided", "invalid_api_key")
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.catalog(w)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.answer(w, r, body, false)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		s.answer(w, r, body, true)
	default:
		refuse(w, http.StatusNotFound, "no such path: "+r.Method+" "+r.URL.Path, "not_found")
	}
}

// record writes the log's line. Of headers that carry a secret only their
// presence and four digits of a hash are kept.
func (s *server) record(r *http.Request, body []byte) {
	if s.log == nil {
		return
	}
	type line struct {
		N       int               `json:"n"`
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}
	l := line{Method: r.Method, Path: r.URL.RequestURI(), Headers: map[string]string{}, Body: body}
	for name, values := range r.Header {
		l.Headers[name] = strings.Join(values, ", ")
		if secret(name) {
			l.Headers[name] = fingerprint(l.Headers[name])
		}
	}
	switch {
	case len(body) == 0:
		l.Body = json.RawMessage("null")
	case !json.Valid(body):
		l.Body = encode(string(body))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	l.N = s.requests
	if _, err := s.log.Write(append(encode(l), '\n')); err != nil {
		fmt.Fprintln(s.stderr, "error: write log:", err)
		s.failures++
	}
}

func secret(header string) bool {
	switch header {
	case "Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie":
		return true
	}
	return false
}

// fingerprint tells two keys apart without telling the key: the last four hex
// digits of the SHA-256 of the value without "Bearer ".
func fingerprint(value string) string {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(value, "Bearer ")))
	h := hex.EncodeToString(sum[:])
	return "present:" + h[len(h)-4:]
}

// catalog answers GET /models; a plain id becomes OpenAI's object.
func (s *server) catalog(w http.ResponseWriter) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	type list struct {
		Object string            `json:"object"`
		Data   []json.RawMessage `json:"data"`
	}
	out := list{Object: "list", Data: []json.RawMessage{}}
	for _, m := range s.models {
		var id string
		if json.Unmarshal(m, &id) == nil {
			m = encode(model{ID: id, Object: "model", Created: created, OwnedBy: "fakellm"})
		}
		out.Data = append(out.Data, m)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(out))
}

// request is what the server reads of a request, in either protocol.
type request struct {
	Model         string    `json:"model"`
	Stream        bool      `json:"stream"`
	StreamOptions *struct { // nil when not sent
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Include  []string `json:"include"`
	Messages []entry  `json:"messages"`
	// Input is a string, or a list of entries.
	Input json.RawMessage `json:"input"`
}

// entry is a message, or an item of a Responses input.
type entry struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Type    string          `json:"type"`
	Output  json.RawMessage `json:"output"`
}

// answer sends the next reply.
func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte, responses bool) {
	req, err := read(body, responses)
	if err != nil {
		s.fail(w, err.Error())
		return
	}
	rep, n := s.take()
	if rep == nil {
		s.fail(w, fmt.Sprintf("the script is over: it has no reply for request %d", n))
		return
	}
	defer s.sent()
	err = s.sound(body, responses)
	if err == nil {
		err = rep.Expect.mismatch(body)
	}
	if err == nil && responses {
		err = s.paired(body)
	}
	if err != nil {
		s.fail(w, fmt.Sprintf("request %d: %v", n, err))
		return
	}
	a, err := s.ready(rep, n, req)
	if err != nil {
		s.fail(w, fmt.Sprintf("request %d: %v", n, err))
		return
	}
	send(w, r, rep, s.voice(rep, n, req, a, responses), req.Stream)
}

// sound checks what the flags ask for.
func (s *server) sound(body []byte, responses bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.single {
		if err := s.said.goesOn(body); err != nil {
			return err
		}
	}
	if s.strict {
		return check(body, responses)
	}
	return nil
}

// read decodes a request, which is one of its protocol.
func read(body []byte, responses bool) (*request, error) {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, fmt.Errorf("the request is none of this protocol: %w", err)
	}
	if !responses {
		return &req, nil
	}
	var text string
	switch {
	case req.Messages != nil || req.Input == nil:
		return nil, errors.New("a request for a response has an input and no messages")
	case json.Unmarshal(req.Input, &text) == nil:
	case json.Unmarshal(req.Input, &req.Messages) != nil:
		return nil, errors.New("the input is neither a text nor a list of items")
	}
	return &req, nil
}

// voice gives an answer the words of its protocol.
func (s *server) voice(rep *reply, n int, req *request, a *script.Answer, responses bool) voice {
	if !responses {
		v := &render{id: fmt.Sprintf("chatcmpl-%d", n), model: req.Model, Answer: a}
		if req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
			v.usage = newUsage(a.Usage)
		}
		return v
	}
	v := &responder{n: n, model: req.Model, encrypted: slices.Contains(req.Include, "reasoning.encrypted_content"), Answer: a}
	if !rep.emptyTurn() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.given = append(s.given, v.sentItems())
	}
	return v
}

// paired holds that items which come back come as they were given.
func (s *server) paired(body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	body = anyCall(body)
	for _, p := range s.given {
		if err := p.broken(body); err != nil {
			return err
		}
	}
	return nil
}

// ready makes the reply's turn ready; captures last for the later ones.
func (s *server) ready(rep *reply, n int, req *request) (*script.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rep.Turn.Answer(n, results(req), s.vars)
}

// take hands out the next reply and the number of this request, from 1.
func (s *server) take() (*reply, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	if s.index >= len(s.replies) {
		return nil, s.answers
	}
	rep := &s.replies[s.index]
	s.served++
	s.sending++
	if rep.Repeat >= 0 && s.served >= max(1, rep.Repeat) {
		s.index, s.served = s.index+1, 0
	}
	return rep, s.answers
}

// sent marks a reply as sent, and the end when it was the last one.
func (s *server) sent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending--
	if s.index == len(s.replies) && s.sending == 0 {
		close(s.done)
	}
}

// fail answers with 400, which no client repeats, and spoils the exit code.
func (s *server) fail(w http.ResponseWriter, message string) {
	s.mu.Lock()
	s.failures++
	fmt.Fprintln(s.stderr, "error:", message)
	s.mu.Unlock()
	refuse(w, http.StatusBadRequest, "fakellm: "+message, "script_mismatch")
}

func refuse(w http.ResponseWriter, status int, message, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(errorBody(message, code))
}

// results joins the text of the tool results since the last assistant message,
// or what stands for one, with newlines.
func results(req *request) string {
	var out []byte
	for _, m := range req.Messages {
		content := m.Content
		switch {
		case m.Role == "assistant", m.Type == "reasoning", m.Type == "function_call":
			out = nil
			continue
		case m.Type == "function_call_output":
			content = m.Output
		case m.Role != "tool":
			continue
		}
		if out != nil {
			out = append(out, '\n')
		}
		out = append(out, text(content)...)
	}
	return string(bytes.TrimSuffix(out, []byte("\n")))
}

// text reads the content of a message: a string, or parts of which the text
// ones count.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		s += p.Text
	}
	return s
}
