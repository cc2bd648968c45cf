package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
)

// finding is one result of a check as --json prints it; Level is ok, note or
// problem, Remedy a command or a sentence.
type finding struct {
	Level  string `json:"level"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// runDoctor checks what is kept, and repairs it with --fix.
func runDoctor(ctx context.Context, c *call) (int, error) {
	if err := c.none(); err != nil {
		return exitUsage, err
	}
	switch {
	case c.fix && !c.store:
		return exitUsage, errors.New("--fix needs what it is to repair: " + c.command("doctor --store --fix"))
	case !c.store:
		return exitUsage, fmt.Errorf("nothing is named to check; use: %s, the only check so far", c.command("doctor --store"))
	}
	return c.inOrder(ctx, c.checkStore)
}

func (c *call) checkStore(ctx context.Context) (int, error) {
	o, err := c.storeOptions()
	if err != nil {
		return exitUsage, err
	}
	if _, err := os.Stat(o.Path); c.db != "" && errors.Is(err, fs.ErrNotExist) {
		return exitUsage, fmt.Errorf("--db: %s is not there", c.db) // a repair would make one
	}
	check := agent.CheckStore
	if c.fix {
		check = agent.RepairStore
	}
	o.ReadOnly = !c.fix
	report, err := check(ctx, o)
	if errors.Is(err, fs.ErrNotExist) && c.db == "" {
		report, err = agent.StoreReport{}, nil
		c.notice("no session is stored yet: there is nothing to check")
	}
	if err != nil {
		return c.unusable(err)
	}
	return c.printFindings(report.Findings)
}

// printFindings prints a line a finding, with its remedy below it, and returns the
// exit code: 1 when there is a problem, also one that was just repaired.
func (c *call) printFindings(list []agent.Finding) (int, error) {
	code := exitDone
	for _, f := range list {
		if f.Level == agent.Problem {
			code = exitFailed
		}
		o := finding{Level: level(f), Text: f.What, Remedy: f.Remedy}
		if strings.HasPrefix(o.Remedy, "alisio ") {
			o.Remedy += c.dbFlag()
		}
		var err error
		if c.json {
			err = printJSON(c, o)
		} else {
			err = c.print(o.lines())
		}
		if err != nil {
			return exitFailed, err
		}
	}
	return code, nil
}

// level is what a finding begins with.
func level(f agent.Finding) string {
	switch f.Level {
	case agent.Problem:
		return "problem"
	case agent.Note:
		return "note"
	}
	return "ok"
}

// lines is a finding for people, its words in a column of their own.
func (f finding) lines() string {
	s := f.Level + "       "
	s = s[:9] + text.Line(f.Text) + "\n"
	if f.Remedy != "" {
		s += "         " + text.Line(f.Remedy) + "\n"
	}
	return s
}
