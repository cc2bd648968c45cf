package cmdcat

import (
	"context"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/llm"
)

// runCompact compacts the conversation, shows what the last compaction did, or takes
// it back.
func runCompact(ctx context.Context, c *Catalog, in Input) (Result, error) {
	word, rest, _ := strings.Cut(in.Args, " ")
	switch {
	case (word == "show" || word == "undo") && rest == "": // a slip, and no wish
		return Result{}, fmt.Errorf("did you mean --%s? what a checkpoint is to hold takes more than this word", word)
	case !strings.HasPrefix(word, "-"):
		return compactNow(ctx, c, in)
	case word != "--show" && word != "--undo":
		err := fmt.Errorf("unknown flag %q", clip(word, 40))
		if near, ok := config.Nearest(word, []string{"--show", "--undo"}); ok {
			err = fmt.Errorf("%w; did you mean %s?", err, near)
		}
		return Result{}, err
	case strings.TrimSpace(rest) != "":
		return Result{}, fmt.Errorf("%s takes nothing behind it, found %q", word, clip(strings.TrimSpace(rest), 40))
	case word == "--show":
		r, err := c.app.LastCompaction(ctx, in.SessionID)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: replaced(r)}, nil
	}
	return undoCompaction(ctx, c, in)
}

func undoCompaction(ctx context.Context, c *Catalog, in Input) (Result, error) {
	u, err := c.app.UndoCompaction(ctx, in.SessionID)
	if err != nil {
		return Result{}, err
	}
	r := said("the last compaction is undone: the model sees %s again that it replaced", messages(u.Restored))
	if u.Due {
		r.Text += "that is nearly too long: the next prompt compacts it anew, unless compaction.auto is false\n"
	}
	return r, nil
}

func compactNow(ctx context.Context, c *Catalog, in Input) (Result, error) {
	out, err := c.app.Compact(ctx, in.SessionID, in.Args)
	switch {
	case err != nil:
		return Result{}, err
	case out.Done == nil:
		return said("nothing was compacted: %s", out.Why), nil
	}
	d := out.Done
	r := said("%s gave way to a checkpoint: about %d tokens before, %d now; /compact --show tells of it, /compact --undo takes it back",
		messages(d.Replaced), d.Before, d.After)
	if d.Partial {
		r.Text += "the checkpoint was cut by compaction.maxOutputTokens, and is used as far as it goes\n"
	}
	return r, nil
}

// replaced tells what gave way to what, without anything that could command a terminal.
func replaced(r agent.Replaced) string {
	var b strings.Builder
	if d := r.Told; d != nil {
		fmt.Fprintf(&b, "%s, %s: about %d tokens before, %d after it\n", r.When.Local().Format("2006-01-02 15:04"), text.Line(string(d.Reason)), d.Before, d.After)
	}
	fmt.Fprintf(&b, "\n%s gave way:\n", messages(len(r.Messages)))
	var rows text.Table
	first := max(0, len(r.Messages)-mostGists)
	if first > 0 {
		fmt.Fprintf(&b, "  … %s, and then\n", messages(first))
	}
	for _, m := range r.Messages[first:] {
		rows = append(rows, []string{" ", who(m), clip(gist(m), gistCells)})
	}
	b.WriteString(rows.String())
	b.WriteString("\nto this checkpoint:\n\n" + shown(r.Checkpoint.Text) + "\n")
	return b.String()
}

// gistCells is how wide the gist of a message may be: with who says it, a line of a
// terminal.
const gistCells = 64

// mostGists is how many messages are told one by one, the last ones.
const mostGists = 200

func who(m llm.Message) string {
	switch {
	case m.Summary:
		return "checkpoint"
	case m.Context != "":
		return "context"
	case m.Role == llm.RoleTool:
		return "result"
	}
	return text.Line(string(m.Role))
}

// gist is what a message says in a line, bounded before it is looked at.
func gist(m llm.Message) string {
	say := m.Text
	if m.Display != "" {
		say = m.Display
	}
	for _, p := range m.Parts {
		if p.Type == llm.PartText {
			say += " " + text.Head(p.Text, 4*gistCells)
		}
	}
	say = text.Head(strings.TrimSpace(say), 4*gistCells)
	var calls []string
	for _, call := range m.Calls {
		calls = append(calls, call.Name)
	}
	if len(calls) > 0 {
		say = strings.TrimSpace(say + " (calls " + strings.Join(calls, ", ") + ")")
	}
	if n := len(m.Attachments); n > 0 {
		say += fmt.Sprintf(" (images: %d)", n)
	}
	return say
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
