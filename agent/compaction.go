package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"alisio/agent/compact"
	"alisio/agent/host"
	"alisio/agent/ledger"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// compaction says how the runs of a session make room, with the hooks of plugins: each
// gets back the fields of the checkpoint that it asked for.
func (a *App) compaction(c *conversation) run.Compaction {
	o := a.o.Config.Compaction
	asked := map[string][]string{} // names of fields, by plugin
	return run.Compaction{
		Off: !o.Auto, Threshold: o.Threshold, KeepTurns: o.KeepTurns, MaxOutputTokens: o.MaxOutputTokens,
		Before: func(ctx context.Context, reason plug.CompactionReason, replaced []llm.Message) (all []compact.Wish, failures []run.HookFailure) {
			clear(asked)
			wishes, failed := a.host.BeforeCompact(ctx, plug.CompactionInput{Session: a.info(ctx, c), Reason: string(reason), Messages: replaced})
			for _, w := range wishes {
				for name := range w.Fields {
					asked[w.Source] = append(asked[w.Source], name)
				}
				all = append(all, compact.Wish{Instructions: w.Instructions, Fields: w.Fields})
			}
			return all, hookFailures(failed)
		},
		After: func(ctx context.Context, reason plug.CompactionReason, checkpoint json.RawMessage, structured bool, fields map[string]json.RawMessage,
		) (tell []run.Injected, reports map[string]string, failures []run.HookFailure) {
			own := map[string]map[string]json.RawMessage{}
			for id, names := range asked {
				own[id] = map[string]json.RawMessage{}
				for _, name := range names {
					if raw, ok := fields[name]; ok {
						own[id][name] = raw
					}
				}
			}
			said, failed := a.host.AfterCompact(ctx, plug.CompactionResult{
				Session: a.info(ctx, c), Reason: string(reason), Checkpoint: checkpoint, Structured: structured,
			}, own)
			reports = map[string]string{}
			for _, r := range said {
				if r.Report != "" {
					reports[r.Source] = r.Report
				}
				if r.Inject != "" {
					tell = append(tell, run.Injected{Source: r.Source + "/compaction", Text: r.Inject})
				}
			}
			return tell, reports, hookFailures(failed)
		},
	}
}

// Compacted is what came of a compaction that a person wanted.
type Compacted = run.Compacted

// Compact replaces the older part of a session's conversation by a checkpoint now,
// whatever its length; wish says what the checkpoint is to hold.
func (a *App) Compact(ctx context.Context, sessionID, wish string) (Compacted, error) {
	if sessionID == "" {
		return Compacted{}, errNothingSaid()
	}
	choice, err := a.modelFor(ctx, sessionID, "")
	if err != nil {
		return Compacted{}, err
	}
	if len(wish) > maxWish {
		return Compacted{}, llm.Errorf(llm.CauseBadRequest, "what the checkpoint is to hold has %d bytes, more than %d", len(wish), maxWish)
	}
	head, unlock, err := a.between(ctx, sessionID)
	if err != nil {
		return Compacted{}, err
	}
	defer unlock()
	if err := a.sameServer(ctx, head, choice); err != nil {
		return Compacted{}, err
	}
	c, err := a.conversation(sessionID)
	if err != nil {
		return Compacted{}, err
	}
	o := a.runOptions(c, choice, nil)
	o.Ledger = ledger.New(a.limits())
	out, err := run.Compact(ctx, o, run.Input{SessionID: sessionID, OnEvent: a.host.Publish}, wish)
	if llm.CauseOf(err) == llm.CauseUncertain {
		err = llm.Errorf(llm.CauseUncertain, "%w", err).
			WithHint("look what became of it, then: alisio sessions recover " + sessionID + " --acknowledge")
	}
	if out.Usage != (llm.Usage{}) {
		err = errors.Join(err, a.addUsage(ctx, sessionID, out.Usage))
	}
	return out, err
}

// maxWish bounds what a person says of a checkpoint, in bytes.
const maxWish = 4_000

// between takes a root session for what happens between its runs.
func (a *App) between(ctx context.Context, id string) (head session.Session, unlock func(), err error) {
	unlock, head, err = a.lock(ctx, id, nil)
	if err == nil && head.Parent != "" {
		unlock()
		err = llm.Errorf(llm.CauseBadRequest, "session %s is a child of another, which works on its own conversation", id)
	}
	return head, unlock, err
}

