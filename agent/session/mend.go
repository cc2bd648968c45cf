package session

import (
	"slices"

	"alisio/llm"
	"alisio/plug"
)

// Mend returns a history in which calls and results pair both ways, whatever an
// older program, an edit of the database or a damaged row left: a result
// without its call is left out, a call without its result gets one that says
// so. Calls at the very end are Reconcile's. The store stays as it is; what is
// mended is mended alike each time, so that requests repeat the same bytes.
func Mend(messages []llm.Message) []llm.Message {
	if paired(messages) {
		return messages
	}
	var out []llm.Message
	var open []string
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			at := slices.Index(open, m.CallID)
			if at < 0 {
				continue
			}
			open = slices.Delete(open, at, at+1)
			out = append(out, m)
			continue
		}
		for _, id := range open {
			out = append(out, ResultMessage(id, plug.Error("the result of this call is no longer known")))
		}
		open = callIDs(m)
		out = append(out, m)
	}
	return out
}

// paired reports whether Mend has nothing to do.
func paired(messages []llm.Message) bool {
	var open []string
	for _, m := range messages {
		if m.Role != llm.RoleTool {
			if len(open) > 0 {
				return false
			}
			open = callIDs(m)
			continue
		}
		at := slices.Index(open, m.CallID)
		if at < 0 {
			return false
		}
		open = slices.Delete(open, at, at+1)
	}
	return true
}

func callIDs(m llm.Message) []string {
	if len(m.Calls) == 0 {
		return nil
	}
	ids := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		ids[i] = c.ID
	}
	return ids
}

// ResultMessage is the message that answers a call.
func ResultMessage(callID string, r plug.Result) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: callID, Parts: r.Parts, IsError: r.IsError}
}
