package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"alisio/agent/clock"
	"alisio/agent/compact"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Compaction says when and how a conversation gives way to a checkpoint.
type Compaction struct {
	// Off: never by itself.
	Off bool
	// Threshold is the share of the window, or of Limits.MaxContextChars, at which it
	// starts; 0.85 when it is zero.
	Threshold float64
	// KeepTurns is how many turns stay, MaxOutputTokens what the checkpoint may take;
	// 16,000 when it is zero.
	KeepTurns       int
	MaxOutputTokens int
	// Before, if set, asks plugins what they want of the checkpoint; After gives them
	// what they asked for, and returns what they want the model to be told, and their
	// reports by plugin.
	Before func(ctx context.Context, reason plug.CompactionReason, replaced []llm.Message) ([]compact.Wish, []HookFailure)
	After  func(ctx context.Context, reason plug.CompactionReason, checkpoint json.RawMessage, structured bool,
		fields map[string]json.RawMessage) (tell []Injected, reports map[string]string, failures []HookFailure)
}

const (
	defaultThreshold = 0.85
	// leastAnswer is what an answer needs to be of any use, in tokens.
	leastAnswer = 64
	// leastCheckpoint is what a checkpoint needs to be of any use, in tokens.
	leastCheckpoint = 512
	// maxHalved is how often less is summed up where all of it is too long for that.
	maxHalved = 2
)

// compacting is what a run knows of its compactions.
type compacting struct {
	// compactions counts them, compactedAt is the turn of the last.
	compactions int
	compactedAt int
	// unmadeTimes is how often in a row no checkpoint came of one; again is the turn
	// before which none is tried, for that.
	unmadeTimes int
	again       int
	// wishes are a person's, of a compaction by hand; replaced and whyNot what came of it.
	wishes   []compact.Wish
	replaced *plug.CompactionCompleted
	whyNot   string
}

// bounds say when the conversation is too long.
func (l *loop) bounds() compact.Limits {
	b := compact.Limits{
		Window: l.o.Model.ContextWindow, Output: l.maxOutput, Threshold: l.o.Compaction.Threshold, MaxChars: l.o.Limits.MaxContextChars,
	}
	if b.Threshold == 0 {
		b.Threshold = defaultThreshold
	}
	return b
}

