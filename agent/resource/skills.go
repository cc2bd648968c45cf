package resource

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// SkillOptions says where skills may be (spec context.md, "Skills"). Directories
// are absolute; what is empty is not looked at.
type SkillOptions struct {
	// Root is the workspace root, Dir the working directory, Root or below it.
	Root, Dir string
	// Trusted: the project's skills are taken. The caller says so, since a skill is
	// an instruction.
	Trusted bool
	// Files, if not nil, are the trusted files of the project: skills come from
	// these bytes alone, and the disk is not asked.
	Files []File
	// Configured are the directories of the key skills. Named are those of a project's
	// own key: below Root, with slashes, and taken as Files are.
	Configured []string
	Named      []string
	// Home is the person's home directory, ConfigHome that of the configuration.
	Home, ConfigHome string
	// Plugins are directories of plugins, in their order.
	Plugins []PluginDir
	// Enabled is skillOverrides: what it does not name is enabled.
	Enabled map[string]bool
}

// PluginDir is a directory that a plugin brought.
type PluginDir struct {
	// Plugin is its id.
	Plugin string
	Dir    string
}

// Skill is a skill without its body.
type Skill struct {
	// Name has lower-case letters, digits and single hyphens, Description one line.
	Name        string
	Description string
	// Source says where it comes from: "project", "configuration", "user" or
	// "plugin ID".
	Source string
	// Dir is its absolute directory, File its SKILL.md.
	Dir, File string
	// Disabled by skillOverrides: it is not offered and can not be loaded.
	Disabled bool

	place place
}

// Skills is what was found.
type Skills struct {
	// All are the effective skills and those that are switched off, sorted by name.
	All []Skill
	// Problems tell what was left out, mended or shadowed.
	Problems []Diagnostic

	found []spotted
}

// Offered lists the skills that may be used, sorted by name.
func (s *Skills) Offered() []Skill {
	return slices.DeleteFunc(slices.Clone(s.All), func(k Skill) bool { return k.Disabled })
}

// FindSkills looks for skills. It reads names and descriptions and no more of each.
// The first of a name wins. Nothing that stands in a root is an error of the
// search; it ends early, with what it has, when ctx does.
func FindSkills(ctx context.Context, o SkillOptions) *Skills {
	f := finder{ctx: ctx, o: o, byName: make(map[string]Skill)}
	f.project()
	f.named()
	for _, dir := range o.Configured {
		f.root("configuration", place{base: dir})
	}
	if o.Home != "" {
		f.root("user", place{base: filepath.Join(o.Home, ".agents", "skills")})
	}
	if o.ConfigHome != "" {
		f.root("user", place{base: filepath.Join(o.ConfigHome, "skills")})
	}
	for _, p := range o.Plugins {
		f.root("plugin "+p.Plugin, place{base: p.Dir})
	}
	s := &Skills{Problems: f.problems, found: f.found}
	for _, k := range f.byName {
		s.All = append(s.All, k)
	}
	slices.SortFunc(s.All, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// finder goes through the roots in their order.
type finder struct {
	ctx      context.Context
	o        SkillOptions
	byName   map[string]Skill
	found    []spotted
	problems diagnostics
	// seen are the directories of all roots, so that a link does not bring one
	// twice.
	seen []fs.FileInfo
	// source and dirs are of the roots in hand: those of one source share the
	// bound, so that no source takes another one's.
	source string
	dirs   int
}

func skillDirs() []string { return []string{".agents/skills", ".alisio/skills", ".claude/skills"} }

// project looks from the working directory up to the workspace root.
func (f *finder) project() {
	if !f.o.Trusted {
		return
	}
	rel, err := filepath.Rel(f.o.Root, f.o.Dir)
	if err != nil || !filepath.IsLocal(rel) {
		rel = "."
	}
	files := sorted(f.o.Files)
	dirs := chain(filepath.ToSlash(rel))
	if skip := len(dirs) - maxDirs; skip > 0 {
		f.tell(Warning, SkillUnread, f.o.Dir, fmt.Sprintf("%d directories above it were not looked at for skills", skip))
		dirs = slices.Delete(dirs, 1, 1+skip)
	}
	for _, dir := range slices.Backward(dirs) {
		for _, name := range skillDirs() {
			p := place{base: f.o.Root, within: path.Join(dir, name), memory: f.o.Files != nil, files: files}
			f.uncovered(dir, p)
			f.root("project", p)
		}
	}
}

// named looks at the directories that the project's configuration names.
func (f *finder) named() {
	if !f.o.Trusted {
		return
	}
	files := sorted(f.o.Files)
	for _, name := range f.o.Named {
		p := place{base: f.o.Root, within: name, memory: f.o.Files != nil, files: files}
		f.uncovered(name, p)
		f.root("configuration", p)
	}
}

// uncovered tells of a directory of skills that is on the disk and not in the bytes
// that were trusted.
func (f *finder) uncovered(dir string, p place) {
	if !p.memory || dir == "." {
		return
	}
	onDisk := p
	onDisk.memory = false
	tree, err := onDisk.open()
	if err != nil {
		return
	}
	tree.close()
	if _, err := (snapshot{p.files, p.within}).list("."); err != nil {
		f.tell(Note, SkillUnread, p.abs("."), "what was trusted does not hold it: not read")
	}
}

// root walks over one root.
func (f *finder) root(source string, p place) {
	if source != f.source {
		f.source, f.dirs = source, 0
	}
	if f.ctx.Err() != nil || p.base == "" {
		return
	}
	tree, err := p.open()
	if err != nil {
		if _, lerr := os.Lstat(p.abs(".")); lerr == nil {
			f.tell(Warning, SkillUnread, p.abs("."), "was not read: "+bare(err).Error())
		}
		return
	}
	defer tree.close()
	w := walk{finder: f, tree: tree, place: p}
	w.directory(".", 0)
}

func (f *finder) tell(level Level, code, file, text string) {
	f.problems.add(Diagnostic{Level: level, Code: code, File: file, Text: text})
}

// take adds a skill that was found, if it is one (ok) and no other has its name.
func (f *finder) take(at spotted, k Skill, findings []finding, ok bool) {
	for _, n := range findings {
		code := SkillInvalid
		if n.level == Warning {
			code = SkillAdvice
		}
		if !ok && n.level == Error {
			n.text += "; the skill is left out"
		}
		f.problems.add(Diagnostic{Level: n.level, Code: code, File: at.file(), Line: n.line, Text: n.text})
	}
	if !ok {
		return
	}
	k.Source, k.Dir, k.File, k.place = at.source, at.place.abs("."), at.file(), at.place
	if first, taken := f.byName[k.Name]; taken {
		f.tell(Note, SkillShadowed, k.File, fmt.Sprintf("skill %s is not used: that of %s comes first", k.Name, printable(first.File)))
		return
	}
	on, named := f.o.Enabled[k.Name]
	k.Disabled = named && !on
	f.byName[k.Name] = k
}

// spotted is a directory with a SKILL.md, usable or not.
type spotted struct {
	source string
	place  place // of the skill's directory
}

func (s spotted) file() string { return s.place.abs(skillFile) }

// dirName is the name that the skill should have.
func (s spotted) dirName() string { return filepath.Base(s.place.abs(".")) }

const skillFile = "SKILL.md"

// misnamed reports a name that a file system without case would take for
// SKILL.md.
func misnamed(name string) bool { return name != skillFile && strings.EqualFold(name, skillFile) }
