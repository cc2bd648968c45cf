package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// Project is the configuration file of a project that a person trusts: the very
// bytes that were trusted, since the file may be another one by now. Nothing is
// read from the disk.
type Project struct {
	// File is the absolute path of .alisio/config.json, for messages.
	File string
	Data []byte
}

func (p Project) source() (*source, error) {
	if len(p.Data) > maxFile {
		return nil, fmt.Errorf("read config %q: %w", p.File, errTooLarge)
	}
	return &source{file: p.File, dir: filepath.Dir(p.File), data: p.Data, project: true}, nil
}

var errTooLarge = errors.New("larger than 1 MiB")

// projectRow is one key that a project may set.
type projectRow struct {
	key string
	// looser reports whether a found value allows more than the one in force.
	// What has the wrong type is not looser: the key's own rule reports it.
	looser func(found, inForce node) bool
	// within: the directories of the value are below the project's root, since trust
	// covers nothing else.
	within bool
}

// ceiling is what a project may not exceed.
type ceiling struct {
	// below is what the more trusted files say together, defaults included.
	below node
	// global is the path of the global file, empty when there can be none.
	global string
}

// allows checks one value of a project, and reports it where it is not allowed.
func (c *ceiling) allows(w *walker, key string, v node) bool {
	place := "the global configuration"
	if c.global != "" {
		place += " " + strconv.Quote(c.global)
	}
	for _, r := range projectKeys() {
		if r.key != key {
			continue
		}
		if dir, leads := leadsOut(v); r.within && leads {
			w.bad(v, "found %s, which is not below the project; a project names directories of its own, and only %s may name others", dir, place)
			return false
		}
		now, set := c.below.find(key)
		if !set || r.looser == nil || !r.looser(v, now) {
			return true
		}
		w.bad(v, "found %s, looser than %s (%s), and a project can only tighten; only %s may loosen it",
			v.describe(), now.describe(), now.src.origin(now.start), place)
		return false
	}
	w.bad(v, "found in a project; only %s may set it", place)
	return false
}

// leadsOut finds a directory in a list that is not below the root of the project whose
// file holds it, by its name; what links there make of it, package trust sees. The
// root itself is not below it.
func leadsOut(v node) (dir string, leads bool) {
	for _, item := range v.items {
		if item.kind != isString {
			continue // the key's own rule reports it
		}
		if _, below := item.below(); !below {
			return item.describe(), true
		}
	}
	return "", false
}

// below is a path as a name below the root of its project, with slashes.
func (n node) below() (name string, ok bool) {
	rel, err := filepath.Rel(filepath.Dir(n.src.dir), n.resolved())
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// SkillDirs are the directories of the key skills that are below the project's root,
// relative to it, with slashes: trust covers them. A file that can not be read has
// none; Load says why.
func (p Project) SkillDirs() []string {
	src, err := p.source()
	if err != nil {
		return nil
	}
	root, _ := parse(src)
	list, _ := root.find("skills")
	var names []string
	for _, item := range list.items[:min(len(list.items), maxDirs)] { // Load refuses more
		if name, ok := item.below(); ok && item.kind == isString {
			names = append(names, name)
		}
	}
	return names
}

// larger is looser for what limits.
func larger(found, inForce node) bool {
	a, errA := strconv.Atoi(found.text)
	b, errB := strconv.Atoi(inForce.text)
	return errA == nil && errB == nil && a > b
}

// dearer is larger for what has a fraction.
func dearer(found, inForce node) bool {
	a, errA := strconv.ParseFloat(found.text, 64)
	b, errB := strconv.ParseFloat(inForce.text, 64)
	return errA == nil && errB == nil && a > b
}

// longer is larger where 0 stands for no limit, which is the loosest of all.
func longer(found, inForce node) bool {
	return found.kind == isNumber && inForce.text != "0" && (found.text == "0" || larger(found, inForce))
}

// laxer compares permission modes.
func laxer(found, inForce node) bool {
	a, b := slices.Index(modes(), found.text), slices.Index(modes(), inForce.text)
	return b >= 0 && a > b
}
