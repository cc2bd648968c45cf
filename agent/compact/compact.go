// Package compact plans how the old part of a conversation gives way to a checkpoint:
// when, where it may be parted, what the model is asked, what is made of its answer,
// and what is clipped when even that is not enough (spec runner.md, "Compaction").
//
//	messages ─► Due? ─► Cut ─┬─ replaced ─► Ask ─► the model ─► Read ─► Checkpoint ─┐
//	                         └─ kept ────────────────────────────────────────────────┴─► Message, kept
//
// It sends nothing and stores nothing. What a person said is carried word for word
// beside what the model wrote, whatever the model makes of it. A call is never parted
// from its result, in the request for the summary neither.
package compact

import (
	"unicode/utf8"

	"alisio/llm"
)

const (
	// CharsPerToken is the estimate that stands in for a tokenizer.
	CharsPerToken = 4
	// imageChars is what an image counts for.
	imageChars = 6_000
	// Margin is left free of a window beside the answer, in tokens.
	Margin = 1_024
	// maxWindow is the largest window that is believed.
	maxWindow = 2_000_000
)

// Limits say when a conversation is too long.
type Limits struct {
	// Window is the model's, in tokens; zero when it is not known. Output is what one
	// answer may take of it.
	Window, Output int
	// Threshold is the share at which a compaction starts (compaction.threshold).
	Threshold float64
	// MaxChars bounds instructions and transcript (limits.maxContextChars).
	MaxChars int
}

// known reports whether the window is one to reckon with.
func (l Limits) known() bool { return l.Window > 0 && l.Window <= maxWindow }

// Tokens is where a compaction starts by tokens; zero when the window is not known.
func (l Limits) Tokens() int {
	if !l.known() {
		return 0
	}
	return max(1, min(int(l.Threshold*float64(l.Window)), l.Window-l.Output-Margin))
}

// Due reports whether a conversation of so many tokens and characters is to be
// compacted before the next request.
func (l Limits) Due(tokens, chars int) bool {
	if at := l.Tokens(); at > 0 && tokens >= at {
		return true
	}
	return l.MaxChars > 0 && float64(chars) >= l.Threshold*float64(l.MaxChars)
}

// Chars is the length of messages as models read them, in characters.
func Chars(messages ...llm.Message) int {
	n := 0
	for _, m := range messages {
		n += utf8.RuneCountInString(m.Text) + imageChars*len(m.Attachments)
		for _, c := range m.Calls {
			n += utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(c.Arguments)
		}
		for _, p := range m.Parts {
			switch p.Type {
			case llm.PartText:
				n += utf8.RuneCountInString(p.Text)
			case llm.PartImage:
				n += imageChars
			}
		}
	}
	return n
}

// Tokens estimates messages: four characters a token.
func Tokens(messages ...llm.Message) int {
	return (Chars(messages...) + CharsPerToken - 1) / CharsPerToken
}
