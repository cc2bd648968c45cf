package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"alisio/agent"
	"alisio/agent/doctor"
	"alisio/tui/cli/base"
	"alisio/tui/term"
)

// runDoctor checks what a run needs, without asking anybody; with --network what a
// run would contact, with --store what is kept, which --fix repairs.
func runDoctor(ctx context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	switch {
	case c.fix && !c.store:
		return base.ExitUsage, errors.New("--fix needs what it is to repair: " + c.Command("doctor --store --fix"))
	case c.store && !c.network:
		return c.InOrder(ctx, c.checkStore)
	}
	return c.InOrder(ctx, func(ctx context.Context) (int, error) {
		code, err := c.checkSetup(ctx)
		if err != nil || !c.store {
			return code, err
		}
		more, err := c.checkStore(ctx)
		return max(code, more), err
	})
}

// checkSetup prints what a run would be made from, or what it would contact.
func (c *call) checkSetup(ctx context.Context) (int, error) {
	here, err := c.WorkingDir()
	if err != nil {
		return base.ExitUsage, err
	}
	dirs, err := c.Homes()
	if err != nil {
		return base.ExitUsage, err
	}
	plugins, err := c.builtIn()
	if err != nil {
		return base.ExitUsage, err
	}
	l, err := c.layers(here, here, dirs)
	if err != nil {
		return base.ExitUsage, err
	}
	o := doctor.Options{
		App:  agent.Options{Dir: here, Dirs: dirs, Policy: c.policy, Project: l.project, Plugins: plugins, Tools: c.tools, Effort: c.effort, Getenv: c.Getenv},
		Load: l.load, Terminal: c.terminal(),
	}
	if o.StorePath = c.DB; c.DB != "" {
		if o.StorePath, err = c.Absolute(c.DB); err != nil {
			return base.ExitUsage, err
		}
	}
	check := doctor.Examine
	if c.network {
		check = doctor.Network
	}
	var list []base.Finding
	for _, f := range check(ctx, o) {
		list = append(list, base.Finding{Level: f.Level, Name: f.Name, Text: f.Text, Remedy: f.Remedy})
	}
	if ctx.Err() != nil {
		return base.ExitCancelled, ctx.Err()
	}
	return c.PrintFindings(list)
}

// terminal is what is known of the person's terminal, in words.
func (c *call) terminal() doctor.Terminal {
	t := doctor.Terminal{Term: c.Getenv("TERM"), Locale: cmp.Or(c.Getenv("LC_ALL"), c.Getenv("LC_CTYPE"), c.Getenv("LANG"))}
	switch {
	case term.Color(c.Stdout, c.Getenv):
		t.Colour = "colour"
	case c.Getenv("NO_COLOR") != "":
		t.Colour = "none: NO_COLOR"
	default:
		t.Colour = "none"
	}
	if w, h := term.Size(c.Stdout); w > 0 {
		t.Size = fmt.Sprintf("%dx%d", w, h)
	}
	return t
}

func (c *call) checkStore(ctx context.Context) (int, error) {
	o, err := c.StoreOptions()
	if err != nil {
		return base.ExitUsage, err
	}
	if _, err := os.Stat(o.Path); c.DB != "" && errors.Is(err, fs.ErrNotExist) && !agent.StoreLost(o.Path) {
		return base.ExitUsage, fmt.Errorf("--db: %s is not there", c.DB) // a repair would make one
	}
	check := agent.CheckStore
	if c.fix {
		check = agent.RepairStore
	}
	o.ReadOnly = !c.fix
	report, err := check(ctx, o)
	if errors.Is(err, fs.ErrNotExist) && c.DB == "" {
		report, err = agent.StoreReport{}, nil
		c.Notice("no session is stored yet: there is nothing to check")
	}
	if err != nil {
		return c.Unusable(err)
	}
	list := make([]base.Finding, len(report.Findings))
	for i, f := range report.Findings {
		list[i] = base.Finding{Level: f.Level, Text: f.What, Remedy: f.Remedy}
	}
	return c.PrintFindings(list)
}
