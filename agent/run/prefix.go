package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"alisio/plug"
)

// Sent is what is known of the last request of a session's turns: its bytes, as far as
// this process sent it, and what they were made from. One run at a time uses it.
type Sent struct {
	body []byte
	key  string
}

// causes are those of a key's words, in their order: one that comes first brings the
// others with it.
var causes = [...]plug.PrefixCause{plug.PrefixModel, plug.PrefixAgent, plug.PrefixTools, plug.PrefixInstructions}

// prefixKey stands for what a request is made from beside the messages.
func (l *loop) prefixKey() string {
	tools := sha256.New()
	for _, t := range l.offered {
		part(tools, t.Name, t.Description, string(t.Schema))
	}
	word := func(parts ...string) string {
		h := sha256.New()
		part(h, parts...)
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	return strings.Join([]string{
		word(l.o.Provider.ID(), l.o.Model.ID), word(l.now.Agent), hex.EncodeToString(tools.Sum(nil)[:8]), word(l.now.Instructions),
	}, " ")
}

func part(h hash.Hash, parts ...string) {
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
}

// PrefixCause says why of two requests with these keys the second does not begin with
// the bytes of the first; empty: it does, or one of them is not known.
func PrefixCause(was, now string) plug.PrefixCause {
	a, b := strings.Fields(was), strings.Fields(now)
	if len(a) != len(causes) || len(b) != len(causes) {
		return ""
	}
	for i, cause := range causes {
		if a[i] != b[i] {
			return cause
		}
	}
	return ""
}

// tellPrefix tells when the next request of a turn will not begin with the bytes of the
// last, by whichever run or process that was sent.
func (l *loop) tellPrefix() error {
	now := l.prefixKey()
	if l.o.Sent.key == "" {
		l.o.Sent.key = l.lastKey()
	}
	if cause := PrefixCause(l.o.Sent.key, now); cause != "" {
		l.emit(plug.PrefixChanged{Cause: cause})
	}
	l.o.Sent.key = now
	return l.storeError()
}

// lastKey is that of the last turn which is stored; empty: it is not known.
func (l *loop) lastKey() string {
	s, ok := l.o.Store.(interface {
		EventsOf(ctx context.Context, id string, t plug.EventType, limit int) ([]plug.Event, error)
	})
	if !ok || l.in.Fresh != nil {
		return ""
	}
	events, err := s.EventsOf(l.lasting(), l.in.SessionID, plug.TypeTurnCompleted, 1)
	if err != nil || len(events) == 0 {
		return ""
	}
	if d, ok := events[0].Data.(plug.TurnCompleted); ok && d.Sent != nil {
		return d.Sent.Key
	}
	return ""
}

// sentBody compares the bytes of a turn's request with those of the last turn's.
func (r *request) sentBody(body []byte) {
	r.sent = plug.Sent{Bytes: len(body), Key: r.o.Sent.key}
	if was := r.o.Sent.body; was != nil {
		n := shared(was, body)
		r.sent.Shared = &n
	}
	r.sending = body
}

// toldSent takes the bytes of the request that was answered as those of the last turn.
func (r *request) toldSent() *plug.Sent {
	if r.sending != nil {
		r.o.Sent.body = r.sending
	} else {
		r.sent = plug.Sent{Key: r.o.Sent.key}
	}
	sent := r.sent
	return &sent
}

// shared is how many bytes two bodies have in common at their beginning.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4 << 10
	at := 0
	for at+step <= n && slices.Equal(a[at:at+step], b[at:at+step]) {
		at += step
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}
