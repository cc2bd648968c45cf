package plain

import (
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
)

// maxCall and maxResult bound the arguments and the result of a call in a
// conversation that is shown, in cells.
const (
	maxCall   = 120
	maxResult = 120
)

// Transcript prints messages for a person: who said what, a line a call. Of a
// message that was copied the first is printed, and a copy that says less too.
type Transcript struct {
	Print func(string) error
	// Ends say of runs that did not end well how they ended, see BadEnds.
	Ends   map[string]string
	copies agent.Copies
	// run is that of the last prompt or answer.
	run string
	// open are the calls of the last answer that have no result yet.
	open []llm.ToolCall
}

// BadEnds are the runs of which more is to be said than their answer. An open run
// that nobody works on was interrupted.
func BadEnds(runs []agent.StoredRun, busy bool) map[string]string {
	ends := make(map[string]string)
	for _, r := range runs {
		switch {
		case r.Status == agent.Failed && r.Error != "":
			ends[r.ID] = "failed: " + text.Line(r.Error)
		case r.Status == agent.Failed, r.Status == agent.Cancelled, r.Status == agent.RunInterrupted:
			ends[r.ID] = string(r.Status)
		case r.Status == agent.TurnsExceeded:
			ends[r.ID] = "stopped at the turn limit"
		case !r.Status.Ended() && !busy:
			ends[r.ID] = string(agent.RunInterrupted)
		}
	}
	return ends
}

// Message prints one row. Results stand behind the calls that they answer; the
// calls of an answer are told of when their result comes, or when it is clear that
// none does.
func (t *Transcript) Message(m agent.Stored) error {
	repeats, shortened := t.copies.Repeats(m)
	switch {
	case repeats:
		return nil
	case m.Err != nil:
		return t.Print(fmt.Sprintf("\n[row %d is left out: %s]\n", m.Seq, text.Line(m.Err.Error())))
	case m.Message.Role == llm.RoleTool:
		return t.result(m.Message, shortened)
	}
	if err := t.closeCalls(); err != nil {
		return err
	}
	if t.run != m.RunID {
		if err := t.endRun(); err != nil {
			return err
		}
		t.run = m.RunID
	}
	who := "you"
	switch {
	case m.Message.Role == llm.RoleAssistant:
		who = "assistant"
	case m.Message.Context != "":
		who = "context from " + text.Line(m.Message.Context)
	}
	if m.Compacted {
		who += " (compacted)"
	}
	if shortened {
		who += " [shortened here]"
	}
	var b strings.Builder
	if body := strings.TrimRight(text.Plain(m.Message.Shown()), "\n"); body != "" {
		b.WriteString(body + "\n")
	}
	for _, a := range m.Message.Attachments {
		b.WriteString("[" + imageLine(a.MIMEType, len(a.Data)) + "]\n")
	}
	if m.Message.Truncated {
		b.WriteString("[cut at the output limit]\n")
	}
	if m.Message.Interrupted && t.Ends[m.RunID] == "" {
		b.WriteString("[interrupted]\n")
	}
	t.open = m.Message.Calls
	if b.Len() == 0 {
		return nil
	}
	return t.Print("\n" + who + ":\n" + b.String())
}

// result prints the line of a call that has its result.
func (t *Transcript) result(m llm.Message, shortened bool) error {
	var c llm.ToolCall
	for i, o := range t.open {
		if o.ID == m.CallID {
			c = o
			t.open = append(append([]llm.ToolCall{}, t.open[:i]...), t.open[i+1:]...)
			break
		}
	}
	said := text.Clip(text.Line(firstLine(m.PlainText())), maxResult)
	for _, p := range m.Parts {
		if p.Type == llm.PartImage {
			said = strings.TrimSpace(said + " [" + imageLine(p.MIMEType, len(p.Data)) + "]")
		}
	}
	if m.IsError {
		said = "failed: " + said
	}
	if shortened {
		said = "[shortened here] " + said
	}
	return t.Print("\n" + strings.TrimRight(callLine(c)+" · "+said, " ·") + "\n")
}

// Close ends the transcript.
func (t *Transcript) Close() error {
	if err := t.closeCalls(); err != nil {
		return err
	}
	return t.endRun()
}

// endRun says how the run ended whose messages were printed, unless it ended well.
func (t *Transcript) endRun() error {
	if end := t.Ends[t.run]; end != "" {
		return t.Print("\n[" + end + "]\n")
	}
	return nil
}

// closeCalls prints the calls that have no result.
func (t *Transcript) closeCalls() error {
	for _, c := range t.open {
		if err := t.Print("\n" + callLine(c) + " · no result is stored\n"); err != nil {
			return err
		}
	}
	t.open = nil
	return nil
}

// callLine is a call on one line. A result whose call is not in the answer before
// it was written by another program, or its row is damaged.
func callLine(c llm.ToolCall) string {
	if c.Name == "" {
		return "tool: (unknown call)"
	}
	return text.Clip(text.Line("tool: "+c.Name+" "+c.Arguments), maxCall)
}

// firstLine is the first line of a text that holds something.
func firstLine(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func imageLine(mime string, bytes int) string {
	return fmt.Sprintf("%s, %s", text.Line(mime), Size(int64(bytes)))
}

// Size writes a number of bytes in decimal units.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_500:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
