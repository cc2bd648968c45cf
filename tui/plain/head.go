package plain

import (
	"context"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
)

// head says what the conversation is with, and how to leave.
func (l *Lines) head(ctx context.Context, app *agent.App, t Talk) error {
	model, host, err := app.Endpoint(ctx)
	if err != nil || l.o.Quiet {
		return err
	}
	facts := []string{"alisio " + agent.Version, one(model)}
	if host != "" {
		facts[1] += " at " + one(host)
	}
	const short = 8
	if t.Session == "" {
		facts = append(facts, "new session")
	} else {
		facts = append(facts, "session "+one(t.Session[:min(len(t.Session), short)]))
	}
	if t.Mode != "" {
		facts = append(facts, "permissions: "+t.Mode)
	}
	l.print("%s\n", strings.Join(facts, " · "))
	if t.Workspace != "" {
		l.print("%s\n", one(t.Workspace))
	}
	l.print("Enter sends; \\ at the end of a line goes on with the next; a line of %s begins and ends a block\n", blockMark)
	l.print("Ctrl+C stops a run; exit or Ctrl+D leaves\n")
	if t.Session != "" && t.History != nil {
		return l.lastExchange(ctx, t)
	}
	return nil
}

// lastExchange shows the end of what was said in the session that goes on.
func (l *Lines) lastExchange(ctx context.Context, t Talk) error {
	messages, err := t.History(ctx, t.Session)
	if err != nil {
		return err
	}
	asked, said := "", ""
	for i := len(messages) - 1; i >= 0 && asked == ""; i-- {
		switch m := messages[i]; {
		case m.Role == llm.RoleAssistant && said == "":
			said = m.Text
		case m.Role == llm.RoleUser && m.Context == "":
			asked = m.Text
		}
	}
	l.last("you", asked)
	l.last("assistant", said)
	return nil
}

// last prints the first lines of what somebody said.
func (l *Lines) last(who, said string) {
	const most = 12
	lines := strings.Split(strings.TrimSpace(text.Plain(said)), "\n")
	if lines[0] == "" {
		return
	}
	l.print("\n%s:\n", who)
	for i, line := range lines {
		if i == most {
			l.print("  … %s\n", Count(len(lines)-most, "more line", "more lines"))
			return
		}
		l.print("  %s\n", text.Clip(line, maxLine))
	}
}