func errNothingSaid() error {
	return llm.Errorf(llm.CauseBadRequest, "nothing was said yet: the session does not exist")
}

// Replaced is what a compaction put in the place of what.
type Replaced struct {
	// When is zero, and Told is nil, where the event that tells of it is not there.
	When       time.Time
	Told       *plug.CompactionCompleted
	Checkpoint llm.Message
	Messages   []llm.Message
}

// LastCompaction is the newest compaction of a session that holds.
func (a *App) LastCompaction(ctx context.Context, sessionID string) (r Replaced, err error) {
	store, err := a.compactor(sessionID)
	if err != nil {
		return r, err
	}
	if r.Checkpoint, r.Messages, err = store.LastCompaction(ctx, sessionID); err != nil {
		return r, session.Caused(err)
	}
	e, err := a.lastCompacted(ctx, sessionID)
	if d, ok := e.Data.(plug.CompactionCompleted); ok && d.Replaced == len(r.Messages) {
		r.When, r.Told = e.Time, &d
	}
	return r, session.Caused(err)
}

// lastCompacted is the event of the newest compaction that no undo took back; without
// data, none is known.
func (a *App) lastCompacted(ctx context.Context, id string) (last plug.Event, err error) {
	store, ok := a.store.(session.EventFinder)
	if !ok {
		return last, nil
	}
	const most = 1_000 // of each type
	var all []plug.Event
	for _, t := range []plug.EventType{plug.TypeCompactionCompleted, plug.TypePrefixChanged} {
		some, err := store.EventsOf(ctx, id, t, most)
		if err != nil {
			return last, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b plug.Event) int { return cmp.Compare(b.ID, a.ID) })
	undone := 0
	for _, e := range all {
		switch d := e.Data.(type) {
		case plug.CompactionCompleted:
			if undone == 0 {
				return e, nil
			}
			undone--
		case plug.PrefixChanged:
			if d.Cause == plug.PrefixUndo {
				undone++
			}
		}
	}
	return last, nil
}

// compactor is the store of a session in which something may have been compacted.
func (a *App) compactor(sessionID string) (session.Compactor, error) {
	store, ok := a.store.(session.Compactor)
	switch {
	case sessionID == "":
		return nil, errNothingSaid()
	case !ok:
		return nil, llm.Errorf(llm.CauseBadRequest, "the store of this session can not compact")
	}
	return store, nil
}

// Undone is what an undo brought back.
type Undone struct {
	// Restored is how many messages the model sees again.
	Restored int
	// Due: they are so long that the next run compacts them again.
	Due bool
}

// UndoCompaction takes back the newest compaction of a session.
func (a *App) UndoCompaction(ctx context.Context, sessionID string) (u Undone, err error) {
	store, err := a.compactor(sessionID)
	if err != nil {
		return u, err
	}
	_, unlock, err := a.between(ctx, sessionID)
	if err != nil {
		return u, err
	}
	defer unlock()
	_, gone, err := store.LastCompaction(ctx, sessionID)
	if err == nil {
		_, err = store.UndoCompaction(context.WithoutCancel(ctx), sessionID)
	}
	if err != nil {
		return u, session.Caused(err)
	}
	u.Restored = len(gone)
	fill, _ := a.filled(ctx, sessionID)
	u.Due = fill.Due
	return u, a.outside.Events(sessionID).Emit(ctx, plug.PrefixChanged{Cause: plug.PrefixUndo})
}

// filled says how full the window of a session is; without a model to ask nothing is
// known of that.
func (a *App) filled(ctx context.Context, id string) (run.Fill, error) {
	choice, err := a.modelFor(ctx, id, "")
	if err != nil {
		return run.Fill{}, err
	}
	messages, err := a.store.Messages(ctx, id)
	if err != nil {
		return run.Fill{}, err
	}
	return run.Filled(ctx, a.runOptions(a.look(id), choice, nil), messages)
}

func hookFailures(failed []host.Failure) (all []run.HookFailure) {
	for _, f := range failed {
		all = append(all, run.HookFailure{Source: f.Source, Hook: f.Hook, Error: f.Err.Error()})
	}
	return all
}
