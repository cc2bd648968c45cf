package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	// briefLines and briefBytes bound what is shown of a question at once; the rest
	// is shown when it is asked for, and nothing is allowed before.
	briefLines = 100
	briefBytes = 16 << 10
	// gutter stands before each line of foreign text, and goneOn before the rest of
	// a line that is too long: nothing foreign begins where our own words begin.
	gutter, goneOn = "  | ", "  . "
)

// sheet is what is shown of a question, in lines of so many cells.
type sheet struct {
	cells int
	lines []string
}

// question writes down exactly what is asked: the facts first, then the command,
// its input and the change. Whole adds what the short form says in other words.
func question(q plug.Question, current string, cells int, whole bool) []string {
	s := &sheet{cells: cells}
	s.head(q, current)
	if q.Protected != "" {
		s.say("protected: %s: asked every time", one(q.Protected))
	} else if q.Kind != plug.AskDirectory && grantable(q) {
		s.say("a covers, while this program runs: %s", one(q.Plan.Key))
	}
	s.places(q)
	s.lookAlikes(q)
	s.command(q.Plan, whole)
	s.block("standard input", q.Plan.Stdin)
	s.preview(q.Plan.Preview)
	return s.lines
}

// grantable reports whether a yes can be given for the session. The gate grants no
// protected path and nothing without a key.
func grantable(q plug.Question) bool {
	return q.Kind == plug.AskDirectory || q.Protected == "" && q.Plan.Key != ""
}

// head says who wants what.
func (s *sheet) head(q plug.Question, current string) {
	who := one(q.Tool) + from(q, current)
	if q.Kind == plug.AskDirectory {
		s.add("", "question: "+who+" wants to use a directory outside the workspace:")
		s.foreign(q.Directory)
		s.say("a yes opens all of that directory, not this file alone")
	} else {
		s.add("", "question: "+who+" wants to "+deed(q.Plan.Effect))
	}
	if title := one(q.Plan.Title); title != "" && len(q.Plan.Argv) == 0 && q.Plan.Shell == "" {
		s.say("for: %s", title)
	}
}

// from says whose question it is when it is not the conversation's own: the path of
// the agent, and the session.
func from(q plug.Question, current string) string {
	var parts []string
	if q.Label != "" {
		parts = append(parts, one(q.Label))
	}
	if q.SessionID != "" && current != "" && q.SessionID != current {
		parts = append(parts, "session "+one(q.SessionID))
	}
	if len(parts) == 0 {
		return ""
	}
	return " of " + strings.Join(parts, ", ")
}

// deed says what an effect is to a person.
func deed(e plug.Effect) string {
	switch e {
	case plug.EffectRead:
		return "read"
	case plug.EffectWrite:
		return "change files"
	case plug.EffectProcess:
		return "run a program"
	case plug.EffectInternal:
		return "change what alisio keeps"
	}
	return "reach beyond this machine, or do what nobody can tell"
}

// places says where: the directory of a command, files that are changed, servers.
func (s *sheet) places(q plug.Question) {
	if q.Plan.Dir != "" {
		s.say("in: %s", one(q.Plan.Dir))
	}
	for _, p := range q.Plan.Paths {
		switch {
		case p.Access != plug.AccessRead:
			s.say("changes: %s", one(p.Path))
		case p.Path != q.Plan.Dir:
			s.say("reads: %s", one(p.Path))
		}
	}
	for _, h := range q.Plan.Hosts {
		s.say("contacts: %s", one(h))
	}
}

// command shows what is run, and with whole each word of it by itself.
func (s *sheet) command(p plug.Plan, whole bool) {
	if p.Shell != "" {
		s.say("in a shell:")
		s.foreign(p.Shell)
	}
	if len(p.Argv) == 0 {
		return
	}
	words := make([]string, len(p.Argv))
	for i, w := range p.Argv {
		words[i] = text.ShellWord(w)
	}
	s.say("without a shell:")
	s.foreign(strings.Join(words, " "))
	for i, w := range p.Argv {
		if whole {
			s.say("word %d: %s", i, text.QuoteName(w))
		}
	}
}

func (s *sheet) block(what, body string) {
	if body != "" {
		s.say("%s:", what)
		s.foreign(body)
	}
}

