package session

import (
	"crypto/sha256"

	"alisio/agent/session/codec"
	"alisio/llm"
)

// Copies tells which messages need not be shown because another says the same. It
// is asked of the messages of a session in their order. The zero value is ready.
type Copies struct {
	// said has, for each compacted message so far, what it says.
	said map[int64][sha256.Size]byte
}

// Repeats reports whether a message is a copy of one that models are no longer
// sent. Shortened: it says less, or something else, and has to be shown as well. A
// copy of a message that is still sent is a message of its own: that it calls
// itself a copy hides nothing.
func (c *Copies) Repeats(m Stored) (repeats, shortened bool) {
	if m.CopyOf != 0 && m.CopyOf == m.Seq { // an undone compaction added it
		return true, false
	}
	said := digest(m.Message)
	first, ok := c.said[m.CopyOf]
	if m.Compacted && m.Err == nil {
		if c.said == nil {
			c.said = make(map[int64][sha256.Size]byte)
		}
		c.said[m.Seq] = said
	}
	if m.CopyOf == 0 || !ok || m.Err != nil {
		return false, false
	}
	return said == first, said != first
}

// digest stands for all of a message that people are shown: not for what only the
// server that made it can read.
func digest(m llm.Message) [sha256.Size]byte {
	m.Stored, m.ProviderData, m.Origin = nil, nil, llm.Origin{}
	body, err := codec.Encode(m)
	if err != nil {
		return [sha256.Size]byte{} // of a message that was not read
	}
	return sha256.Sum256(body)
}
