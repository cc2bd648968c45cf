package plain

import (
	"alisio/agent/text"
	"alisio/plug"
)

// compacted tells that a conversation was made shorter, or could not be.
func (t *Text) compacted(p plug.Payload) {
	switch d := p.(type) {
	case plug.CompactionStarted:
		t.endLine()
		t.notice("the conversation is nearly too long (about %d tokens): the model sums up its older part", d.Before)
	case plug.CompactionCompleted:
		t.notice("%s gave way to a checkpoint: about %d tokens are left; everything stays in the session", Count(d.Replaced, "message", "messages"), d.After)
	case plug.CompactionFailed:
		t.notice("no checkpoint came of it: %s", text.Line(d.Error))
	case plug.ContextReduced:
		if d.Images {
			t.notice("the server did not take a picture: %s without pictures now, with a note for each; everything stays in the session",
				Count(d.Messages, "message goes", "messages go"))
			return
		}
		t.notice("%s shortened to make room; everything stays in the session", Count(d.Messages, "message was", "messages were"))
	}
}
