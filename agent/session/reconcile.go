package session

import (
	"context"
	"fmt"
	"strings"
	"time"

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
	// Effect is the widest effect of a tool, for rows of old programs that do
	// not say what a call could do.
	Effect func(tool string) plug.Effect
	// Acknowledge: the person knows of the uncertain calls.
	Acknowledge bool
}

// Reconcile gives each call at the end of a history its result, by what the
// journal says (spec runner.md, "Crash safety"):
//
//	completed                 the stored result
//	no row                    "was not executed"
//	pending, read or internal "was interrupted"
//	pending, anything else    *UncertainError, or with Acknowledge that it is
//	                          not known
//
// It stores what it gives, returns it, and does nothing twice: when it is
// interrupted itself, the next time finds the same. Messages are the session's
// own, which the caller has locked.
func Reconcile(ctx context.Context, s Store, id string, messages []llm.Message, r Recovery) ([]llm.Message, error) {
	open := unanswered(messages)
	if len(open) == 0 {
		return nil, nil
	}
	rows, err := rowsOf(ctx, s, id, open)
	if err != nil {
		return nil, err
	}
	calls := make([]Call, len(open))
	var uncertain []Call
	for i, c := range open {
		row, known := rows[c.ID]
		row.Session, row.ID, row.Name = id, c.ID, c.Name
		if row.Effect == "" {
			row.Effect = r.Effect(c.Name)
		}
		if known && !row.Done && lasting(row.Effect) {
			uncertain = append(uncertain, row)
		}
		calls[i] = row
		calls[i].Result = verdict(row, known)
	}
	if len(uncertain) > 0 && !r.Acknowledge {
		return nil, &UncertainError{Session: id, Calls: uncertain}
	}
	return keep(ctx, s, id, calls, r.RunID)
}

// keep stores the results in the journal and then as messages: in this order,
// because a call that the journal holds as completed is found again.
func keep(ctx context.Context, s Store, id string, calls []Call, runID string) ([]llm.Message, error) {
	add := make([]llm.Message, len(calls))
	for i, c := range calls {
		if !c.Done {
			c.Ended = time.Now()
			if c.RunID == "" {
				c.RunID = runID
			}
			if _, err := s.EndCall(ctx, c, plug.Event{}); err != nil {
				return nil, err
			}
		}
		add[i] = ResultMessage(c.ID, c.Result)
	}
	return add, s.Append(ctx, id, runID, add...)
}

func verdict(c Call, known bool) plug.Result {
	switch {
	case c.Done:
		return c.Result
	case !known:
		return plug.Error("this call was not executed: the program ended before it began")
	case !lasting(c.Effect):
		return plug.Error("this call was interrupted before it gave a result")
	}
	return plug.Error("the program ended while this call was running: it is not known whether it took effect, in whole, in part or not at all. " +
		"It was not repeated. Look at the present state before you go on")
}

// lasting reports whether an effect reaches beyond this program; what is not
// known does.
func lasting(e plug.Effect) bool { return e != plug.EffectRead && e != plug.EffectInternal }

func rowsOf(ctx context.Context, s Store, id string, calls []llm.ToolCall) (map[string]Call, error) {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID
	}
	found, err := s.Calls(ctx, id, ids...)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]Call, len(found))
	for _, c := range found {
		rows[c.ID] = c
	}
	return rows, nil
}

// unanswered returns the calls of the last assistant message that have no
// result behind it.
func unanswered(messages []llm.Message) []llm.ToolCall {
	answered := make(map[string]bool)
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; m.Role {
		case llm.RoleTool:
			answered[m.CallID] = true
		case llm.RoleAssistant:
			var open []llm.ToolCall
			for _, c := range m.Calls {
				if !answered[c.ID] {
					open = append(open, c)
				}
			}
			return open
		default:
			return nil
		}
	}
	return nil
}
