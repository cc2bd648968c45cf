package run

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/compact"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// Injected is text of a plugin for the model. In a Turn it is what the source says
// now: it is appended to the transcript when it differs from what the transcript
// last holds of the source, and never rendered again, so that the bytes before it
// stay. A Source that is not named is left alone; one that says nothing any more is
// named with an empty Text.
type Injected struct {
	// Source is "plugin/name"; of several with one source the first counts.
	Source string
	Text   string
}

// HookFailure tells of a hook of the session's start that was left out.
type HookFailure struct {
	Source string
	Hook   string
	Error  string
}

const (
	// maxContext bounds what is used of one text, in characters (spec plugins.md).
	maxContext = 24_000
	// maxSource bounds the name of a source.
	maxSource = 130
	// gone is what the model is told of a source that has nothing to say any more.
	gone = "What this source said before no longer holds."
)

// recall is what the transcript holds of things that are told once.
type recall struct {
	// told is what is last said of each source of context.
	told map[string]string
	// attached are the hashes of instruction files by name; news are those that came
	// with the calls of the answer at work: the call, by the file's name.
	attached map[string]string
	news     map[string]string
}

func newRecall() recall {
	return recall{told: make(map[string]string), attached: make(map[string]string), news: make(map[string]string)}
}

// contextMessage is a text as it is stored and sent. The frame is closed by nobody
// but this program.
func (l *loop) contextMessage(in Injected) llm.Message {
	source := text.Short(visible(in.Source), maxSource)
	if source == "" {
		source = "unknown"
	}
	body := strings.ToValidUTF8(llm.Redact(in.Text, l.o.Secrets...), "\uFFFD")
	body = strings.ReplaceAll(strings.Trim(body, "\n"), "</context", `<\/context`)
	switch n := utf8.RuneCountInString(body); {
	case strings.TrimSpace(body) == "":
		body = gone
	case n > maxContext:
		body = cut(body, maxContext, done{chars: n})
	}
	return llm.Message{
		Role: llm.RoleUser, Context: source,
		Text: fmt.Sprintf("<context source=%q>\n%s\n</context>", source, body),
	}
}

// visible takes out what is no text of one line.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// inject appends what sources say that the transcript does not say of them.
func (l *loop) inject(texts []Injected) error {
	var add []llm.Message
	seen := make(map[string]bool, len(texts))
	for _, in := range texts {
		m := l.contextMessage(in)
		was, said := l.told[m.Context]
		news := was != m.Text && (said || strings.TrimSpace(in.Text) != "")
		if news && !seen[m.Context] {
			add = append(add, m)
		}
		seen[m.Context] = true
	}
	if err := l.append(add...); err != nil {
		return err
	}
	l.note(add)
	return nil
}

// note keeps what messages hold of the context and of instruction files.
func (l *loop) note(messages []llm.Message) {
	for _, m := range messages {
		if m.Role == llm.RoleUser && m.Context != "" {
			l.told[m.Context] = m.Text
		}
		for _, p := range m.Parts {
			if b, ok := attachment(p); ok {
				l.attached[b.Path] = b.SHA256
			}
		}
	}
}

// opening asks what a new session begins with, and returns it as messages, with
// the events that tell of it.
func (l *loop) opening() (messages []llm.Message, events []plug.Payload) {
	if l.in.Fresh == nil || l.o.Start == nil {
		return nil, nil
	}
	texts, failures := l.o.Start(l.ctx)
	told := plug.SessionContextInjected{}
	chars := 0
	for _, in := range texts {
		if strings.TrimSpace(in.Text) == "" {
			continue
		}
		m := l.contextMessage(in)
		messages = append(messages, m)
		told.Sources = append(told.Sources, m.Context)
		chars += utf8.RuneCountInString(m.Text)
	}
	if len(messages) > 0 {
		told.Tokens = chars / compact.CharsPerToken
		events = append(events, told)
	}
	for _, f := range failures {
		events = append(events, l.hookFailed(f))
	}
	return messages, events
}

func (l *loop) hookFailed(f HookFailure) plug.PluginHookFailed {
	return plug.PluginHookFailed{
		Source: text.Short(visible(f.Source), maxSource), Hook: text.Short(visible(f.Hook), maxSource),
		Error: text.Short(llm.Redact(visible(f.Error), l.o.Secrets...), previewChars), Continued: true,
	}
}

// lasting is a context for what is kept although the person has just cancelled.
func (l *loop) lasting() context.Context { return context.WithoutCancel(l.ctx) }
