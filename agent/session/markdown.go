package session

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/session/codec"
	"alisio/agent/text"
	"alisio/db"
	"alisio/llm"
)

// maxShown is how much of a result a transcript shows, in characters.
const maxShown = 2000

// maxWords bounds paths and errors in it, in characters.
const maxWords = 10_000

// Markdown writes a session as a transcript for people: its messages in order,
// those that a compaction replaced too, copies once unless they say less. It holds
// no control character but line feeds and tabs, and no bidi control: no text in it
// can command the terminal that shows it. What it leaves out it says.
func (s *SQLite) Markdown(ctx context.Context, id string, w io.Writer) error {
	head, err := s.db.Session(ctx, id)
	if err != nil {
		return mapped("export session "+id, err)
	}
	t := transcript{w: bufio.NewWriterSize(w, 64<<10)}
	t.head(head)
	var copies Copies
	err = s.eachMessage(ctx, id, func(row db.Message) error {
		m := Stored{Seq: row.Seq, Compacted: row.Compacted, CopyOf: row.CopyOf}
		m.Message, m.Err = codec.Decode([]byte(row.Body))
		repeats, shortened := copies.Repeats(m)
		if repeats {
			return nil
		}
		return t.message(m, shortened)
	})
	if err == nil {
		err = t.w.Flush()
	}
	return mapped("export session "+id, err)
}

// transcript writes blocks with an empty line before each.
type transcript struct {
	w *bufio.Writer
}

// head writes the title and where the session belongs.
func (t transcript) head(h db.Session) {
	title := plainWords(h.Title, maxTitle)
	if title == "" {
		title = "Session " + plainWords(h.ID, maxTitle)
	}
	fmt.Fprintf(t.w, "# %s\n\n- session: %s\n- workspace: %s\n", title, plainWords(h.ID, maxTitle), plainWords(h.Workspace, maxWords))
	if h.Model != "" {
		fmt.Fprintf(t.w, "- model: %s\n", plainWords(h.Model, maxTitle))
	}
	if h.CreatedMs != 0 {
		fmt.Fprintf(t.w, "- begun: %s\n", moment(h.CreatedMs).UTC().Format("2006-01-02 15:04 MST"))
	}
}

// message writes one message. An error of the writer stays until Flush.
func (t transcript) message(row Stored, shortened bool) error {
	if row.Err != nil {
		_, err := fmt.Fprintf(t.w, "\n*A message that can not be read is left out: %s.*\n", plainWords(row.Err.Error(), maxWords))
		return err
	}
	m := row.Message
	name := map[llm.Role]string{llm.RoleUser: "You", llm.RoleAssistant: "Assistant", llm.RoleTool: "Result"}[m.Role]
	if m.Context != "" {
		name = "Context from " + plainWords(m.Context, maxTitle)
	}
	if row.Compacted {
		name += " (compacted)"
	}
	if shortened {
		name += " [shortened here]"
	}
	fmt.Fprintf(t.w, "\n## %s\n", name)
	t.text(cmp.Or(m.Display, m.Text))
	for _, a := range m.Attachments {
		t.image(a.MIMEType, len(a.Data))
	}
	for _, c := range m.Calls {
		fmt.Fprintf(t.w, "\nCall of %s:\n", plainWords(c.Name, maxTitle))
		t.fenced(c.Arguments)
	}
	for _, p := range m.Parts {
		t.part(p)
	}
	switch {
	case m.IsError:
		t.note("The call failed.")
	case m.Truncated:
		t.note("The answer was cut at the output limit.")
	case m.Interrupted:
		t.note("The answer was interrupted.")
	}
	return nil
}

func (t transcript) note(text string) { fmt.Fprintf(t.w, "\n*%s*\n", text) }

// text quotes prose: what a person or a model wrote as Markdown stays so, but no
// heading of it can pass for one of the transcript, and no fence that it leaves
// open goes on behind it.
func (t transcript) text(text string) {
	if text == "" {
		return
	}
	fmt.Fprint(t.w, "\n")
	fence := ""
	for line := range strings.Lines(strings.TrimRight(visible(text), "\n") + "\n") {
		line = strings.TrimSuffix(line, "\n")
		was := fence
		if fence = nextFence(line, fence); fence == "" && was == "" {
			line = strings.ReplaceAll(line, "<", "&lt;") // a backslash may stand before it
		}
		fmt.Fprintf(t.w, "%s\n", strings.TrimRight("> "+line, " "))
	}
}

// nextFence returns the fence that is open behind a line, if one is. One that is
// indented opens nothing here: it could belong to a list, and end with it. In doubt
// a line is outside, where tags are made harmless.
func nextFence(line, open string) string {
	rest := strings.TrimLeft(line, " ")
	mark := ""
	for _, c := range []string{"`", "~"} {
		if n := len(rest) - len(strings.TrimLeft(rest, c)); n >= 3 {
			mark = rest[:n]
		}
	}
	switch info := rest[len(mark):]; {
	case open == "" && mark != "" && len(rest) == len(line) && (mark[0] == '~' || !strings.Contains(info, "`")):
		return mark
	case open != "" && strings.HasPrefix(mark, open) && strings.Trim(info, " \t") == "" && len(line)-len(rest) < 4:
		return ""
	}
	return open
}

// plainWords makes one line of foreign text that Markdown takes for nothing else:
// no heading, tag, link or picture.
func plainWords(foreign string, most int) string {
	var b strings.Builder
	for i, r := range visible(text.OneLine(foreign, most)) {
		if strings.ContainsRune("\\`*[]<>#!|&~", r) || i == 0 && strings.ContainsRune("-+=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// image names a picture and its size.
func (t transcript) image(mime string, bytes int) {
	fmt.Fprintf(t.w, "\n[%s, %s]\n", plainWords(mime, maxTitle), size(int64(bytes)))
}

// size writes a number of bytes in decimal units, as the command line does.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_500:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// part writes a piece of a result, shortened.
func (t transcript) part(p llm.Part) {
	switch p.Type {
	case llm.PartText:
		t.fenced(text.Head(p.Text, maxShown))
		if rest := utf8.RuneCountInString(p.Text) - maxShown; rest > 0 {
			t.note(fmt.Sprintf("%d more characters are left out.", rest))
		}
	case llm.PartImage:
		t.image(p.MIMEType, len(p.Data))
	case llm.PartUI: // says for screens what the text says
	default:
		t.note("A part of type " + plainWords(string(p.Type), maxTitle) + " is left out.")
	}
}

// fenced writes a text between fences longer than any run of backticks in it.
func (t transcript) fenced(text string) {
	text = visible(text)
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(t.w, "\n%s\n%s\n%s\n", fence, strings.TrimRight(text, "\n"), fence)
}

// visible replaces what is no text by pictures of it: U+2400 and on for C0
// controls, U+FFFD for C1 and bidi controls and the separators of lines. A
// carriage return before a line feed is dropped.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
