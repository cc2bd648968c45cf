package run

import (
	"alisio/agent/prefix"
	"alisio/agent/session"
	"alisio/plug"
)

// prefixKey stands for what a request is made from beside the messages.
func (l *loop) prefixKey() string {
	return prefix.Key([]string{l.o.Provider.ID(), l.o.Server, l.o.Model.ID}, []string{l.now.Agent}, []string{l.now.Instructions}, l.offered)
}

// sentBody compares the bytes of a turn's request with those of the last one's, by
// whichever run or process that was sent, and tells once why they do not go on with
// them. What is sent again is compared with what the first send was.
func (r *request) sentBody(body []byte) { r.compare(body, true) }

func (r *request) compare(body []byte, wired bool) {
	again := r.compared
	if !again {
		r.prior, r.compared = *r.o.Last, true
	}
	r.differs = r.prior.Compare(body)
	key := r.prefixKey()
	if cause := r.prior.Cause(r.differs, key, wired); cause != "" && !again {
		r.emit(plug.PrefixChanged{Cause: cause})
	}
	alone := 0
	if r.notice != "" {
		alone = 1
	}
	r.o.Last.Sent(body, alone, key)
}

// recallPrefix reads what the store has of the last turn: another process may have been
// at work in the session.
func (l *loop) recallPrefix() {
	s, ok := l.o.Store.(interface {
		session.Pager
		session.EventFinder
	})
	if !ok || l.in.Fresh != nil {
		return
	}
	events, err := s.EventsOf(l.lasting(), l.in.SessionID, plug.TypeTurnCompleted, 1)
	if err != nil {
		*l.o.Last = prefix.Last{}
		return
	}
	var sent *plug.Sent
	after := int64(0)
	if len(events) > 0 {
		after = events[0].ID
		if d, ok := events[0].Data.(plug.TurnCompleted); ok {
			sent = d.Sent
		}
	}
	var told []plug.PrefixCause
	const most = 200 // of a session's first events, or since its last turn
	events, _ = s.EventsPage(l.lasting(), l.in.SessionID, after, most)
	for _, e := range events {
		if d, ok := e.Data.(plug.PrefixChanged); ok {
			told = append(told, d.Cause)
		}
	}
	l.o.Last.Stored(sent, told)
}
