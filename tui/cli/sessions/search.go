package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// usualHits is how many sessions a search shows without --limit.
const usualHits = 20

// hit is a session that was found, as --json prints it.
type hit struct {
	entry
	// Hits is how many of its messages match; Seq, Role and Snippet are of the best.
	Hits    int    `json:"hits"`
	Seq     int64  `json:"seq"`
	Role    string `json:"role"`
	Snippet string `json:"snippet"`
}

// Search finds sessions by what was said in them.
func Search(ctx context.Context, c *Call) (int, error) {
	query := strings.Join(c.Args, " ")
	if strings.TrimSpace(query) == "" {
		return base.ExitUsage, errors.New(`say what to look for: alisio sessions search WORD…; '"two words"' together, 'word*' for what begins so, -- -word for what is not to be there`)
	}
	limit := c.Limit
	if limit == 0 {
		limit = usualHits
	}
	dir, err := c.WorkingDir()
	if err != nil && (c.Here || c.Cwd != "") {
		return base.ExitUsage, err
	}
	store, code, err := c.Look(ctx)
	switch {
	case err != nil:
		return code, err
	case store == nil:
		c.Notice("no session is stored yet")
		return base.ExitDone, nil
	}
	defer store.Close()
	x, err := agent.OpenSearch(ctx, store)
	if err != nil {
		return base.ExitFailed, err
	}
	defer x.Close()
	x.Long = func() { c.Notice("the index of all that was said is being made, once: that takes a while") }
	here := ""
	if c.Here {
		here = agent.Root(dir, c.Getenv("HOME"))
	}
	found, err := x.Search(ctx, query, limit, here)
	switch wrong := agent.QueryError(""); {
	case errors.As(err, &wrong):
		return base.ExitUsage, err
	case err != nil:
		return base.ExitFailed, err
	}
	if err := c.printFound(ctx, store, found); err != nil {
		return base.ExitFailed, err
	}
	switch {
	case len(found.Hits) == 0:
		c.Notice("nothing was found")
	case found.More:
		c.Notice("there are more; --limit shows them, further words narrow it")
	}
	if found.Newest {
		c.Notice("it stands in very many messages: the newest come first")
	}
	return base.ExitDone, nil
}

// printFound prints what was found: a session as lists have it, and below it what was
// said. All of it is foreign.
func (c *Call) printFound(ctx context.Context, store *agent.Store, found agent.Found) error {
	places, err := workspaces(ctx, store)
	if err != nil {
		return err
	}
	now, home := time.Now(), c.Getenv("HOME")
	colour := term.Color(c.Stdout, c.Getenv)
	for _, h := range found.Hits {
		snippet := strings.TrimSpace(h.Before + h.Match + h.After)
		if c.JSON {
			j := hit{entry: entryOf(agent.Summary{Session: h.Session}, places), Hits: h.Messages, Seq: h.Seq, Role: string(h.Role), Snippet: snippet}
			if err := c.PrintJSON(json.Marshal(j)); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%s %6s  %s  %s", shortID(h.Session.ID), plain.Age(now, h.Session.Updated),
			text.Clip(base.Title(h.Session), base.MaxTitle), placeName(h.Session.Workspace, home, places))
		if h.Messages > 1 {
			line += fmt.Sprintf("  [%d messages]", h.Messages)
		}
		role := "    " + text.Line(string(h.Role)) + ": "
		said := plain.Fit(c.Stdout, role+snippet)
		if colour {
			said = embolden(said, role+strings.TrimLeft(h.Before, " "), h.Match)
		}
		if err := c.Print(line + "\n" + said + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// embolden has match stand out in a text that was broken into lines, in which it stands
// behind before. What breaks lines moves spaces alone, so that all else is counted.
func embolden(said, before, match string) string {
	ink := func(s string) int { return len(strings.Join(strings.Fields(s), "")) }
	start := ink(before)
	end := start + ink(match)
	var b strings.Builder
	n, bold := 0, false
	for _, r := range said {
		space := unicode.IsSpace(r)
		switch {
		case bold && (n >= end || r == '\n'):
			b.WriteString("\x1b[0m")
			bold = false
		case !bold && !space && n >= start && n < end:
			b.WriteString("\x1b[1m")
			bold = true
		}
		b.WriteRune(r)
		if !space {
			n += utf8.RuneLen(r)
		}
	}
	if bold {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
