// Package doctor looks over what a run needs and says what is wrong with it, each
// with its remedy: Examine asks nobody, Network contacts whom a run would contact.
// It mends nothing. What is inside of a session database is checked by CheckStore
// of package agent.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/profile"
	"alisio/agent/text"
	"alisio/llm"
)

// Check is one thing that the doctor looked at.
type Check struct {
	// Name is what was looked at, in a word or two: "configuration", "key".
	Name  string
	Level agent.Level
	// Text is a line without control characters and without the key.
	Text string
	// Remedy is what to do about it, empty where nothing is to be done.
	Remedy string
}

// Options say what the doctor looks at.
type Options struct {
	// App is what a run would be made from. Its Config and Policy.Mode are taken
	// from Load, and its Store is not used.
	App agent.Options
	// Load says which configuration files there are.
	Load config.LoadOptions
	// StorePath is the session database of --db; empty is the usual one.
	StorePath string
	Terminal  Terminal
	// Now is the time; zero is that of the clock.
	Now time.Time
}

// Terminal is what the caller knows of the person's terminal, in words.
type Terminal struct {
	// Term is the variable TERM, Locale the first of LC_ALL, LC_CTYPE and LANG
	// that is set.
	Term, Locale string
	// Colour is what is made of colours, and why: "256 colours", "none: NO_COLOR".
	Colour string
	// Size is "120x40"; empty where there is no terminal.
	Size string
}

// Examine looks over everything that a run needs and contacts nobody. It changes
// nothing, but that it makes an empty file in each directory that has to be
// writable, and removes it. Each check that is not Good has a Remedy, where
// there is one.
func Examine(ctx context.Context, o Options) []Check {
	v := newVisit(o)
	v.configuration()
	v.directories()
	v.workspace(ctx)
	v.model()
	v.endpoint()
	v.key()
	v.permissions()
	v.store(ctx)
	v.instructions()
	v.plugins(ctx)
	v.terminal()
	v.clock()
	return v.checks
}

// visit collects checks.
type visit struct {
	o      Options
	app    agent.Options // o.App with the configuration that was read
	auth   profile.KeyReport
	checks []Check
	// misread are the errors of the configuration; the defaults stand in for it.
	misread []error
}

// newVisit reads the configuration. One that can not be read does not end the visit:
// what else is wrong is worth knowing.
func newVisit(o Options) *visit {
	none := func(string) string { return "" }
	if o.App.Getenv == nil {
		o.App.Getenv = none
	}
	if o.Load.Getenv == nil {
		o.Load.Getenv = none
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	v := &visit{o: o, app: o.App}
	cfg, err := config.Load(o.Load)
	if err != nil {
		v.misread = apart(err)
		cfg = config.Default()
	}
	v.app.Config, v.app.Policy.Mode = cfg, cfg.Permissions.Mode
	v.auth = profile.InspectKey(v.app.Selection())
	return v
}

// apart returns the errors that were joined.
func apart(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// maxCheck bounds what is printed of a check, in cells: file names and servers
// can be long-winded.
const maxCheck = 1000

func (v *visit) add(name string, level agent.Level, remedy, format string, args ...any) {
	clean := func(s string) string { return text.Clip(text.Line(v.auth.Hide(s)), maxCheck) }
	v.checks = append(v.checks, Check{
		Name: name, Level: level, Text: clean(fmt.Sprintf(format, args...)), Remedy: clean(remedy),
	})
}

// fail adds a problem with the remedy that the error names, else with another.
func (v *visit) fail(name string, err error, remedy string) {
	var told *llm.Error
	if errors.As(err, &told) && told.Hint != "" {
		remedy = told.Hint
	}
	v.add(name, agent.Problem, remedy, "%v", err)
}
