package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/agent/trust"
	"alisio/llm"
	"alisio/tui/cli/base"
)

func trustVerbs() []verb {
	return []verb{
		{Name: "list", Help: "list the repositories that were trusted", Run: runTrustList},
		{Name: "revoke", Args: "[DIR]", Help: "take the trust in a repository back", Run: runTrustRevoke},
	}
}

// layers is what a run is configured by.
type layers struct {
	load config.LoadOptions
	// project is what a person trusts of it, for this run or since they once accepted
	// just this content; nil: nothing. untrusted is what is there and not used; nil:
	// nothing.
	project, untrusted *trust.Project
}

// layers says what the configuration of a run in dir is read from.
func (c *call) layers(dir, here string, dirs config.Dirs) (layers, error) {
	l := layers{load: config.LoadOptions{
		Dirs: dirs, File: c.config, Dir: here, Getenv: c.Getenv, Plugins: ids(c.plugins), Overrides: c.overrides,
	}}
	err := c.project(dir, dirs, &l)
	if l.project != nil && c.config == "" { // --config stands in the place of the project's
		l.load.Project = l.project.Config()
	}
	return l, err
}

// project finds what is trusted of the repository. Nobody is asked here.
//
// Where a person has accepted another content of it, nothing runs: what was accepted
// may have tightened permissions, and whoever can change a file that trust covers
// would loosen them by doing so.
func (c *call) project(dir string, dirs config.Dirs, l *layers) error {
	if c.hermetic || c.config != "" && !c.trust {
		return nil
	}
	root := agent.Root(dir, c.Getenv("HOME"))
	p, err := trust.Read(root, dir)
	switch {
	case c.trust && err != nil:
		return err
	case c.trust:
		c.inForce(p, "for this run")
		l.project = p
		return nil
	}
	answer, unread := c.answer(trust.New(dirs.State), root, p)
	switch {
	case unread != nil && (err != nil || !p.Empty()):
		return lapsed(text.Line(unread.Error()))
	case answer == trust.Other && err != nil:
		return lapsed("what was trusted of this repository can not be compared: " + text.Line(err.Error()))
	case answer == trust.Other && c.coreIsTrusted(dirs, p):
		c.passedOver("the skills on the way from "+text.Line(p.Root)+" to "+text.Line(dir)+" are not used",
			"them: read them, then --trust-project takes them for one run")
		l.untrusted = p
		p = p.Core()
	case answer == trust.Other:
		return lapsed("what is in " + text.Line(root) + " is not what was trusted of it")
	case err != nil:
		if c.tells() {
			c.Notice("the configuration of this repository is not read: %s", text.Line(err.Error()))
		}
		return nil
	case answer == trust.None:
		l.untrusted = p
		c.passedOver(c.brings(p), "it: read it, then --trust-project takes it for one run")
		return nil
	}
	c.inForce(p, "since it was trusted: alisio trust revoke takes that back")
	l.project = p
	return nil
}

// passedOver tells that something of the project is not used, where that makes a
// difference; nothing is not told.
func (c *call) passedOver(what, remedy string) {
	if what != "" && c.tells() {
		c.Notice("%s, since nobody has trusted %s", what, remedy)
	}
}

// tells reports whether the command works by what a project brings, or shows it.
func (c *call) tells() bool {
	group, _, _ := strings.Cut(c.Verb, " ")
	return slices.Contains(append(taskVerbs(), "doctor", "config", "context", "skills", "templates"), group)
}

// answer is what a person has said of a project, which is nil where it can not be
// read.
func (c *call) answer(store *trust.Store, root string, p *trust.Project) (trust.Answer, error) {
	if p == nil {
		return store.Answer(root, "")
	}
	return store.Answer(p.Root, p.Hash)
}

// coreIsTrusted reports whether only the skills on the way to the working directory
// are not what was trusted.
func (c *call) coreIsTrusted(dirs config.Dirs, p *trust.Project) bool {
	core := p.Core()
	if core == p {
		return false
	}
	answer, err := c.answer(trust.New(dirs.State), core.Root, core)
	return err == nil && answer == trust.Same
}

// brings says what of a repository the command would use with trust, empty for nothing.
func (c *call) brings(p *trust.Project) string {
	group, _, _ := strings.Cut(c.Verb, " ")
	if p.Config() != nil && group != "templates" {
		return configOf(p) + " is not read"
	}
	for _, f := range p.Files {
		skill := path.Base(f.Name) == "SKILL.md" && strings.Contains(f.Name, "/skills/") && group != "templates"
		template := strings.HasPrefix(f.Name, prompts) && group != "skills"
		if (skill || template) && group != "config" && group != "context" {
			return "what " + text.Line(p.Root) + " brings in skills and templates is not used"
		}
	}
	return ""
}

