package base

import (
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/plain"
)

// Finding is one result of a check; Remedy is a command or a sentence, if there is one.
type Finding struct {
	Level agent.Level
	// Name is what was looked at; it is empty for the session database.
	Name, Text, Remedy string
}

// printed is a finding as --json prints it.
type printed struct {
	Level  string `json:"level"`
	Name   string `json:"name,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// PrintFindings prints a line a finding, with its remedy below it, and returns the
// exit code: 1 when there is a problem, also one that was just repaired.
func (c *Call) PrintFindings(list []Finding) (int, error) {
	code := ExitDone
	for _, f := range list {
		if f.Level == agent.Problem {
			code = ExitFailed
		}
		if strings.HasPrefix(f.Remedy, "alisio ") {
			f.Remedy += c.DBFlag()
		}
		var err error
		if c.JSON {
			err = c.PrintJSON(json.Marshal(printed{level(f.Level), f.Name, f.Text, f.Remedy}))
		} else {
			err = c.Print(plain.Fit(c.Stdout, f.lines()))
		}
		if err != nil {
			return ExitFailed, err
		}
	}
	return code, nil
}

// level is what a finding begins with.
func level(l agent.Level) string {
	switch l {
	case agent.Problem:
		return "problem"
	case agent.Note:
		return "note"
	}
	return "ok"
}

// lines is a finding for people, its words in a column of their own.
func (f Finding) lines() string {
	s := fmt.Sprintf("%-9s", level(f.Level))
	if f.Name != "" {
		s += text.Line(f.Name) + ": "
	}
	s += text.Line(f.Text) + "\n"
	if f.Remedy != "" {
		s += "         " + text.Line(f.Remedy) + "\n"
	}
	return s
}
