package cmdcat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
)

// noArgs refuses arguments of a command that takes none.
func noArgs(in Input) error {
	if in.Args == "" {
		return nil
	}
	return fmt.Errorf("it takes nothing behind the name, found %q", clip(in.Args, 40))
}

// agentsName is the command that lists agents; with arguments it is that of a plugin
// which has the name.
const agentsName = "agents"

func runAgents(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if in.Args != "" {
		if slices.ContainsFunc(c.app.SlashCommands(), func(s agent.SlashCommand) bool { return s.Name == agentsName }) {
			text, err := c.app.RunSlashCommand(ctx, agentsName, in.Args, in.SessionID)
			return Result{Text: text}, err
		}
		if err := c.app.SetAgent(in.SessionID, in.Args); err != nil {
			return Result{}, err
		}
		return said("the agent is %s now", in.Args), nil
	}
	now := c.app.AgentOf(in.SessionID)
	var rows text.Table
	for _, a := range c.app.Agents() {
		rows = append(rows, []string{mark(a.ID == now) + a.ID, a.Description, a.Owner})
	}
	return Result{Text: rows.String()}, nil
}

func runBtw(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if in.Args == "" {
		return Result{}, errors.New("say what to ask: /btw QUESTION")
	}
	answer, err := c.app.SideQuestion(ctx, in.SessionID, in.Args)
	return Result{Text: answer}, err
}

func runChangelog(_ context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	text := c.app.Changelog()
	if text == "" {
		return Result{}, errors.New("this program was built without its changelog")
	}
	return Result{Text: text}, nil
}

func runClear(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	c.app.Leave(ctx, in.SessionID)
	r := said("a new session")
	if in.SessionID != "" {
		r = said("a new session; the one before is kept as %s", short(in.SessionID))
	}
	r.Switch = new(string)
	return r, nil
}

func runEffort(ctx context.Context, c *Catalog, in Input) (Result, error) {
	model, effort, err := c.app.ModelOf(ctx, in.SessionID)
	if err != nil {
		return Result{}, err
	}
	levels := "it does not say which levels it has"
	if len(model.Efforts) > 0 {
		levels = "its levels: " + strings.Join(model.Efforts, ", ")
	}
	if in.Args == "" {
		return said("effort %s with %s; %s", cmp.Or(effort, "as the server has it"), model.ID, levels), nil
	}
	if len(model.Efforts) > 0 && !slices.Contains(model.Efforts, in.Args) {
		return Result{}, fmt.Errorf("%s has no level %q; %s", model.ID, clip(in.Args, 40), levels)
	}
	if err := c.app.SetEffort(in.SessionID, in.Args); err != nil {
		return Result{}, err
	}
	return said("the effort is %s now", in.Args), nil
}

func runExport(ctx context.Context, c *Catalog, in Input) (Result, error) {
	format, file := "markdown", in.Args
	word, rest := in.Args, ""
	if i := strings.IndexAny(in.Args, " \t\n"); i >= 0 {
		word, rest = in.Args[:i], strings.TrimSpace(in.Args[i:])
	}
	if word == "markdown" || word == "jsonl" {
		format, file = word, rest
	}
	switch {
	case rest != "" && slices.Contains([]string{"md", "json", "html", "pdf", "text", "txt"}, strings.ToLower(word)):
		return Result{}, fmt.Errorf("unknown format %q; use /export [markdown|jsonl] FILE", clip(word, 40))
	case file == "":
		return Result{}, errors.New("name the file: /export [markdown|jsonl] FILE")
	case in.SessionID == "":
		return Result{}, errors.New("nothing was said yet")
	}
	name, err := c.app.ExportTo(ctx, in.SessionID, format, file)
	if err != nil {
		return Result{}, err
	}
	return said("written to %s", name), nil
}

func runModel(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if in.Args != "" {
		m, err := c.app.SetModel(ctx, in.SessionID, in.Args)
		if err != nil {
			return Result{}, err
		}
		return said("the model is %s now", m.ID), nil
	}
	now, _, err := c.app.ModelOf(ctx, in.SessionID)
	if err != nil {
		return Result{}, err
	}
	list, err := c.app.Models(ctx, false)
	if err != nil {
		return said("the model is %s; the server's list could not be had: %s", now.ID, err), nil
	}
	var rows text.Table
	for _, m := range list.Models {
		rows = append(rows, []string{mark(m.ID == now.ID) + m.ID, window(m.ContextWindow)})
	}
	if len(rows) == 0 {
		return said("the model is %s; the server lists none", now.ID), nil
	}
	return Result{Text: rows.String()}, nil
}

func runPermission(_ context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	a := c.app.Access(in.SessionID)
	mode := "mode " + a.Mode
	if a.ReadOnly {
		mode += ", read-only"
	}
	rows := text.Table{{"write", a.Write}, {"process", a.Process}, {"external", a.External}}
	for _, row := range rows {
		if remedy := a.Remedies[row[0]]; remedy != "" {
			row[1] = "denied, " + remedy
		}
	}
	out := mode + "\n" + rows.String()
	for _, key := range a.Granted {
		out += "granted while this program runs: " + text.Line(key) + "\n"
	}
	return Result{Text: out}, nil
}

