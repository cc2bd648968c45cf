package compact

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"alisio/llm"
)

// Checkpoint is what a model made of the messages that give way to it.
type Checkpoint struct {
	Goal          string   `json:"goal"`
	Instructions  []string `json:"instructions"`
	Discoveries   []string `json:"discoveries"`
	Accomplished  []string `json:"accomplished"`
	CurrentState  string   `json:"currentState"`
	NextSteps     []string `json:"nextSteps"`
	RelevantFiles []string `json:"relevantFiles"`

	// Fields are those that plugins asked for, as the model wrote them.
	Fields map[string]json.RawMessage `json:"-"`
	// Text is the whole of an answer that was no such JSON.
	Text string `json:"-"`
	// Structured: the fields above were read; Partial: the output limit cut them.
	Structured, Partial bool `json:"-"`
}

// Read makes a checkpoint of a model's answer: its JSON, with or without a fence or
// words around it; of an answer that was cut, the fields that are whole; else the
// text itself. ok is false when there is nothing in it, and that is also a form with
// nothing filled in, or the beginning of one that was cut.
func Read(answer string, cut bool) (c Checkpoint, ok bool) {
	answer = strings.TrimSpace(answer)
	if answer == "" {
		return c, false
	}
	if at := strings.IndexByte(answer, '{'); at >= 0 {
		whole := c.read(answer[at:])
		if c.says() && (whole || cut) {
			c.Structured, c.Partial = true, !whole
			return c, true
		}
		if form := bare(answer); strings.HasPrefix(form, "{") && (cut && !whole || whole && strings.HasSuffix(form, "}") && c.blank()) {
			return Checkpoint{}, false
		}
	}
	return Checkpoint{Text: answer, Partial: cut}, true
}

// bare is an answer without a fence around it.
func bare(answer string) string {
	if rest, ok := strings.CutPrefix(answer, "```"); ok {
		answer = strings.TrimSuffix(strings.TrimPrefix(rest, "json"), "```")
	}
	return strings.TrimSpace(answer)
}

// read takes the members of an object one by one, as far as they are whole.
func (c *Checkpoint) read(object string) (whole bool) {
	d := json.NewDecoder(strings.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		name, isText := key.(string)
		if err != nil || !isText {
			return false
		}
		at := d.InputOffset()
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				c.set(name, rest(object[at:]))
			}
			return false
		}
		c.set(name, raw)
	}
	_, err := d.Token()
	return err == nil
}

// rest closes the value behind a colon that was cut: of a list the members that are
// whole stay.
func rest(value string) json.RawMessage {
	value = strings.TrimLeft(value, ": \t\r\n")
	if !strings.HasPrefix(value, "[") {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(value))
	d.Token()
	var items []string
	for d.More() {
		var s string
		if d.Decode(&s) != nil {
			break
		}
		items = append(items, s)
	}
	raw, _ := json.Marshal(items) // strings always marshal
	return raw
}

func (c *Checkpoint) set(name string, raw json.RawMessage) {
	switch name {
	case "goal":
		c.Goal = strings.Join(lines(raw), "\n")
	case "instructions":
		c.Instructions = lines(raw)
	case "discoveries":
		c.Discoveries = lines(raw)
	case "accomplished":
		c.Accomplished = lines(raw)
	case "currentState":
		c.CurrentState = strings.Join(lines(raw), "\n")
	case "nextSteps":
		c.NextSteps = lines(raw)
	case "relevantFiles":
		c.RelevantFiles = lines(raw)
	default:
		if len(raw) > 0 {
			if c.Fields == nil {
				c.Fields = map[string]json.RawMessage{}
			}
			c.Fields[name] = raw
		}
	}
}

// lines takes a text or a list of texts; of anything else the JSON stands.
func lines(raw json.RawMessage) []string {
	var s string
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &s) == nil:
		if s = strings.TrimSpace(s); s == "" {
			return nil
		}
		return []string{s}
	case json.Unmarshal(raw, &list) == nil:
		var all []string
		for _, item := range list {
			all = append(all, lines(item)...)
		}
		return all
	}
	return []string{string(raw)}
}

func (c *Checkpoint) says() bool {
	return c.Goal != "" || c.CurrentState != "" || len(c.Instructions)+len(c.Discoveries)+len(c.Accomplished)+len(c.NextSteps) > 0
}

// blank reports whether nothing was read at all.
func (c *Checkpoint) blank() bool { return !c.says() && len(c.RelevantFiles)+len(c.Fields) == 0 }

// JSON is the checkpoint as plugins get it: its object, or its text.
func (c *Checkpoint) JSON() json.RawMessage {
	var raw []byte
	if c.Structured {
		raw, _ = json.Marshal(c) // texts always marshal
	} else {
		raw, _ = json.Marshal(c.Text)
	}
	return raw
}

const head = "[checkpoint of the program] The conversation before this point was replaced by this summary, to make room. " +
	"What it says was written by you and by the user; go on from here. Tools are called by their interface alone, never by text.\n"

// Message is what stands in the place of the messages that were replaced: the
// checkpoint, and what the user said in them.
func (c *Checkpoint) Message(replaced []llm.Message, l Limits) llm.Message {
	var b strings.Builder
	b.WriteString(head)
	if !c.Structured {
		b.WriteString("\n" + quoted(c.Text) + "\n")
	}
	section(&b, "Goal", c.Goal)
	section(&b, "Instructions", c.Instructions...)
	section(&b, "Found out", c.Discoveries...)
	section(&b, "Done", c.Accomplished...)
	section(&b, "Where it stands", c.CurrentState)
	section(&b, "Next", c.NextSteps...)
	section(&b, "Files", c.RelevantFiles...)
	section(&b, wordsTitle, bounded(words(replaced), l.wordsRoom())...)
	return llm.Message{Role: llm.RoleUser, Summary: true, Text: strings.TrimRight(b.String(), "\n")}
}

// The parts of a checkpoint are lists whose further lines are indented, so that nothing
// in them, words of people above all, can end one or begin another.
const (
	heading = "## "
	bullet  = "- "
	indent  = "  "
)

func section(b *strings.Builder, title string, all ...string) {
	if len(all) == 0 || len(all) == 1 && all[0] == "" {
		return
	}
	b.WriteString("\n" + heading + title + "\n")
	for _, s := range all {
		b.WriteString(bullet + strings.ReplaceAll(s, "\n", "\n"+indent) + "\n")
	}
}

// quoted keeps a text from beginning a list of its own in a checkpoint.
func quoted(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") }
