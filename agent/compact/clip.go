package compact

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"alisio/llm"
)

// The rounds in which messages are clipped, in characters (spec runner.md,
// "Compaction"): results before texts, in each round the largest first.
func rounds() (results, texts []int) {
	return []int{8_000, 4_096, 2_048, 1_024, 512}, []int{16_000, 8_000, 4_096, 2_048, 1_024}
}

// Clip shortens results and texts in messages until they have at most target
// characters, or nothing is left to shorten; each cut is marked. It returns the
// indices of those that it has changed, in order. Only content changes: calls, ids
// and results stay, and so does the last thing that the person said.
func Clip(messages []llm.Message, target int) []int {
	return clipTo(messages, target, false)
}

// clipTo is Clip; all: checkpoints and the last thing that the person said, too.
func clipTo(messages []llm.Message, target int, all bool) []int {
	results, texts := rounds()
	sum, last := Chars(messages...), lastSaid(messages)
	touched := map[int]bool{}
	for r := range results {
		for _, i := range bySize(messages) {
			if sum <= target {
				break
			}
			keep := !all && (messages[i].Summary || i == last)
			if n := shorten(&messages[i], results[r], texts[r], keep); n > 0 {
				sum -= n
				touched[i] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(touched))
}

func bySize(messages []llm.Message) []int {
	size := make([]int, len(messages))
	order := make([]int, len(messages))
	for i, m := range messages {
		order[i], size[i] = i, Chars(m)
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	return order
}

func lastSaid(messages []llm.Message) int {
	for i, m := range slices.Backward(messages) {
		if spoken(m) {
			return i
		}
	}
	return -1
}

// shorten clips one message and returns by how many characters. What a provider
// wants back of an answer whole is left out with its text, and so an answer with
// calls stays as it is: without it, its calls might be refused.
func shorten(m *llm.Message, result, text int, keep bool) (less int) {
	before := Chars(*m)
	switch m.Role {
	case llm.RoleTool:
		m.Parts = slices.Clone(m.Parts)
		for i, p := range m.Parts {
			if p.Type == llm.PartText {
				m.Parts[i].Text = clip(p.Text, result)
			}
		}
	case llm.RoleAssistant:
		if len(m.Calls) == 0 && utf8.RuneCountInString(m.Text) > text {
			m.Text, m.ProviderData = clip(m.Text, text), nil
		}
	case llm.RoleUser:
		if !keep {
			m.Text = clip(m.Text, text)
		}
	}
	return before - Chars(*m)
}

// cutMark stands for what is gone.
const cutMark = "\n[… %d characters were left out to make room …]\n"

// clip keeps the head and the tail of a text that is longer than limit characters,
// and says between them how much is gone. The result is never longer than limit, if
// that has room for the mark.
func clip(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	mark := fmt.Sprintf(cutMark, n-limit)
	room := max(0, limit-utf8.RuneCountInString(mark)-2) // the number may grow by two digits
	tail := room / 3
	headEnd, tailStart := offset(s, room-tail), offset(s, n-tail)
	return s[:headEnd] + fmt.Sprintf(cutMark, n-room) + s[tailStart:]
}

// offset is where the n-th character of s begins.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
