package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"syscall"
	"time"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/term"
)

// maxLine bounds a line about a tool, in cells.
const maxLine = 400

// Text streams the answer to one writer and tells of tools and notices on
// another. It is not safe for concurrent use: a run's events come one at a
// time.
type Text struct {
	out   io.Writer
	notes io.Writer
	stop  func()
	dim   bool
	diffs bool
	// space puts an empty line between the answer and what is told of tools:
	// both go to one screen.
	space bool
	told  bool // the last line on the screen was about a tool

	strip  text.Stripper
	line   []byte // the answer's unfinished line as it was printed
	raw    []byte // buffers of answer, kept
	clean  []byte
	titles map[string]string
	// seen are the calls that a person was shown before, and asked about.
	seen map[string]bool
	hold func() func()
	// running are the calls that may yet be told of as slow, each with its timer.
	running map[string]*slowCall
	live    bool
	pulse   *pulse // nil: nothing is told of silence
	err     error
}

// slowCall is a call that is told of when its timer has fired.
type slowCall struct {
	name  string
	timer *time.Timer
}

// TextOptions says where text goes.
type TextOptions struct {
	// Answer gets the answer alone.
	Answer io.Writer
	// Notes gets tool lines and notices; nil drops them.
	Notes io.Writer
	// Dim: Notes shows colour.
	Dim bool
	// Shared: both writers are the same screen.
	Shared bool
	// Diffs shows what was changed below the line about a change, unless a person
	// was shown it before and asked.
	Diffs bool
	// Hold takes the screen, as whoever calls Event has, and returns what gives it
	// back: with it a call that takes long is told of while it runs. Nil tells of none.
	Hold func() func()
	// Live: Notes is a terminal on which a line can be written again. With Hold, waits
	// are counted down there, and the model's silence is told of in one line.
	Live bool
	// Stop is called once when Answer can not be written to.
	Stop func()
}

// NewText makes a text surface.
func NewText(o TextOptions) *Text {
	if o.Notes == nil {
		o.Notes = io.Discard
	}
	return &Text{
		out: o.Answer, notes: o.Notes, stop: o.Stop, dim: o.Dim, diffs: o.Diffs, space: o.Shared,
		titles: make(map[string]string), seen: make(map[string]bool),
		hold: o.Hold, live: o.Live, running: make(map[string]*slowCall),
	}
}

// Err returns the error that ended the output, if any.
func (t *Text) Err() error { return t.err }

// Event shows one event.
func (t *Text) Event(e plug.Event) {
	t.heard()
	switch d := e.Data.(type) {
	case plug.RunStarted:
		t.listen()
	case plug.Delta:
		t.answer(d.Delta)
	case plug.TurnCompleted:
		t.endLine()
	case plug.ToolStarted:
		t.titles[d.ID] = d.Title
		t.watch(d.ID, d.Name)
	case plug.ApprovalRequested:
		t.seen[d.ID] = t.seen[d.ID] || d.Directory == ""
		t.unwatch(d.ID) // what follows is a person's time
	case plug.ApprovalResolved:
		t.watch(d.ID, d.Name)
	case plug.ToolCompleted:
		t.unwatch(d.ID)
		t.tool(d)
		delete(t.titles, d.ID)
		delete(t.seen, d.ID)
	case plug.PluginHookFailed:
		t.notice("hook %s of plugin %s failed: %s; the run goes on without it", one(d.Hook), one(d.Source), text.Line(d.Error))
	case plug.RequestRetry:
		t.retries(d)
	case plug.StreamRecovery:
		if t.space { // elsewhere the answer goes on where it broke off
			t.endLine()
		}
		t.notice("%s", recovered(d))
	case plug.TruncationRecovery:
		t.endLine()
		t.notice("%s", recut(d))
	case plug.CompactionStarted, plug.CompactionCompleted, plug.CompactionFailed, plug.ContextReduced:
		t.compacted(d)
	case plug.ResponseTruncated:
		t.notice("the answer was cut at %d output tokens (%s)", d.MaxOutputTokens, cutBy(d.Bound))
	case plug.RunCompleted:
		t.endLine()
		t.deaf()
		if d.Denied > 0 {
			t.notice("%s not allowed", Count(d.Denied, "call was", "calls were"))
		}
	case plug.RunTurnsExceeded:
		t.endLine()
		t.deaf()
		t.notice("stopped after %s; everything done so far is kept. --max-turns sets the limit", Count(d.Turns, "turn", "turns"))
	case plug.RunFailed, plug.RunCancelled:
		t.endLine()
		t.deaf()
	}
}

// answer prints new text at once. The stripper keeps the unfinished line so
// that a redraw can replace it; here what was printed can not be taken back, so
// a line that changed its start begins anew.
func (t *Text) answer(delta string) {
	t.raw = append(t.raw[:0], delta...)
	t.clean = t.strip.Append(append(t.clean[:0], '\n'), t.raw)
	pending := t.strip.Pending()
	t.clean = append(t.clean, pending...)
	if rest, ok := bytes.CutPrefix(t.clean[1:], t.line); ok {
		t.write(rest)
	} else {
		t.write(t.clean) // on a new line
	}
	t.line = append(t.line[:0], pending...)
}

// endLine ends the answer's line, if one stands open.
func (t *Text) endLine() {
	t.strip.Flush(nil)
	if len(t.line) > 0 {
		t.write([]byte("\n"))
	}
	t.line = t.line[:0]
}