// preview shows what will change.
func (s *sheet) preview(b *plug.Block) {
	if b == nil {
		return
	}
	for _, part := range []struct{ what, body string }{
		{"the change", b.Patch}, {"command", b.Command}, {"output", b.Output}, {"text " + one(b.Caption), b.Code},
	} {
		s.block(strings.TrimSpace(part.what), strings.TrimSuffix(part.body, "\n"))
	}
	if b.Truncated {
		s.say("that is not the whole change: it is too long for the tool to show")
	}
}

// lookAlikes names characters that pass for others: letters of another script
// beside Latin ones in a word, and those that look like punctuation of ASCII.
func (s *sheet) lookAlikes(q plug.Question) {
	p := q.Plan
	all := append([]string{p.Shell, p.Dir, q.Directory}, p.Argv...)
	all = append(all, p.Hosts...)
	for _, path := range p.Paths {
		all = append(all, path.Path)
	}
	var found []string
	for _, each := range all {
		for _, word := range strings.FieldsFunc(each, func(r rune) bool { return r < 0x80 && !unicode.IsLetter(r) }) {
			found = append(found, masked(word)...)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if n := len(found); n > 0 {
		const most = 8
		s.say("looks like something else: %s", strings.Join(found[:min(n, most)], " "))
	}
}

// masked are the characters of a word that pass for others.
func masked(word string) []string {
	latin := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	var found []string
	for _, r := range word {
		if r < 0x80 {
			continue
		}
		as := text.Skeleton(string(r))
		mark := len(as) == 1 && !unicode.IsLetter(r)
		wide := r >= 0xFF01 && r <= 0xFF5E || r >= 0x1D400 && r <= 0x1D7FF
		letter := latin && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
		if mark || wide || letter {
			found = append(found, fmt.Sprintf("%s=<U+%04X>", text.Visible(string(r)), r))
		}
	}
	return found
}

// say adds a line of our own words; what is foreign in it has gone through one.
func (s *sheet) say(format string, args ...any) { s.add("  ", fmt.Sprintf(format, args...)) }

// foreign adds text as it is, each line behind the gutter.
func (s *sheet) foreign(body string) {
	for line := range strings.SplitSeq(text.Visible(body), "\n") {
		s.add(gutter, line)
	}
}

// add adds a line behind a head, in as many lines of the screen as it takes.
func (s *sheet) add(head, line string) {
	for _, piece := range s.pieces(line) {
		s.lines = append(s.lines, head+piece)
		head = goneOn
	}
}

// maxCluster bounds the bytes of one cluster of characters: more are marks piled
// up until they cover the lines around.
const maxCluster = 40

// pieces cuts a line where the screen ends, and loses nothing of it. A tab counts
// as the most cells that it can take.
func (s *sheet) pieces(line string) []string {
	const tab = 8
	var all []string
	var b strings.Builder
	used := 0
	for line != "" {
		n, cells := text.First(line)
		cluster := line[:n]
		if n > maxCluster {
			cluster = strconv.QuoteToASCII(cluster)
			cells = len(cluster)
		} else if cluster == "\t" {
			cells = tab
		}
		if used+cells > s.cells && used > 0 {
			all = append(all, b.String())
			b.Reset()
			used = 0
		}
		b.WriteString(cluster)
		used += cells
		line = line[n:]
	}
	return append(all, b.String())
}

// one is foreign text within a line of ours: nothing hidden, nothing removed, and
// line ends in sight.
func one(s string) string {
	return strings.NewReplacer("\n", "<U+000A>", "\t", "<U+0009>").Replace(text.Visible(s))
}

// present prints so much of a question as is shown at once, and reports whether that is
// all of it. Before is what can not be done until the rest was shown.
func (l *Lines) present(whole []string, before string) (all bool) {
	shown, all := brief(whole)
	l.print("\n%s\n", strings.Join(shown, "\n"))
	if !all {
		l.print("%s%d more lines, which ? shows%s\n", goneOn, len(whole)-len(shown), before)
	}
	return all
}

// brief is so much of the lines as is shown at once, and whether that is all.
func brief(lines []string) (shown []string, all bool) {
	size := 0
	for i, line := range lines {
		if size += len(line); i >= briefLines || size > briefBytes {
			return lines[:i], false
		}
	}
	return lines, true
}
