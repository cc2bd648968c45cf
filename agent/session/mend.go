package session

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"

	"alisio/llm"
	"alisio/plug"
)

// history is a transcript in which calls and results pair both ways, whatever an
// older program, an edit of the database or a damaged row left, but for its gaps.
// A result without its call is left out. A call without an id, or with one that
// another call has, gets one of its own. The store stays as it is; what is mended
// is mended alike each time, so that requests repeat the same bytes.
type history struct {
	messages []llm.Message
	gaps     []gap
	// calls are all that were asked for, by the ids that are stored, and how
	// often each of these was used.
	calls map[string]llm.ToolCall
	uses  map[string]int
}

// gap is a call without a result.
type gap struct {
	call llm.ToolCall
	// stored is the call's id in the store; another if it was renamed.
	stored string
	// at is the place of its result among the messages.
	at int
	// last: nothing but results stands behind the answer with the call.
	last bool
}

func (g gap) renamed() bool { return g.call.ID != g.stored }

// mend makes a history of what is stored.
func mend(messages []llm.Message) history {
	h := history{calls: make(map[string]llm.ToolCall), uses: make(map[string]int)}
	taken := names{seen: make(map[string]bool), count: make(map[string]int)}
	for i := 0; i < len(messages); {
		m := messages[i]
		end := i + 1
		for end < len(messages) && messages[end].Role == llm.RoleTool {
			end++
		}
		if m.Role == llm.RoleTool {
			i = end
			continue
		}
		for _, c := range m.Calls {
			h.calls[c.ID] = c
			h.uses[c.ID]++
		}
		m, results, open := taken.pair(m, messages[i+1:end])
		h.messages = append(append(h.messages, m), results...)
		for _, g := range open {
			g.at, g.last = len(h.messages), end == len(messages)
			h.gaps = append(h.gaps, g)
		}
		i = end
	}
	return h
}

// filled puts the results of the gaps where they belong.
func (h history) filled(results []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(h.messages)+len(results))
	done := 0
	for i, g := range h.gaps {
		out = append(append(out, h.messages[done:g.at]...), results[i])
		done = g.at
	}
	return append(out, h.messages[done:]...)
}

// names are the ids that the calls of a history have so far.
type names struct {
	seen map[string]bool
	// count is how many ids were derived from one.
	count map[string]int
}

// pair gives each call of an answer its result, and what has none a gap. A call
// is renamed if its id can not stand for it: there is none, another call of the
// answer has it, or an earlier answer has it and the result of this call is still
// to come. The provider's data, which holds the old ids, is then left out.
func (n names) pair(m llm.Message, results []llm.Message) (llm.Message, []llm.Message, []gap) {
	byID := make(map[string][]int)
	for i, r := range results {
		byID[r.CallID] = append(byID[r.CallID], i)
	}
	var gaps []gap
	answers := make([]string, len(results)) // the call that each answers, "" for none
	here := make(map[string]bool)
	calls := slices.Clone(m.Calls)
	for i, c := range calls {
		stored := c.ID
		if stored == "" || here[stored] || n.seen[stored] && len(byID[stored]) == 0 {
			calls[i].ID = n.derive(stored)
			m.Calls, m.ProviderData = calls, nil
		}
		c = calls[i]
		here[stored], n.seen[c.ID] = true, true
		from := c.ID
		if len(byID[from]) == 0 {
			from = stored
		}
		if left := byID[from]; len(left) > 0 {
			answers[left[0]], byID[from] = c.ID, left[1:]
			continue
		}
		gaps = append(gaps, gap{call: c, stored: stored})
	}
	var kept []llm.Message
	for i, r := range results {
		if r.CallID = answers[i]; r.CallID != "" {
			kept = append(kept, r)
		}
	}
	return m, kept, gaps
}

// derive returns an id that no earlier call has, always the same for the same
// history: nine letters and digits, the form that every known server takes.
func (n names) derive(id string) string {
	for {
		n.count[id]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", n.count[id], id))
		if fresh := base32.StdEncoding.EncodeToString(sum[:])[:9]; !n.seen[fresh] {
			return fresh
		}
	}
}

// intact reports whether there is nothing to mend and nothing to answer.
func intact(messages []llm.Message) bool {
	var open []string
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			at := slices.Index(open, m.CallID)
			if at < 0 {
				return false
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return false
		}
		for _, c := range m.Calls {
			if c.ID == "" || slices.Contains(open, c.ID) {
				return false
			}
			open = append(open, c.ID)
		}
	}
	return len(open) == 0
}

// ResultMessage is the message that answers a call.
func ResultMessage(callID string, r plug.Result) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: callID, Parts: r.Parts, IsError: r.IsError}
}