// prompts is where the templates of a project are.
const prompts = ".alisio/prompts/"

// leftOut says why there is no command of a name (agent.Options.LeftOut): it is in what
// nobody has trusted, or may be one of a plugin that is off.
func (c *call) leftOut(l layers, off []string) func(name string) (why string, sure bool) {
	return func(name string) (string, bool) {
		skill, isSkill := strings.CutPrefix(name, "skill:")
		if l.untrusted != nil && slices.ContainsFunc(l.untrusted.Files, func(f trust.File) bool {
			return f.Name == prompts+name+".md" || isSkill && strings.HasSuffix(f.Name, "/skills/"+skill+"/SKILL.md")
		}) {
			return "this repository has one, which nobody has trusted: read it, then --trust-project takes it for one run", true
		}
		switch {
		case slices.Contains(off, name):
			return "the plugin " + name + " is off; alisio plugins list says why", true
		case len(off) > 0:
			return "it may be one of a plugin that is off (" + strings.Join(off, ", ") + "); alisio plugins list says why", false
		}
		return "", false
	}
}

// configOf is the name of a project's configuration, for people.
func configOf(p *trust.Project) string {
	return text.Line(filepath.Join(p.Root, filepath.FromSlash(trust.ConfigFile)))
}

// inForce tells who works in a repository that its configuration counts.
func (c *call) inForce(p *trust.Project, why string) {
	if p.Config() != nil && c.config == "" && slices.Contains(taskVerbs(), c.Verb) {
		c.Notice("%s is in force, %s", configOf(p), why)
	}
}

// lapsed refuses to go on without a configuration that somebody has trusted.
func lapsed(why string) error {
	return &llm.Error{
		Cause: llm.CauseBadRequest, Message: why + "; nothing runs without the permissions that it may have tightened",
		Hint: "look at what changed; --trust-project takes it for this run, alisio trust revoke goes on without it",
	}
}

// trusted is an entry of the list as --json prints it.
type trusted struct {
	Root     string    `json:"root"`
	Hash     string    `json:"hash"`
	Accepted time.Time `json:"accepted"`
}

// runTrustList prints what was accepted, the newest of a repository first.
func runTrustList(_ context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	store, err := c.trustStore()
	if err != nil {
		return base.ExitUsage, err
	}
	entries, err := store.List()
	if err != nil {
		return base.ExitFailed, err
	}
	var t text.Table
	for _, e := range entries {
		if c.JSON {
			if err := c.PrintJSON(json.Marshal(trusted(e))); err != nil {
				return base.ExitFailed, err
			}
			continue
		}
		t = append(t, []string{e.Accepted.Local().Format("2006-01-02 15:04"), e.Hash[:12], text.Line(e.Root)})
	}
	if len(entries) == 0 {
		c.Notice("nothing was trusted so far; --trust-project trusts for one run and is not kept")
	}
	return c.Printed(t.String())
}

// runTrustRevoke takes back all that was accepted of a repository: that of a
// directory, or of the working directory.
func runTrustRevoke(_ context.Context, c *call) (int, error) {
	name, err := c.AtMostOne("one directory")
	if err != nil {
		return base.ExitUsage, err
	}
	here, err := c.Absolute(name)
	if err != nil {
		return base.ExitUsage, err
	}
	store, err := c.trustStore()
	if err != nil {
		return base.ExitUsage, err
	}
	listed, err := store.List()
	if err != nil {
		return base.ExitFailed, err
	}
	// A repository that is gone is told by the name under which it is listed.
	for _, root := range []string{agent.Root(here, c.Getenv("HOME")), here} {
		if !slices.ContainsFunc(listed, func(e trust.Entry) bool { return e.Root == root }) {
			continue // to revoke would make the file
		}
		found, err := store.Revoke(root)
		if err != nil {
			return base.ExitFailed, err
		}
		if found {
			c.Notice("nothing of %s is trusted any more", text.Line(root))
			return base.ExitDone, nil
		}
	}
	return base.ExitUsage, fmt.Errorf("nothing of %s was trusted; alisio trust list shows what is", text.Line(here))
}

func (c *call) trustStore() (*trust.Store, error) {
	dirs, err := config.Home(c.Getenv)
	if err != nil && (!errors.Is(err, config.ErrNoHome) || dirs.State == "") {
		return nil, err
	}
	return trust.New(dirs.State), nil
}
