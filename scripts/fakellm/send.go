package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"alisio/llm"
)

// errCut says that the body has reached the place where the reply is cut.
var errCut = errors.New("the reply is cut here")

// voice is an answer in the words of one protocol.
type voice interface {
	// events yields the events of a stream, whole; bulk those of n deltas of size
	// bytes each.
	events() iter.Seq[[]byte]
	bulk(n, size int) iter.Seq[[]byte]
	// whole is the answer to a request that asked for no stream.
	whole() []byte
	// failure is the error that the turn ends with, or nil.
	failure() *llm.Error
}

// sender writes one reply to one connection, faults included.
type sender struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	ctx   context.Context // ends when the client leaves
	reply *reply
	flush bool // send each write at once
	sent  int  // bytes of the body
	wrote bool
}

// send writes a reply: wait, headers, body in pieces, and then the end that
// the script wants for the connection.
func send(w http.ResponseWriter, r *http.Request, rep *reply, v voice, stream bool) {
	s := &sender{w: w, c: http.NewResponseController(w), ctx: r.Context(), reply: rep}
	if !wait(s.ctx, rep.DelayMs) {
		return
	}
	if rep.CutAfter != nil && *rep.CutAfter < 0 {
		s.end()
		return
	}
	kind, pieces := body(rep, v, stream)
	w.Header().Set("Content-Type", kind)
	s.flush = kind == "text/event-stream" || rep.WriteBytes > 0 || s.faulty()
	for name, value := range rep.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status(rep, v, stream))
	if s.faulty() {
		s.c.Flush() // The headers must leave before the connection breaks.
	}
	for p := range pieces {
		if err := s.write(p); err != nil {
			if !errors.Is(err, errCut) {
				return
			}
			break
		}
	}
	s.end()
}

// body chooses what the reply sends.
func body(rep *reply, v voice, stream bool) (kind string, pieces iter.Seq[[]byte]) {
	const events, plain = "text/event-stream", "application/json"
	one := func(b []byte) iter.Seq[[]byte] { return slices.Values([][]byte{b}) }
	var s string
	switch {
	case rep.bytes != nil:
		return events, one(rep.bytes)
	case rep.Body != nil && json.Unmarshal(rep.Body, &s) == nil:
		return "text/plain; charset=utf-8", one([]byte(s))
	case rep.Body != nil:
		return plain, one(rep.Body)
	case rep.Bulk != nil:
		return events, v.bulk(rep.Bulk.Deltas, rep.Bulk.Bytes)
	case rep.Status >= 300:
		return plain, one(errorBody("scripted status "+strconv.Itoa(rep.Status), "scripted"))
	case rep.Hang && rep.CutAfter == nil && rep.emptyTurn():
		return events, one(nil)
	case stream:
		return events, v.events()
	case v.failure() != nil:
		return plain, one(errorBody(v.failure().Message, string(v.failure().Cause)))
	}
	return plain, one(v.whole())
}

func status(rep *reply, v voice, stream bool) int {
	switch {
	case rep.Status != 0:
		return rep.Status
	case !stream && v.failure() != nil:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// faulty reports whether the response will not end as it should.
func (s *sender) faulty() bool {
	return s.reply.CutAfter != nil || s.reply.Reset || s.reply.Hang
}

// write sends one piece of the body, in TCP writes of the size that the reply
// names, up to the place where it is cut.
func (s *sender) write(p []byte) error {
	cut := false
	if c := s.reply.CutAfter; c != nil && s.sent+len(p) >= *c {
		p, cut = p[:*c-s.sent], true
	}
	size := s.reply.WriteBytes
	if size == 0 {
		size = max(1, len(p))
	}
	for b := range slices.Chunk(p, size) {
		if s.wrote && !wait(s.ctx, s.reply.ChunkDelayMs) {
			return s.ctx.Err()
		}
		s.wrote = true
		n, err := s.w.Write(b)
		s.sent += n
		if err != nil {
			return err
		}
		if !s.flush {
			continue // A plain answer goes out whole, with its length.
		}
		if err := s.c.Flush(); err != nil {
			return err
		}
	}
	if cut {
		return errCut
	}
	return nil
}

// end leaves the connection as the script wants it. Without a fault net/http
// ends the response.
func (s *sender) end() {
	switch {
	case s.reply.PingMs > 0:
		s.ping()
	case s.reply.Hang:
		<-s.ctx.Done()
	case s.reply.Reset || s.reply.CutAfter != nil:
		conn, _, err := s.c.Hijack()
		if err != nil {
			return // The client is gone.
		}
		if tcp, ok := conn.(*net.TCPConn); ok && s.reply.Reset {
			tcp.SetLinger(0)
		}
		conn.Close()
	}
}

// ping goes on until the client leaves, with something that is no part of an answer.
func (s *sender) ping() {
	one := []byte(": ping\n\n")
	if s.reply.Ping != "" {
		one = unescape(s.reply.Ping)
	}
	for wait(s.ctx, s.reply.PingMs) {
		if _, err := s.w.Write(one); err != nil || s.c.Flush() != nil {
			return
		}
	}
}

// wait pauses and reports whether the client is still there.
func wait(ctx context.Context, ms int) bool {
	if ms == 0 {
		return true
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
