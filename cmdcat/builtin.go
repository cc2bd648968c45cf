package cmdcat

import (
	"context"
	"errors"
	"strings"

	"alisio/agent/text"
	"alisio/llm"
)

// HelpName is the command that lists the others; a slash alone stands for it.
const HelpName = "help"

// builtIn are the commands of this package.
func builtIn() []entry {
	return []entry{
		core(agentsName, "[ID]", "list the primary agents, or switch to one", runAgents).lasting("--agent"),
		core("btw", "QUESTION", "ask something beside the task; it is not kept", runBtw).texts(),
		core("changelog", "", "what changed in this version", runChangelog),
		core("clear", "", "begin a new session; this one is kept", runClear, "new").leaves().
			lasting("nothing is needed, each without --session begins a new session"),
		core("compact", "[TEXT|--show|--undo]", "sum up the older part of the conversation, TEXT says what to keep of it; --show prints what gave way to what, --undo takes the last one back", runCompact),
		core("effort", "[LEVEL]", "show or set the reasoning effort", runEffort).lasting("--effort"),
		core("export", "[markdown|jsonl] FILE", "write the session into a new file", runExport),
		core("model", "[NAME]", "list the models, or switch to one", runModel, "models").lasting("-m"),
		core("permission", "", "what may happen without a question, and what was granted", runPermission, "permissions"),
		core("plugins", "", "list the plugins and what they could not do", runPlugins),
		core("resume", "[ID]", "go on with another session of this workspace", runResume).leaves().lasting("--session"),
		core("sessions", "", "list the sessions of this workspace", runSessions),
		core("skills", "", "list the skills", runSkills),
		core("stats", "", "what this session used, for what, and how full the window is", runStats),
		core("tools", "", "the tools, and what keeps one from being offered", runTools),
		core("ask", "TEXT", "have the agent put a question to you", runAsk).texts().surface(),
		core("exit", "", "leave", runExit, "quit").surface(),
		core(HelpName, "[NAME]", "list the commands, or tell all of one", runHelp).surface(),
	}
}

func core(name, hint, description string, run runner, aliases ...string) entry {
	return entry{Descriptor{
		Name: name, Aliases: aliases, Description: description, ArgumentHint: hint, Source: FromBuiltIn, Execution: ByCore,
	}, run}
}

func (e entry) surface() entry {
	e.Execution = BySurface
	return e
}

func (e entry) texts() entry {
	e.TakesText = true
	return e
}

func (e entry) leaves() entry {
	e.Leaves = true
	return e
}

// lasting is a command that changes a conversation: with arguments if it takes some.
func (e entry) lasting(inRun string) entry {
	e.InRun, e.Bare = inRun, e.ArgumentHint == ""
	return e
}

func runHelp(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if in.Args != "" {
		d, err := c.Find(ctx, strings.TrimPrefix(in.Args, "/"))
		if err != nil {
			return Result{}, llm.Errorf(llm.CauseBadRequest, "%w", err).WithHint("/" + HelpName + " alone lists the commands")
		}
		return Result{Text: d.whole()}, nil
	}
	list, hidden, err := c.List(ctx)
	if err != nil {
		return Result{}, err
	}
	rows := make(text.Table, len(list))
	for i, d := range list {
		rows[i] = []string{d.usage(), d.Description}
		if also := d.also(); also != "" {
			rows[i][1] += " (also " + also + ")"
		}
	}
	out := rows.String()
	for _, h := range hidden {
		out += h.String() + "\n"
	}
	return Result{Text: out + "/" + HelpName + " NAME tells all of one\n"}, nil
}

// usage is how a command is given.
func (d Descriptor) usage() string {
	return strings.TrimSpace("/" + d.Name + " " + d.ArgumentHint)
}

// also are the other names.
func (d Descriptor) also() string {
	if len(d.Aliases) == 0 {
		return ""
	}
	return "/" + strings.Join(d.Aliases, ", /")
}

// whole is all that there is to be told of a command.
func (d Descriptor) whole() string {
	out := d.usage() + "\n" + d.Description + "\n"
	if also := d.also(); also != "" {
		out += "also: " + also + "\n"
	}
	out += "from: " + d.from() + "\n"
	switch {
	case d.Execution == BySurface:
		out += "in a conversation alone\n"
	case d.InRun != "" && d.Bare:
		out += "for a run: " + d.InRun + "\n"
	case d.InRun != "":
		out += "for a run: " + d.InRun + " " + strings.Trim(d.ArgumentHint, "[]") + "\n"
	}
	return out
}

func runExit(_ context.Context, _ *Catalog, in Input) (Result, error) {
	return Result{Exit: true}, noArgs(in)
}

func runAsk(_ context.Context, _ *Catalog, in Input) (Result, error) {
	if in.Args == "" {
		return Result{}, errors.New("say what to ask: /ask TEXT")
	}
	return Result{Prompt: &Prompt{
		Text:    "Put this question to me with the tool ask_user_question, with options that fit it, and go on with what I answer:\n\n" + in.Args,
		Display: "/ask " + in.Args,
	}}, nil
}
