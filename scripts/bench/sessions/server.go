package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// serverTime is how long the server waits before it answers.
const serverTime = time.Millisecond

// server speaks just enough HTTP to answer a run: package net/http would double
// the memory of this program, and with it what its children are charged for.
type server struct {
	url string
	l   net.Listener
	wg  sync.WaitGroup

	mu sync.Mutex
	// turns with a call are left before the answer.
	turns int
	first time.Time
}

func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + l.Addr().String() + "/v1", l: l}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *server) close() error {
	err := s.l.Close()
	s.wg.Wait()
	return err
}

func (s *server) accept() {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer c.Close()
			r := bufio.NewReader(c)
			for s.answer(r, c) == nil {
			}
		})
	}
}

// expect prepares for a run of so many turns with a call.
func (s *server) expect(turns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns, s.first = turns, time.Time{}
}

// firstAt is when the first request of the run had arrived whole.
func (s *server) firstAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// answer reads one request and answers it.
func (s *server) answer(r *bufio.Reader, w io.Writer) error {
	length := int64(0)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return err
			}
		}
	}
	if length == 0 {
		return errors.New("a request without a length")
	}
	if _, err := io.CopyN(io.Discard, r, length); err != nil {
		return err
	}
	body := s.next()
	time.Sleep(serverTime)
	_, err := fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// next is the next answer: a file to write, or the last word.
func (s *server) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	delta, finish := `{"role":"assistant","content":"Hello."}`, "stop"
	if s.turns > 0 {
		args := strconv.Quote(fmt.Sprintf(`{"path":"f%d.txt","content":"one line\n","expectedHash":null}`, s.turns))
		delta = fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"call%d","type":"function","function":{"name":"write_file","arguments":%s}}]}`, s.turns, args)
		finish = "tool_calls"
		s.turns--
	}
	const chunk = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	return fmt.Sprintf(chunk, delta, "null") + fmt.Sprintf(chunk, "{}", strconv.Quote(finish)) +
		`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}` +
		"\n\ndata: [DONE]\n\n"
}
