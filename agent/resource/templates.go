package resource

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TemplateOptions says where templates may be (spec context.md, "Templates").
// Directories are absolute; what is empty is not looked at.
type TemplateOptions struct {
	// Root is the workspace root.
	Root string
	// Trusted: the project's templates are taken. The caller says so.
	Trusted bool
	// Files, if not nil, are the trusted files of the project: templates come from
	// these bytes alone.
	Files []File
	// ConfigHome is the directory of the configuration.
	ConfigHome string
	// Plugins are directories of plugins, in their order.
	Plugins []PluginDir
}

// Template is a prompt that a person calls by its name.
type Template struct {
	// Name matches ^[a-z0-9][a-z0-9-]{0,40}$; Description and ArgumentHint are one
	// line each.
	Name         string
	Description  string
	ArgumentHint string
	// Requires are the effects that a run with it needs: "write", "process".
	Requires []string
	// Source says where it comes from: "built-in", "plugin ID", "user" or "project".
	Source string
	// File is its absolute path, empty for one that is built in.
	File string

	body string
}

// Templates is what was found.
type Templates struct {
	// All can be called, sorted by name.
	All []Template
	// Problems tell what was left out and what replaced what.
	Problems []Diagnostic
}

// Get finds a template.
func (t *Templates) Get(name string) (Template, bool) {
	i, ok := slices.BinarySearchFunc(t.All, name, func(t Template, name string) int { return cmp.Compare(t.Name, name) })
	if !ok {
		return Template{}, false
	}
	return t.All[i], true
}

// FindTemplates reads the templates of all levels: built-in, plugins, user, trusted
// project. A later level replaces an earlier one. Which of them a command's name
// hides, the catalog of commands tells.
func FindTemplates(o TemplateOptions) *Templates {
	g := gatherer{byName: make(map[string]Template), level: make(map[string]string)}
	g.builtin()
	for _, p := range o.Plugins {
		g.directory("plugins", "plugin "+p.Plugin, place{base: p.Dir})
	}
	if o.ConfigHome != "" {
		g.directory("user", "user", place{base: filepath.Join(o.ConfigHome, "prompts")})
	}
	if o.Trusted {
		g.directory("project", "project", place{base: o.Root, within: ".alisio/prompts", memory: o.Files != nil, files: sorted(o.Files)})
	}
	t := &Templates{}
	t.All = slices.SortedFunc(maps.Values(g.byName), func(a, b Template) int { return cmp.Compare(a.Name, b.Name) })
	t.Problems = byFile(g.problems)
	return t
}

//go:embed init.md
var initTemplate []byte

// gatherer collects templates level by level.
type gatherer struct {
	byName   map[string]Template
	level    map[string]string // of each in byName
	problems diagnostics
}

func (g *gatherer) tell(level Level, code, file, text string) {
	g.problems.add(Diagnostic{Level: level, Code: code, File: file, Text: text})
}

func (g *gatherer) builtin() {
	t, _, _ := readTemplate("init", initTemplate) // a test reads it too
	t.Source = "built-in"
	g.byName[t.Name], g.level[t.Name] = t, t.Source
}

// directory takes the Markdown files of one directory; those below it are none of
// its templates.
func (g *gatherer) directory(level, source string, p place) {
	if p.base == "" {
		return
	}
	tree, err := p.open()
	if err != nil {
		if _, lerr := os.Lstat(p.abs(".")); lerr == nil {
			g.tell(Error, PromptInvalid, p.abs("."), "was not read: "+bare(err).Error())
		}
		return
	}
	defer tree.close()
	l, err := tree.list(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.tell(Error, PromptInvalid, p.abs("."), "was not read: "+bare(err).Error())
	}
	if l.more {
		g.tell(Error, PromptInvalid, p.abs("."), fmt.Sprintf("holds more than %d names: the others were not looked at", maxNames))
	}
	for _, e := range l.entries {
		if name, ok := strings.CutSuffix(e.name, ".md"); ok && !e.dir {
			g.file(level, source, name, p.abs(e.name), func() ([]byte, int64, error) { return tree.read(e.name, maxTemplate+1) })
		}
	}
}

// file takes one template.
func (g *gatherer) file(level, source, name, file string, read func() ([]byte, int64, error)) {
	data, size, err := read()
	if err == nil && size > maxTemplate {
		err = fmt.Errorf("has %s, more than %s", sizeText(size), sizeText(maxTemplate))
	}
	if err != nil {
		g.tell(Error, PromptInvalid, file, "was not read: "+bare(err).Error())
		return
	}
	t, findings, ok := readTemplate(name, data)
	for _, f := range findings {
		g.problems.add(Diagnostic{f.level, PromptInvalid, file, f.line, f.text})
	}
	if !ok {
		return
	}
	t.Source, t.File = source, file
	if was, taken := g.byName[name]; taken && g.level[name] == level {
		g.tell(Warning, PromptConflict, file, fmt.Sprintf("template %s is left out: %s brings one too, and comes first", name, was.Source))
		return
	} else if taken {
		g.tell(Note, PromptOverride, file, fmt.Sprintf("template %s replaces that of %s", name, was.Source))
	}
	g.byName[name], g.level[name] = t, level
}
