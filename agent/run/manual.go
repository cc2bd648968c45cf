package run

import (
	"context"

	"alisio/agent/compact"
	"alisio/llm"
	"alisio/plug"
)

// Compacted is what came of a compaction that a person wanted.
type Compacted struct {
	// Done is nil where nothing was replaced; Why says why.
	Done *plug.CompactionCompleted
	Why  string
	// Usage is what the checkpoint took.
	Usage llm.Usage
}

// Compact replaces the older part of a conversation by a checkpoint because a person
// wants it, between the runs of the session, which the caller has locked. Its events
// have a run id of their own, and there is no row of it among the runs (spec events.md,
// "Delivery"). wish says what the checkpoint is to hold; it may be empty.
func Compact(ctx context.Context, o Options, in Input, wish string) (Compacted, error) {
	l, err := newLoop(ctx, o, in)
	if err != nil {
		return Compacted{}, err
	}
	defer l.stop()
	if wish != "" {
		l.wishes = []compact.Wish{{Instructions: "The user wants this of the checkpoint: " + wish}}
	}
	if err := l.renew(); err != nil {
		return Compacted{}, err
	}
	err = l.compact(plug.CompactManual)
	if broken := l.storeError(); broken != nil {
		err = broken
	}
	return Compacted{Done: l.replaced, Why: l.whyNot, Usage: l.usage.Usage}, err
}

// Fill is how much of a window a conversation takes, in tokens, by estimate.
type Fill struct {
	Used int
	// Window is zero where it is not known; At is where a run compacts, zero where it
	// does not by tokens.
	Window, At int
	// Due: the next run would compact at once.
	Due bool
}

// Filled says how full the window is before the next run with these messages.
func Filled(ctx context.Context, o Options, messages []llm.Message) (Fill, error) {
	l := &loop{o: o, caller: ctx, ctx: ctx, messages: messages}
	l.maxOutput, _ = o.Limits.output(0, o.Model)
	if err := l.renew(); err != nil {
		return Fill{}, err
	}
	f := Fill{Used: l.used(), Window: o.Model.ContextWindow}
	if !o.Compaction.Off {
		f.At, f.Due = l.bounds().Tokens(), l.bounds().Due(f.Used, l.chars())
	}
	return f, nil
}
