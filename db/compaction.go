package db

import "fmt"

// MarkMessages says of messages of a session whether models are no longer sent them.
// Their bodies stay as they are. ErrNotFound if one of them is not there.
func (t *Tx) MarkMessages(session string, compacted bool, seqs ...int64) error {
	for _, seq := range seqs {
		f := Fact{Kind: FactMessage, Session: session, Key: fmt.Sprint(seq)}
		if err := t.recordOne(f, `UPDATE messages SET compacted = ? WHERE session = ? AND seq = ?`, bit(compacted), session, seq); err != nil {
			return err
		}
	}
	return nil
}

// DropMessages takes messages out of a session's conversation for good, those that an
// undone compaction had added: they are copies of themselves, which nobody shows, and
// are not sent. Their bodies stay. ErrNotFound if one of them is not there.
func (t *Tx) DropMessages(session string, seqs ...int64) error {
	for _, seq := range seqs {
		f := Fact{Kind: FactMessage, Session: session, Key: fmt.Sprint(seq)}
		if err := t.recordOne(f, `UPDATE messages SET compacted = 1, copy_of = seq WHERE session = ? AND seq = ?`, session, seq); err != nil {
			return err
		}
	}
	return nil
}
