package compact

import (
	"slices"

	"alisio/llm"
)

// Cut says how many messages from the front a checkpoint replaces, so that about room
// tokens of the rest, at most, stay; ok is false when nothing can be replaced. The
// last keep turns of the conversation stay if they fit, else fewer, at least the last
// one; of a turn that is too long itself the last step stays, whatever its size.
//
//	prompt │ answer+calls results │ answer+calls results │ prompt │ …     "│" is safe
func Cut(messages []llm.Message, keep, room int) (n int, ok bool) {
	turns := starts(messages)
	least := 0
	if len(messages) > 0 && messages[0].Summary {
		least = 1 // what a checkpoint says is replaced together with more
	}
	first := len(turns) - max(1, keep)
	for i := max(0, first); i < len(turns); i++ {
		if at := turns[i]; at > least && Tokens(messages[at:]...) <= room {
			return at, true
		}
	}
	last := 0
	for _, at := range steps(messages) {
		if at <= least {
			continue
		}
		if last = at; Tokens(messages[at:]...) <= room {
			break
		}
	}
	return last, last > least
}

// worthwhile is what a conversation takes at least, in tokens, for a checkpoint of its
// last turns to be worth a request; shortest is what leaves then, or a checkpoint would
// be no shorter.
const (
	worthwhile = 4_000
	shortest   = 1_000
)

// CutNow is Cut for a person who wants room although nothing is too long. Where the
// turns that stay are about all there is, half of the conversation leaves. ok is false
// where a checkpoint is of no use: nothing is older than the turns that are kept, and
// these are short.
func CutNow(messages []llm.Message, keep, room int) (n int, ok bool) {
	all := Tokens(messages...)
	if len(starts(messages)) <= max(1, keep) && all <= worthwhile {
		return 0, false
	}
	n, ok = Cut(messages, keep, room)
	if all > worthwhile && Tokens(messages[:n]...) < shortest {
		n, ok = Cut(messages, 1, all/2)
	}
	return n, ok
}

// Half is a safe place about in the middle of messages that are too much for one request,
// for a checkpoint of the first part alone; ok is false where there is none.
func Half(messages []llm.Message) (n int, ok bool) {
	half := Tokens(messages...) / 2
	safe := append(starts(messages), steps(messages)...)
	slices.Sort(safe)
	for _, at := range safe {
		if at <= 1 { // a checkpoint of one message is no gain
			continue
		}
		if n > 0 && Tokens(messages[:at]...) > half {
			break
		}
		n = at
	}
	return n, n > 0
}

// starts are where the turns of a person begin.
func starts(messages []llm.Message) []int {
	var all []int
	for i, m := range messages {
		if spoken(m) {
			all = append(all, i)
		}
	}
	return all
}

// steps are where an answer of the model begins and no call waits for its result.
func steps(messages []llm.Message) []int {
	var all []int
	open := map[string]bool{}
	for i, m := range messages {
		switch m.Role {
		case llm.RoleAssistant:
			if len(open) == 0 {
				all = append(all, i)
			}
			for _, c := range m.Calls {
				open[c.ID] = true
			}
		case llm.RoleTool:
			delete(open, m.CallID)
		}
	}
	return all
}

// spoken reports whether a message is what a person said: no checkpoint, and none of
// the texts of plugins and of the program.
func spoken(m llm.Message) bool { return m.Role == llm.RoleUser && m.Context == "" && !m.Summary }