func (t *Text) write(b []byte) {
	if len(b) == 0 || t.err != nil {
		return
	}
	if t.told && t.space {
		b = append([]byte("\n"), b...)
	}
	t.told = false
	if _, t.err = t.out.Write(b); t.err != nil {
		t.stop()
	}
}

// slow is how long a call runs before it is told of, once.
const slow = time.Second

// watch tells of a call when it has run for long. A timer that has fired waits for
// the screen, and by then the call may have ended.
func (t *Text) watch(id, name string) {
	if t.hold == nil {
		return
	}
	t.unwatch(id)
	c := &slowCall{name: name}
	t.running[id] = c
	c.timer = time.AfterFunc(slow, func() {
		defer t.hold()()
		if t.running[id] != c {
			return
		}
		delete(t.running, id)
		t.call(t.called(id, name) + " · running")
	})
}

func (t *Text) unwatch(id string) {
	if c := t.running[id]; c != nil {
		c.timer.Stop()
		delete(t.running, id)
	}
}

// pause ends the watch over calls while a person is asked, and returns what begins it
// again. Whoever calls either has the screen.
func (t *Text) pause() (resume func()) {
	paused, listened := maps.Clone(t.running), t.pulse != nil
	t.Close()
	return func() {
		if listened {
			t.listen()
		}
		for id, c := range paused {
			t.watch(id, c.name)
		}
	}
}

// Close ends what would be told later. Whoever calls it has the screen.
func (t *Text) Close() {
	t.deaf()
	for id := range t.running {
		t.unwatch(id)
	}
}

// called is a call's name and title, on one line.
func (t *Text) called(id, name string) string {
	line := text.Line(name)
	if title := text.Line(t.titles[id]); title != "" {
		line += " " + title
	}
	return line
}

// call prints a line about a call.
func (t *Text) call(line string) {
	t.endLine()
	if !t.told && t.space {
		fmt.Fprintln(t.notes)
	}
	t.told = true
	t.note(text.Clip(line, maxLine))
}

// tool tells of a finished call: name, title, summary, and the time when it was
// noticeable.
func (t *Text) tool(d plug.ToolCompleted) {
	line := t.called(d.ID, d.Name)
	switch {
	case d.Summary != "":
		line += " · " + text.Line(d.Summary)
	case d.IsError:
		first, _, _ := strings.Cut(d.Preview, "\n")
		line += " · " + text.Line(first)
	}
	if took := time.Duration(d.DurationMs) * time.Millisecond; took >= time.Second {
		line += fmt.Sprintf(" · %.1f s", took.Seconds())
	}
	t.call(line)
	if t.diffs && d.Result != nil && !t.seen[d.ID] {
		t.showDiff(d.Result)
	}
}

// maxDiff bounds the lines of a diff that are shown.
const maxDiff = 30

// showDiff shows the changed lines of a result, if it has any.
func (t *Text) showDiff(r *plug.Result) {
	for _, p := range r.Parts {
		var b plug.Block
		if p.Type != llm.PartUI || json.Unmarshal(p.Block, &b) != nil || b.Kind != plug.BlockDiff {
			continue
		}
		n := 0
		for line := range strings.Lines(b.Patch) {
			if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
				continue
			}
			if n++; n > maxDiff {
				t.note("    …")
				return
			}
			t.note("    " + text.Clip(text.Plain(strings.TrimRight(line, "\r\n")), maxLine))
		}
	}
}

// cutBy says what bounded an answer.
func cutBy(b plug.OutputBound) string {
	switch b {
	case plug.BoundBudget:
		return "the budget of this run leaves no more"
	case plug.BoundWindow:
		return "the model's window leaves no more"
	}
	return "limits.maxOutputTokens"
}

func (t *Text) notice(format string, args ...any) {
	t.note(Fit(t.notes, "notice: "+fmt.Sprintf(format, args...)))
}

func (t *Text) note(line string) { fmt.Fprintln(t.notes, t.dimmed(line)) }

func (t *Text) dimmed(line string) string {
	if t.dim {
		return "\x1b[2m" + line + "\x1b[0m"
	}
	return line
}

// Count writes a number with the right form of its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Gone reports whether an error of writing is that nobody reads any more.
func Gone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// Failure prints an error once, as "error:" and "hint:" lines. Further lines of an
// error are indented; errors that were joined have a block each.
func Failure(w io.Writer, err error) {
	for _, e := range joined(err) {
		block(w, "error: ", e.Error())
		var told *llm.Error
		if errors.As(e, &told) && told.Hint != "" {
			block(w, "hint:  ", told.Hint)
		}
	}
}

// joined returns the parts of what errors.Join made, else the error itself.
func joined(err error) []error {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok || len(all.Unwrap()) < 2 {
		return []error{err}
	}
	var parts []error
	var lines []string
	for _, e := range all.Unwrap() {
		parts = append(parts, joined(e)...)
		lines = append(lines, e.Error())
	}
	if strings.Join(lines, "\n") != err.Error() {
		return []error{err} // a sentence that holds several
	}
	return parts
}

// block prints lines, the first behind a head and the others below its text. On a
// terminal they are broken between words.
func block(w io.Writer, head, lines string) {
	width, _ := term.Size(w)
	for line := range strings.SplitSeq(text.Plain(lines), "\n") {
		pieces := []string{line}
		if width > 0 {
			pieces = text.Wrap(line, max(width, fewestCells)-len(head))
		}
		for _, piece := range pieces {
			fmt.Fprintln(w, strings.TrimRight(head+piece, " "))
			head = "       "
		}
	}
}
