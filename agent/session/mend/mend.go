// Package mend makes a valid history of messages that an older program, an edit of
// the database or a damaged row left broken: calls and results pair both ways. It
// knows no store and no journal, and says where a result is missing; what stands
// there others decide.
package mend

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"

	"alisio/llm"
)

// History is a transcript in which calls and results pair both ways, whatever an
// older program, an edit of the database or a damaged row left, but for its gaps.
// A result without its call is left out. A call without an id, or with one that
// another call has, gets one of its own. The store stays as it is; what is mended
// is mended alike each time, so that requests repeat the same bytes.
type History struct {
	Messages []llm.Message
	Gaps     []Gap
	// Calls are all that were asked for, by the ids that are stored, and Uses how
	// often each of these was used.
	Calls map[string]llm.ToolCall
	Uses  map[string]int
}

// Gap is a call without a result.
type Gap struct {
	Call llm.ToolCall
	// Stored is the call's id in the store; another if it was renamed.
	Stored string
	// At is the place of its result among the messages.
	At int
	// Last: nothing but results stands behind the answer with the call.
	Last bool
}

// Renamed reports whether the call has another id than in the store.
func (g Gap) Renamed() bool { return g.Call.ID != g.Stored }

// New makes a history of what is stored.
func New(messages []llm.Message) History {
	h := History{Calls: make(map[string]llm.ToolCall), Uses: make(map[string]int)}
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
			h.Calls[c.ID] = c
			h.Uses[c.ID]++
		}
		m, results, open := taken.pair(m, messages[i+1:end])
		h.Messages = append(append(h.Messages, m), results...)
		for _, g := range open {
			g.At, g.Last = len(h.Messages), end == len(messages)
			h.Gaps = append(h.Gaps, g)
		}
		i = end
	}
	return h
}

// Filled puts the results of the gaps where they belong.
func (h History) Filled(results []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(h.Messages)+len(results))
	done := 0
	for i, g := range h.Gaps {
		out = append(append(out, h.Messages[done:g.At]...), results[i])
		done = g.At
	}
	return append(out, h.Messages[done:]...)
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
func (n names) pair(m llm.Message, results []llm.Message) (llm.Message, []llm.Message, []Gap) {
	byID := make(map[string][]int)
	for i, r := range results {
		byID[r.CallID] = append(byID[r.CallID], i)
	}
	var gaps []Gap
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
		gaps = append(gaps, Gap{Call: c, Stored: stored})
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

// Intact reports whether there is nothing to mend and nothing to answer.
func Intact(messages []llm.Message) bool {
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
