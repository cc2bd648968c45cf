package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/agent/config"
	"alisio/agent/profile"
	"alisio/agent/text"
	"alisio/db"
	"alisio/llm"
)

// Level says how much a Check or a Finding matters: Good, Note or Problem.
type Level = db.Level

// Check is one thing that the doctor looked at.
type Check struct {
	// Name is what was looked at, in a word or two: "configuration", "key".
	Name  string
	Level Level
	// Text is a line without control characters and without the key.
	Text string
	// Remedy is what to do about it, empty where nothing is to be done.
	Remedy string
}

// DoctorOptions say what the doctor looks at.
type DoctorOptions struct {
	// App is what a run would be made from. Its Config and Policy.Mode are taken
	// from Load, and its Store is not used.
	App Options
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

// Doctor looks over everything that a run needs and contacts nobody. It changes
// nothing, but that it makes an empty file in each directory that has to be
// writable, and removes it. Each check that is not Good has a Remedy, where
// there is one.
func Doctor(ctx context.Context, o DoctorOptions) []Check {
	d := newDoctor(o)
	d.configuration()
	d.directories()
	d.workspace(ctx)
	d.model()
	d.endpoint()
	d.key()
	d.permissions()
	d.store(ctx)
	d.instructions()
	d.plugins(ctx)
	d.terminal()
	d.clock()
	return d.checks
}

// doctor collects checks.
type doctor struct {
	o      DoctorOptions
	app    Options // o.App with the configuration that was read
	auth   profile.KeyReport
	checks []Check
	// misread are the errors of the configuration; the defaults stand in for it.
	misread []error
}

func newDoctor(o DoctorOptions) *doctor {
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
	d := &doctor{o: o, app: o.App}
	d.app.Store, d.app.Log = nil, nil
	cfg, err := config.Load(o.Load)
	if err != nil {
		d.misread = apart(err)
		cfg = config.Default()
	}
	d.app.Config, d.app.Policy.Mode = cfg, cfg.Permissions.Mode
	d.auth = profile.InspectKey(d.app.selection())
	return d
}

// Hiding returns what takes the key, and the values of extra headers, out of what is
// shown of a configuration: a gateway's address can hold them. o.Getenv is set.
func Hiding(o Options) func(text string) string {
	return profile.InspectKey(o.selection()).Hide
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

func (d *doctor) add(name string, level Level, remedy, format string, args ...any) {
	clean := func(s string) string { return text.Clip(text.Line(d.auth.Hide(s)), maxCheck) }
	d.checks = append(d.checks, Check{
		Name: name, Level: level, Text: clean(fmt.Sprintf(format, args...)), Remedy: clean(remedy),
	})
}

// fail adds a problem with the remedy that the error names, else with another.
func (d *doctor) fail(name string, err error, remedy string) {
	var told *llm.Error
	if errors.As(err, &told) && told.Hint != "" {
		remedy = told.Hint
	}
	d.add(name, Problem, remedy, "%v", err)
}
