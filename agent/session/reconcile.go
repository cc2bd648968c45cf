package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"alisio/agent/session/mend"
	"alisio/llm"
	"alisio/plug"
)

// UncertainError tells that a process died while calls were running whose
// effects reach beyond this program: nobody knows whether they took place.
// Nothing is repeated; a person has to look.
type UncertainError struct {
	Session string
	Calls   []Call
}

func (e *UncertainError) Error() string {
	names := make([]string, len(e.Calls))
	for i, c := range e.Calls {
		names[i] = fmt.Sprintf("%s (%s)", c.Name, c.ID)
	}
	return fmt.Sprintf("session %s is uncertain: the program ended while a call was running, and it is not known whether it took effect: %s",
		e.Session, strings.Join(names, ", "))
}

// Recovery says how Reconcile treats what it finds.
type Recovery struct {
	// RunID is the run in whose name results are stored; may be empty.
	RunID string
	// Effect is the widest effect of a tool, for old rows that do not say a call's.
	Effect func(tool string) plug.Effect
	// Acknowledge: the person knows of the uncertain calls.
	Acknowledge bool
	// Alive tells calls that are under way in this process, beside the run; nil: none.
	Alive func(callID string) bool
}

// Reconcile makes a stored history fit for the next request: calls and results
// pair, and each call without a result gets one, by what the journal says (spec
// runner.md, "Crash safety"):
//
//	completed                 the stored result
//	no row                    "was not executed"; in the middle of a history, that
//	                          the result is no longer known
//	pending, read or internal "was interrupted"
//	pending, anything else    *UncertainError, or with Acknowledge that it is
//	                          not known
//
// The journal is asked for all that is pending, whether or not a message still
// shows the call: an answer that can not be read is no reason to forget what it
// may have done. What stands in no message is ended in the journal alone.
//
// It stores what it gives to the calls at the end and does nothing twice: when
// it is interrupted itself, the next time finds the same. Messages are the
// session's own, which the caller has locked.
func Reconcile(ctx context.Context, s Store, id string, messages []llm.Message, r Recovery) ([]llm.Message, error) {
	pending, err := s.Pending(ctx, id)
	if err != nil {
		return nil, err
	}
	pending = slices.DeleteFunc(pending, func(c Call) bool { return r.Alive != nil && r.Alive(c.ID) })
	if len(pending) == 0 && mend.Intact(messages) {
		return messages, nil
	}
	h := mend.New(messages)
	rows, err := rowsOf(ctx, s, id, h.Gaps)
	if err != nil {
		return nil, err
	}
	var uncertain []Call
	for i, row := range pending {
		if row.Name == "" {
			row.Name = h.Calls[row.ID].Name
		}
		if row.Effect == "" {
			row.Effect = r.Effect(row.Name)
		}
		if !row.Effect.Quiet() {
			uncertain = append(uncertain, row)
		}
		row.Result = verdict(row, true)
		pending[i], rows[row.ID] = row, row
	}
	if len(uncertain) > 0 && !r.Acknowledge {
		return nil, &UncertainError{Session: id, Calls: uncertain}
	}
	return answer(ctx, s, h, rows, pending, r.RunID, id)
}

// answer stores the results that rows, by id, and the pending ones have by now,
// in the journal and then as messages: in this order, because a call that the
// journal holds as completed is found again.
func answer(ctx context.Context, s Store, h mend.History, rows map[string]Call, pending []Call, runID, id string) ([]llm.Message, error) {
	results := make([]llm.Message, len(h.Gaps))
	var add []llm.Message
	for i, g := range h.Gaps {
		row, known := rowOf(h, g, rows)
		if !g.Last {
			result := plug.Error("the result of this call is no longer known")
			if known {
				result = row.Result
			}
			results[i] = ResultMessage(g.Call.ID, result)
			continue
		}
		if !known {
			row = Call{Session: id, ID: g.Call.ID, Name: g.Call.Name}
			row.Result = verdict(row, false)
		}
		if !row.Done {
			delete(rows, row.ID) // it is no other call's
		}
		// A pending row of the id that is stored is ended below, behind this one:
		// until then it tells what this call may have done.
		if row.ID = g.Call.ID; !row.Done && (!known || g.Renamed()) {
			if err := end(ctx, s, row, runID); err != nil {
				return nil, err
			}
		}
		results[i] = ResultMessage(g.Call.ID, row.Result)
		add = append(add, results[i])
	}
	for _, row := range pending {
		if err := end(ctx, s, row, runID); err != nil {
			return nil, err
		}
	}
	if len(add) > 0 {
		if err := s.Append(ctx, id, runID, add...); err != nil {
			return nil, err
		}
	}
	return h.Filled(results), nil
}

// rowOf returns the journal's row of a call. Where an id was used more than once,
// a row that is completed is that of an earlier call; one that is pending can be
// that of the last.
func rowOf(h mend.History, g mend.Gap, rows map[string]Call) (Call, bool) {
	if row, ok := rows[g.Call.ID]; ok && (g.Last || g.Renamed() || h.Uses[g.Stored] == 1) {
		return row, true
	}
	row, ok := rows[g.Stored]
	return row, ok && g.Last && !row.Done && g.Stored != ""
}

func end(ctx context.Context, s Store, c Call, runID string) error {
	c.Ended = time.Now()
	if c.RunID == "" {
		c.RunID = runID
	}
	_, err := s.EndCall(ctx, c, plug.Event{})
	return err
}

func verdict(c Call, known bool) plug.Result {
	switch {
	case !known:
		return plug.Error("this call was not executed: the program ended before it began")
	case c.Effect.Quiet():
		return plug.Error("this call was interrupted before it gave a result")
	}
	return plug.Error("the program ended while this call was running: it is not known whether it took effect, in whole, in part or not at all. " +
		"It was not repeated. Look at the present state before you go on")
}

// rowsOf returns the journal's rows of calls without a result, by their ids.
func rowsOf(ctx context.Context, s Store, id string, gaps []mend.Gap) (map[string]Call, error) {
	var ids []string
	for _, g := range gaps {
		ids = append(ids, g.Call.ID)
	}
	rows := make(map[string]Call, len(ids))
	if len(ids) == 0 {
		return rows, nil
	}
	found, err := s.Calls(ctx, id, ids...)
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		rows[c.ID] = c
	}
	return rows, nil
}

// ResultMessage is the message that answers a call.
func ResultMessage(callID string, r plug.Result) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: callID, Parts: r.Parts, IsError: r.IsError}
}