func runPlugins(_ context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	plugins, problems := c.app.Plugins(), c.app.DiagnosticLines()
	var rows text.Table
	for _, p := range plugins {
		rows = append(rows, []string{p.ID, p.Version, p.Registered})
	}
	out := rows.String()
	if len(rows) == 0 {
		out = "no plugin is set up\n"
	}
	for _, p := range problems {
		out += p + "\n"
	}
	return Result{Text: out}, nil
}

func runResume(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if in.Args == "" {
		return runSessions(ctx, c, in)
	}
	s, err := c.app.FindOwn(ctx, in.Args)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%w; /sessions lists those of this workspace", err)
	case s.ID == in.SessionID:
		return said("this is session %s", short(s.ID)), nil
	}
	c.app.Leave(ctx, in.SessionID)
	r := said("session %s: %s", short(s.ID), cmp.Or(text.Line(s.Title), "without a title"))
	r.Switch = &s.ID
	return r, nil
}

func runSessions(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	const most = 20
	list, err := c.app.Sessions(ctx, most)
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return said("no session of this workspace is stored"), nil
	}
	var rows text.Table
	for _, s := range list {
		when := ""
		if !s.Updated.IsZero() {
			when = s.Updated.Local().Format("2006-01-02 15:04")
		}
		rows = append(rows, []string{mark(s.ID == in.SessionID) + short(s.ID), when, clip(s.Title, 60)})
	}
	return Result{Text: rows.String() + "go on with one: /resume ID\n"}, nil
}

func runSkills(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	list, err := c.app.Skills(ctx)
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return said("no skill was found; alisio help skills says where they are looked for"), nil
	}
	var rows text.Table
	for _, s := range list {
		rows = append(rows, []string{s.Name, clip(s.Description, 80), s.Source})
	}
	return Result{Text: rows.String()}, nil
}

func runStats(ctx context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	s, err := c.app.Stats(ctx, in.SessionID)
	if err != nil {
		return Result{}, err
	}
	runs := strconv.Itoa(s.Runs)
	if s.Cut {
		runs = "more than " + runs + "; the tokens are those of the last " + runs
	}
	used := s.Usage
	if len(s.Account.Rows) > 0 { // with what was asked beside runs, and below them
		used = s.Account.Total.Usage
	}
	rows := text.Table{
		{"model", s.Model}, {"agent", s.Agent}, {"runs", runs}, {"messages", strconv.Itoa(s.Messages)},
		{"tokens", fmt.Sprintf("%d in (%d cached), %d out", used.Input, used.CachedInput, used.Output)},
	}
	if s.Fill.Used > 0 {
		rows = append(rows, []string{"window", filled(s.Fill)})
	}
	if b := s.Account.Bytes; b > 0 {
		rows = append(rows, []string{"prefix", fmt.Sprintf("%d %% of the bytes of requests were those of the one before", 100*s.Account.Shared/b)})
	}
	if s.Begins > 0 {
		rows = append(rows, []string{"profile", fmt.Sprintf("lean (provider.profile): instructions and tools take about %d tokens, beside instruction files", s.Begins)})
	}
	for _, p := range s.Statuses {
		rows = append(rows, []string{p.Plugin, p.Text})
	}
	out := rows.String()
	if len(s.Account.Rows) > 0 {
		out += "\n" + s.Account.Table().String() + "\n"
	}
	for _, p := range c.app.DiagnosticLines() {
		out += p + "\n"
	}
	return Result{Text: out}, nil
}

// filled tells how full the window is, and what comes of that.
func filled(f agent.Fill) string {
	if f.Window == 0 {
		return fmt.Sprintf("about %d tokens are taken, of how many is not known (provider.contextWindow)", f.Used)
	}
	out := fmt.Sprintf("about %d of %d tokens are taken", f.Used, f.Window)
	switch {
	case f.Due:
		out += "; the next prompt compacts"
	case f.At > 0:
		out += fmt.Sprintf("; from %d on a prompt compacts", f.At)
	}
	return out
}

func runTools(_ context.Context, c *Catalog, in Input) (Result, error) {
	if err := noArgs(in); err != nil {
		return Result{}, err
	}
	var rows text.Table
	for _, t := range c.app.Tools(in.SessionID) {
		rows = append(rows, []string{t.Name, t.Effect, cmp.Or(t.Why, "offered"), t.Owner})
	}
	return Result{Text: rows.String()}, nil
}

func said(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...) + "\n"}
}

func mark(on bool) string {
	if on {
		return "* "
	}
	return "  "
}

func window(tokens int) string {
	if tokens == 0 {
		return ""
	}
	return strconv.Itoa(tokens/1000) + "k window"
}

const shortID = 8

// short is the beginning of an id. A stored one may be foreign.
func short(id string) string {
	return text.Head(text.Line(id), shortID)
}

// shown is a text of lines without anything that could command a terminal.
func shown(s string) string {
	return strings.TrimRight(strings.ReplaceAll(text.Plain(s), "\t", "    "), "\n")
}

// clip is one clean line, no wider than so many cells.
func clip(s string, cells int) string { return text.Clip(text.Line(s), cells) }
