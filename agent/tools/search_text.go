package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	defaultMatches = 100
	maxMatches     = 1000
	maxContext     = 20
)

// searchText finds lines in files. Number and length of what it gives are both
// bounded (C178), and every bound that was met is told together with the way to
// see the rest.
type searchText struct{}

type searchArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignoreCase"`
	Context    int    `json:"context"`
	Limit      int    `json:"limit"`
}

func (searchText) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "search_text",
		Description: "Search file contents line by line with an RE2 pattern (no look-around), or plain text with literal.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string"},` +
			`"path":{"type":"string","description":"directory or file, default: workspace"},` +
			`"glob":{"type":"string","description":"files to search: *.go, src/**/*.ts"},` +
			`"literal":{"type":"boolean"},"ignoreCase":{"type":"boolean"},` +
			`"context":{"type":"integer","minimum":0,"maximum":20,"description":"lines around a match"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"matches, default 100"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
	}
}

// Prepare refuses a bad pattern before anything is walked over.
func (searchText) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a searchArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	if err := a.check(); err != nil {
		return plug.Plan{}, err
	}
	_, p, err := place(ctx, c, a.Path)
	p.Title = within("“"+text.OneLine(a.Pattern, maxTitle)+"”", a.Path, p.Title)
	return p, err
}

// check refuses a pattern that can not match and says what would.
func (a searchArgs) check() error {
	switch {
	case a.Pattern == "":
		return errors.New("pattern is empty")
	case strings.Contains(a.Pattern, "\n"):
		return errors.New("pattern holds a line end, but lines are searched one by one: search for one of its lines")
	case a.Literal:
		return nil
	}
	_, err := syntax.Parse(a.Pattern, syntax.Perl)
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err
	}
	at := max(strings.Index(a.Pattern, bad.Expr), 0)
	hint := "set literal to true to search for plain text"
	if bad.Code == syntax.ErrInvalidPerlOp {
		hint = "RE2 has no look-around and no back references; " + hint
	}
	return fmt.Errorf("pattern is no valid RE2: %s %q at character %d; %s", bad.Code, text.Short(bad.Expr, 80), len([]rune(a.Pattern[:at]))+1, hint)
}

func (searchText) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a searchArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	if len(p.Paths) != 1 {
		return plug.Result{}, errPlan
	}
	if a.Limit <= 0 {
		a.Limit = defaultMatches
	}
	f := findings{limit: min(a.Limit, maxMatches)}
	stats, err := c.Files.Search(ctx, plug.SearchQuery{
		Pattern: a.Pattern, Literal: a.Literal, IgnoreCase: a.IgnoreCase,
		Path: p.Paths[0].Path, Glob: a.Glob, Context: min(max(a.Context, 0), maxContext),
	}, f.add)
	if err != nil {
		return plug.Result{}, err
	}
	f.overTime = stats.TimedOut
	return plug.Text(f.String(stats)).WithSummary("%s", f.summary()), nil
}

// findings collects matches under the name of their file, as grep with context
// prints them:
//
//	tax/total.go
//	11- context
//	12: match
type findings struct {
	limit int

	b       strings.Builder
	matches int
	clipped bool
	// cut: limit, size or time ended the search.
	overLimit, overSize, overTime bool

	// name and last are the file and the line written last; after holds the
	// lines behind it that are written when no match follows among them.
	name  string
	last  int
	after []string
}

// add takes the next match; false ends the search. A match beyond the limit is
// asked for, to know that there is one.
func (f *findings) add(m plug.Match) bool {
	if f.matches == f.limit {
		f.overLimit = true
		return false
	}
	if m.Name != f.name {
		f.flush(0)
		f.name, f.last = m.Name, 0
		if !m.Binary {
			f.b.WriteString(text.Plain(m.Name) + "\n")
		}
	}
	if m.Binary {
		f.b.WriteString(text.Plain(m.Name) + ": binary file matches\n")
		f.name = ""
	} else {
		f.line(m)
	}
	f.matches++
	f.overSize = f.b.Len() > maxPage-maxLine
	return !f.overSize
}

// line writes a matching line with the context before it that is not written
// yet.
func (f *findings) line(m plug.Match) {
	f.flush(m.Line)
	first := m.Line - len(m.Before)
	if f.last > 0 && first > f.last+1 && len(m.Before)+len(m.After) > 0 {
		f.b.WriteString("--\n")
	}
	for i, s := range m.Before {
		if first+i > f.last {
			f.write(first+i, '-', s)
		}
	}
	f.write(m.Line, ':', m.Text)
	f.clipped = f.clipped || m.Clipped
	f.after = m.After
}

// flush writes the lines after the last match that stand before line, or all of
// them when that is zero.
func (f *findings) flush(line int) {
	for _, s := range f.after {
		if line > 0 && f.last+1 >= line {
			break
		}
		f.write(f.last+1, '-', s)
	}
	f.after = nil
}

// write writes one line in the form of grep -n: a colon marks a match, a hyphen
// its context.
func (f *findings) write(line int, mark byte, s string) {
	fmt.Fprintf(&f.b, "%d%c %s\n", line, mark, text.Plain(s))
	f.last = line
}

// summary is the number of matches, a lower bound when the search was ended.
func (f *findings) summary() string {
	switch {
	case f.matches == 0 && f.overTime:
		return "no matches so far"
	case f.matches == 0:
		return "no matches"
	case f.overLimit || f.overSize || f.overTime:
		return fmt.Sprintf("%d+ matches", f.matches)
	}
	return count(f.matches, "match")
}

// String is the result for the model.
func (f *findings) String(stats plug.SearchStats) string {
	f.flush(0)
	body, left := headLines(f.b.String(), maxPage)
	var b strings.Builder
	b.WriteString(body)
	if f.matches == 0 {
		fmt.Fprintf(&b, "%s in %s", f.summary(), count(stats.Files, "file"))
	} else {
		fmt.Fprintf(&b, "(%s in %s searched", f.summary(), count(stats.Files, "file"))
	}
	b.WriteString(leftOut(stats.IgnoredCount, stats.HiddenCount))
	if stats.Unreadable > 0 {
		fmt.Fprintf(&b, "; %s could not be read", count(stats.Unreadable, "file"))
	}
	if stats.More {
		b.WriteString("; there are more files than one search covers: name a smaller path")
	}
	switch {
	case f.overTime:
		b.WriteString("; the search took too long and was ended: name a smaller path, a glob or a simpler pattern")
	case f.overSize || left > 0:
		b.WriteString("; the result is full: narrow pattern, path or glob for the rest")
	case f.overLimit && f.limit < maxMatches:
		fmt.Fprintf(&b, "; stopped at limit %d: raise it (at most %d) or narrow pattern, path or glob", f.limit, maxMatches)
	case f.overLimit:
		b.WriteString("; stopped at the largest limit: narrow pattern, path or glob")
	}
	if f.clipped {
		b.WriteString("; long lines are clipped around the match")
	}
	if f.matches > 0 {
		b.WriteByte(')')
	}
	return b.String()
}