// fixed is what goes with every request beside the messages, in tokens.
func (l *loop) fixed() int {
	n := len(l.now.Instructions)
	for _, t := range l.offered {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n / compact.CharsPerToken
}

// used is what the conversation takes of the window, in tokens: what the server
// reported last, and an estimate of what came since, corrected by what it reported.
func (l *loop) used() int {
	if l.reported == 0 {
		return l.density.Whole(l.fixed() + compact.Tokens(l.messages...))
	}
	return l.reported + l.density.Fresh(compact.Tokens(l.messages[l.reportedAt:]...))
}

// fitContext makes the conversation fit before a request: by a checkpoint when it is
// nearly too long, and when that is not enough by shortening what is in it.
func (l *loop) fitContext() error {
	b := l.bounds()
	if least := l.fixed() + leastAnswer; b.Window > 0 && least > b.Window {
		return llm.Errorf(llm.CauseContextLength, "instructions and tools take about %d tokens, and the window of %s has %d", l.fixed(), l.o.Model.ID, b.Window).
			WithHint("use a larger window, set provider.profile to lean, or shorten the instruction files (AGENTS.md)")
	}
	if !l.o.Compaction.Off && l.turn >= l.again && b.Due(l.used(), l.chars()) {
		if err := l.compact(plug.CompactAuto); err != nil {
			return err
		}
	}
	if _, err := l.shorten(); err != nil {
		return err
	}
	if used := l.used(); b.Window > 0 && used-used/5 > b.Window { // the estimate may be too high
		return llm.Errorf(llm.CauseContextLength, "the conversation takes about %d tokens, and the window of %s has %d", used, l.o.Model.ID, b.Window).
			WithHint("use a model with a larger window, begin a new session, or put a long text into a file, which can be read in parts")
	}
	if b.MaxChars <= 0 || l.chars() <= b.MaxChars {
		return nil
	}
	if _, err := l.reduce(max(4_000, b.MaxChars-len(l.now.Instructions))); err != nil || l.chars() <= b.MaxChars {
		return err
	}
	if err := l.compact(plug.CompactBudget); err != nil || l.chars() <= b.MaxChars {
		return err
	}
	return llm.Errorf(llm.CauseContextLength, "the conversation has %d characters, more than %d (limits.maxContextChars), and can not be made shorter",
		l.chars(), b.MaxChars).WithHint("raise limits.maxContextChars, or begin a new session")
}

// chars is the length of instructions and transcript.
func (l *loop) chars() int { return len(l.now.Instructions) + compact.Chars(l.messages...) }

// shorten makes the conversation fit the window where no checkpoint could: what is
// left of it after one, or the last step alone, is too long.
func (l *loop) shorten() (changed bool, err error) {
	room := l.o.Model.ContextWindow - compact.Margin - min(l.maxOutput, leastCheckpoint)
	if l.o.Compaction.Off || l.o.Model.ContextWindow == 0 || l.used() <= room {
		return false, nil
	}
	return l.reduce(max(0, l.density.Estimated(room)-l.fixed()) * compact.CharsPerToken)
}

// reduce shortens the largest messages until they have no more than target characters.
func (l *loop) reduce(target int) (changed bool, err error) {
	store, ok := l.o.Store.(session.Compactor)
	if !ok {
		return false, nil
	}
	shorter := slices.Clone(l.messages)
	cut := compact.Clip(shorter, target)
	if len(cut) == 0 {
		return false, nil
	}
	switch err := l.replace(store, session.Compaction{RunID: l.in.RunID, Kept: shorter}, shorter); {
	case errors.Is(err, session.ErrNotActive):
		return false, nil
	case err != nil:
		return false, err
	}
	l.emit(plug.ContextReduced{Messages: len(cut)})
	l.emit(plug.PrefixChanged{Cause: plug.PrefixClip})
	return true, l.storeError()
}

// replace stores what stands for the transcript from now on, and takes it. With
// session.ErrNotActive nothing happened, and the run can go on.
func (l *loop) replace(store session.Compactor, c session.Compaction, messages []llm.Message) error {
	if err := l.flush(); err != nil {
		return err
	}
	switch err := store.Compact(l.lasting(), l.in.SessionID, c); {
	case errors.Is(err, session.ErrNotActive):
		return err // nothing was changed, and what there is is kept
	case err != nil:
		return l.breakStore(err)
	}
	l.messages = messages
	l.reported, l.reportedAt = 0, 0
	return nil
}

// errUnusable tells that no checkpoint came of a request: the run goes on without.
var errUnusable = errors.New("the model wrote no checkpoint")

// compact replaces the older part of the conversation by a checkpoint. The error ends
// the run; what merely did not come about is told by an event.
func (l *loop) compact(reason plug.CompactionReason) error {
	before := l.used()
	store, ok := l.o.Store.(session.Compactor)
	cut := compact.Cut
	if reason == plug.CompactManual {
		cut = compact.CutNow
	}
	n, found := cut(l.messages, l.o.Compaction.KeepTurns, l.keepRoom())
	switch {
	case !ok:
		return l.skipped(reason, before, "the store of this session can not do it")
	case !found:
		return l.skipped(reason, before, "there is nothing older than what is kept")
	case reason == plug.CompactAuto && l.o.Model.ContextWindow > 0 && compact.Tokens(l.messages[:n]...) < leastCheckpoint:
		return l.skipped(reason, before, "what is older than what is kept is too little")
	case reason != plug.CompactManual && l.compactedAt == l.turn && l.compactions > 0:
		return llm.Errorf(llm.CauseContextLength, "the conversation is too long again right after it was compacted").
			WithHint("raise limits.maxContextChars, use a model with a larger window, or begin a new session")
	}
	l.compactions++
	l.compactedAt = l.turn
	l.emit(plug.CompactionStarted{Reason: reason, Before: before, Messages: n})
	wishes := l.wishes
	if l.o.Compaction.Before != nil {
		asked, failures := l.o.Compaction.Before(l.ctx, reason, l.messages[:n])
		wishes = append(asked, wishes...)
		l.tellFailures(failures)
	}
	c, usage, err := l.summarize(l.messages[:n], wishes)
	for range maxHalved {
		half, ok := compact.Half(l.messages[:n])
		if !ok || llm.CauseOf(err) != llm.CauseContextLength {
			break
		}
		n = half
		c, usage, err = l.summarize(l.messages[:n], wishes)
	}
	if err != nil {
		return l.unmade(reason, err)
	}
	replaced, kept := l.messages[:n], l.messages[n:]
	messages := append([]llm.Message{c.Message(replaced, l.bounds())}, kept...)
	// By estimates alone: what is known of the server's count changed in between.
	was, is := compact.Tokens(l.messages...), compact.Tokens(messages...)
	switch longer := is >= was; {
	case longer && reason == plug.CompactManual:
		return l.skipped(reason, before, "the checkpoint would be longer than what it stands for")
	case longer:
		l.emit(plug.CompactionFailed{Beside: l.beside(), Reason: reason, Error: "the checkpoint is longer than what it stands for"})
		return notShorter(was, is)
	}
	switch err := l.replace(store, session.Compaction{RunID: l.in.RunID, Checkpoint: &messages[0], Kept: kept}, messages); {
	case errors.Is(err, session.ErrNotActive):
		return l.unmade(reason, err)
	case err != nil:
		return err
	}
	if err := l.compacted(reason, c, usage, before, n); err != nil {
		return err
	}
	if is = compact.Tokens(l.messages...); is >= was && reason != plug.CompactManual { // by what plugins added
		return notShorter(was, is)
	}
	return nil
}

// unmade tells that no checkpoint came of a compaction. A run goes on without one that
// was merely due.
func (l *loop) unmade(reason plug.CompactionReason, err error) error {
	why := err.Error()
	switch {
	case errors.Is(context.Cause(l.ctx), clock.ErrLimit):
		err = l.timeUsedUp()
		why = err.Error()
	case l.ctx.Err() != nil:
		why = Stopped
	}
	l.emit(plug.CompactionFailed{Beside: l.beside(), Reason: reason, Error: why})
	if reason != plug.CompactAuto || l.ctx.Err() != nil || !mayGoOn(err) {
		return err
	}
	// Not before each request anew, or a model that writes none is asked twice as much.
	l.unmadeTimes++
	l.again = l.turn + 1<<min(l.unmadeTimes, 6)
	return l.storeError()
}

// mayGoOn reports whether a failure is one of the checkpoint alone: the request that it
// was to make room for may still be answered.
func mayGoOn(err error) bool {
	switch llm.CauseOf(err) {
	case llm.CauseBadRequest, llm.CauseFiltered, llm.CauseContextLength:
		return true
	}
	return errors.Is(err, errUnusable) || errors.Is(err, session.ErrNotActive)
}

func notShorter(before, after int) error {
	return llm.Errorf(llm.CauseContextLength, "the conversation did not get shorter by a checkpoint: about %d tokens before, %d behind it", before, after).
		WithHint("use a model with a larger window, or begin a new session")
}

// keepRoom is how many tokens may stay as they are: half of what starts a compaction,
// so that the next one is not due at once.
func (l *loop) keepRoom() int {
	b := l.bounds()
	room := b.Tokens()
	if chars := int(b.Threshold*float64(b.MaxChars)) / compact.CharsPerToken; room == 0 || b.MaxChars > 0 && chars < room {
		room = chars
	}
	if room == 0 {
		return l.used() / 2
	}
	return max(0, l.density.Estimated(room/2)-l.fixed())
}

func (l *loop) skipped(reason plug.CompactionReason, before int, detail string) error {
	l.whyNot = detail
	l.emit(plug.CompactionSkipped{Beside: l.beside(), Reason: reason, Before: before, Detail: detail})
	return l.storeError()
}

// compacted tells of a checkpoint, gives it to plugins, and tells the model again what
// it replaced and still holds.
func (l *loop) compacted(reason plug.CompactionReason, c compact.Checkpoint, u llm.Usage, before, n int) error {
	told := plug.CompactionCompleted{
		Beside: l.beside(), Reason: reason, Before: before, Replaced: n, Structured: c.Structured, Partial: c.Partial,
		SummarizedTokens: u.Input, CheckpointTokens: u.Output, Plugins: map[string]string{},
	}
	var tell []Injected
	if l.o.Compaction.After != nil {
		var reports map[string]string
		var failures []HookFailure
		tell, reports, failures = l.o.Compaction.After(l.ctx, reason, c.JSON(), c.Structured, c.Fields)
		l.tellFailures(failures)
		for id, report := range reports {
			told.Plugins[id] = report
		}
	}
	l.recall = newRecall()
	l.note(l.messages)
	if err := l.inject(append(slices.Clone(l.now.Context), tell...)); err != nil {
		return err
	}
	told.After = l.used()
	l.replaced, l.unmadeTimes = &told, 0
	l.emit(told)
	l.emit(plug.PrefixChanged{Cause: plug.PrefixCompaction})
	return l.storeError()
}

func (l *loop) tellFailures(failures []HookFailure) {
	for _, f := range failures {
		l.emit(l.hookFailed(f))
	}
}
