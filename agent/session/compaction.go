package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"alisio/llm"
)

// Compaction puts new messages in the place of a session's active ones (spec
// runner.md, "Compaction").
type Compaction struct {
	RunID string
	// Checkpoint stands for the messages that leave; nil: none do, some are shorter.
	Checkpoint *llm.Message
	// Kept are the active messages that stay, in order, some of them shortened: all
	// from some point on, or without a checkpoint all there are.
	Kept []llm.Message
}

// ErrNotActive tells that a compaction keeps what is no active message of the
// session.
var ErrNotActive = errors.New("the conversation is not the one that is stored")

// ErrNoCompaction tells that a session has no compaction that could be undone.
var ErrNoCompaction = errors.New("no compaction is in effect in this session")

// Compactor is what a store implements that can replace messages by a checkpoint.
// No body is rewritten: what leaves stays stored, what is kept is copied behind the
// checkpoint, so that programs which read the active messages by their number read
// them in order.
type Compactor interface {
	// Compact does it, all or nothing.
	Compact(ctx context.Context, id string, c Compaction) error
	// UndoCompaction takes back the newest compaction, and all shortening since, and
	// returns how many messages are active again that were not.
	UndoCompaction(ctx context.Context, id string) (restored int, err error)
	// LastCompaction returns the newest checkpoint and the messages that gave way to
	// it, or ErrNoCompaction.
	LastCompaction(ctx context.Context, id string) (checkpoint llm.Message, replaced []llm.Message, err error)
	// AddUsage adds what a request outside a run took to that of a session.
	AddUsage(ctx context.Context, id string, u llm.Usage) error
}

// identity is what stays of a message when its content is shortened.
func identity(m llm.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role) + "\x00" + m.CallID)
	for _, c := range m.Calls {
		b.WriteString("\x00" + c.ID)
	}
	return b.String()
}

// sources finds for each message that is kept the active one of which it is a copy:
// the one at the same place from the end, or the next before it that is alike.
func sources(active, kept []llm.Message) ([]int, error) {
	at := make([]int, len(kept))
	next := len(active) - 1
	for i, m := range slices.Backward(kept) {
		id := identity(m)
		for next >= 0 && identity(active[next]) != id {
			next--
		}
		if next < 0 {
			return nil, ErrNotActive
		}
		at[i] = next
		next--
	}
	return at, nil
}

// place is what of a row decides whether it is active.
type place struct {
	seq, copyOf int64
	checkpoint  bool
}

// active replays what was done to a session: the rows that are active, in order.
// Dropped rows are copies of themselves.
func active(rows []place) []int64 {
	var now []int64
	for _, r := range rows {
		switch {
		case r.copyOf == r.seq:
			continue
		case r.copyOf != 0:
			now = slices.DeleteFunc(now, func(seq int64) bool { return seq == r.copyOf })
		case r.checkpoint:
			now = now[:0]
		}
		now = append(now, r.seq)
	}
	return now
}

// last says which row is the newest checkpoint, and which gave way to it: those that
// were active and were not copied behind it.
func last(rows []place) (checkpoint int64, replaced []int64, ok bool) {
	at := newest(rows)
	if at < 0 {
		return 0, nil, false
	}
	replaced = active(rows[:at])
	for _, r := range rows[at+1:] {
		i := slices.Index(replaced, r.copyOf)
		if i < 0 {
			break
		}
		replaced = slices.Delete(replaced, i, i+1)
	}
	return rows[at].seq, replaced, true
}

// newest is the place of the newest checkpoint, below zero for none.
func newest(rows []place) int {
	for i, r := range slices.Backward(rows) {
		if r.checkpoint && r.copyOf == 0 {
			return i
		}
	}
	return -1
}

// undone says which rows an undo of the newest compaction drops, and what is active
// then.
func undone(rows []place) (drop []int64, now []int64, ok bool) {
	last := newest(rows)
	if last < 0 {
		return nil, nil, false
	}
	rest := slices.Clone(rows[:last])
	drop = append(drop, rows[last].seq)
	for _, r := range rows[last+1:] {
		if r.copyOf != 0 && r.copyOf != r.seq {
			drop = append(drop, r.seq)
			continue
		}
		rest = append(rest, r)
	}
	return drop, active(rest), true
}
