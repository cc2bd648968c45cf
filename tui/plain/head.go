package plain

import (
	"context"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/cmdcat"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/term"
)

// head says what the conversation is with, and how to leave.
func (l *Lines) head(ctx context.Context, app *agent.App, t Talk) error {
	model, host, err := app.Endpoint(ctx)
	if err != nil || l.o.Quiet {
		return err
	}
	leave := "Ctrl+C stops a run; exit or Ctrl+D leaves"
	if l.banner() {
		l.print("%s\n\n", app.Startup(ctx, plug.ScreenContext{
			Terminal: l.terminal(), Access: cmdcat.AccessLine(app.Access(t.Session)), Tips: cmdcat.Tips(),
		}))
		// Model, server, directory and permissions were just said.
		if t.Session != "" {
			l.print("%s\n", sessionFact(t.Session))
		}
		if t.Workspace != "" && t.Workspace != t.Dir {
			l.print("workspace %s\n", one(t.Workspace))
		}
	} else {
		l.facts(model, host, t)
		leave += "; /help lists the commands"
	}
	l.print("%s", Fit(l.out, `Enter sends; \ at the end of a line goes on with the next; a line of `+blockMark+` begins and ends a block`+"\n"+leave+"\n"))
	return l.lastExchange(ctx, t, t.Session)
}

// banner reports whether the startup screen is shown: on a terminal alone, and where
// nobody said no.
func (l *Lines) banner() bool {
	return !l.o.Quiet && !l.o.NoBanner && l.o.Getenv("CI") == "" && l.in.terminal && term.IsTerminal(l.out)
}

// terminal is what a screen of plugins can show here.
func (l *Lines) terminal() plug.Terminal {
	columns, _ := term.Size(l.out)
	dumb := l.o.Getenv("TERM") == "dumb"
	return plug.Terminal{
		Color: !dumb && term.Color(l.out, l.o.Getenv), Unicode: !dumb && term.Unicode(l.o.Getenv),
		Columns: columns, Interactive: l.in.terminal,
	}
}

// facts are the head where no screen stands in front of it.
func (l *Lines) facts(model, host string, t Talk) {
	facts := []string{"alisio " + agent.Version, one(model)}
	if host != "" {
		facts[1] += " at " + one(host)
	}
	facts = append(append(facts, sessionFact(t.Session)), modeFact(t)...)
	l.print("%s\n", strings.Join(facts, " · "))
	if t.Workspace != "" {
		l.print("%s\n", one(t.Workspace))
	}
}

func modeFact(t Talk) []string {
	if t.Mode == "" {
		return nil
	}
	return []string{"permissions: " + t.Mode}
}

func sessionFact(id string) string {
	const short = 8
	if id == "" {
		return "new session"
	}
	return "session " + one(id[:min(len(id), short)])
}

// moves goes on with another session, or a new one, and shows what the head shows at
// the start. The command has said which session it is.
func (l *Lines) moves(ctx context.Context, app *agent.App, t Talk, session string) error {
	l.session = session
	if l.o.Quiet || session == "" {
		return nil
	}
	model, _, err := app.ModelOf(ctx, session)
	if err != nil {
		Failure(l.out, err)
		return nil
	}
	l.print("%s\n", strings.Join(append([]string{one(model.ID)}, modeFact(t)...), " · "))
	return l.lastExchange(ctx, t, session)
}

// lastExchange shows the end of what was said in the session that goes on.
func (l *Lines) lastExchange(ctx context.Context, t Talk, session string) error {
	if session == "" || t.History == nil {
		return nil
	}
	messages, err := t.History(ctx, session)
	if err != nil {
		return err
	}
	asked, said := "", ""
	for i := len(messages) - 1; i >= 0 && asked == ""; i-- {
		switch m := messages[i]; {
		case m.Role == llm.RoleAssistant && said == "":
			said = m.Text
		case m.Role == llm.RoleUser && m.Context == "":
			asked = m.Shown()
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
