package plain

import (
	"testing"

	"alisio/plug"
)

func TestCompactionsAreTold(t *testing.T) {
	for _, c := range []struct {
		data plug.Payload
		want string
	}{
		{plug.CompactionStarted{Reason: plug.CompactAuto, Before: 27_000, Messages: 12},
			"the conversation is nearly too long (about 27000 tokens): the model sums up its older part"},
		{plug.CompactionCompleted{Replaced: 1, After: 900}, "1 message gave way to a checkpoint: about 900 tokens are left; everything stays in the session"},
		{plug.CompactionFailed{Error: "no\x1b[2J use"}, "no checkpoint came of it: no use"},
		{plug.ContextReduced{Messages: 1, Images: true},
			"the server did not take a picture: 1 message goes without pictures now, with a note for each; everything stays in the session"},
		{plug.ContextReduced{Messages: 2}, "2 messages were shortened to make room; everything stays in the session"},
	} {
		if _, notes := show(plug.RunStarted{}, c.data, plug.RunCompleted{}); notes != "notice: "+c.want+"\n" {
			t.Errorf("got %q, want %q", notes, c.want)
		}
	}
}
