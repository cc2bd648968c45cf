package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxErrors is how many errors are told at once. One more is collected, to
// know that there are more; the rest is not worth finding its lines.
const maxErrors = 10

// walker checks values against the table of keys and writes them into c.
type walker struct {
	c    *Config
	rows []row
	// known are the ids of built-in plugins; nil lets every id pass.
	known []string
	// project holds what a project is measured by; nil: no project is read.
	project *ceiling
	// path is the dotted key in hand, as the file spells it.
	path string
	errs *[]error
}

// check reads one layer into c and returns what is wrong with it.
func check(root node, c *Config, known []string) []error {
	return (&walker{c: c, known: known}).check(root)
}

func (w *walker) check(root node) []error {
	var errs []error
	w.rows, w.errs = keys(), &errs
	if !newer(w, root) {
		w.object("", "", root)
	}
	return errs
}

// newer reports a file of a newer schema, and that alone: everything else that
// is wrong with it follows from that (C167).
func newer(w *walker, root node) bool {
	v, ok := root.get("schemaVersion")
	n, _ := strconv.Atoi(v.text) // the largest int for what is larger, 0 for no whole number
	if !ok || v.kind != isNumber || n <= schemaVersion {
		return false
	}
	w.at("schemaVersion").bad(v, "found version %s, written by a newer alisio; this one reads version %d: update alisio or use another file",
		clip(v.text), schemaVersion)
	return true
}

// object checks the members of the object at a pattern of the table. name is
// what stands for the pattern's "*".
func (w *walker) object(pattern, name string, n node) {
	level := w.level(pattern)
	for _, f := range n.fields {
		step, chosen := f.name, name
		if slices.Contains(level, "*") {
			step, chosen = "*", f.name
		}
		sub := w.at(f.name)
		switch {
		case !slices.Contains(level, step):
			w.unknown(sub.path, f, level)
		case step == "*" && (f.name == "" || !printable(f.name)):
			sub.bad(node{src: f.value.src, start: f.start}, "found a name that is empty, too long or holds control characters")
		default:
			sub.value(join(pattern, step), chosen, f.value)
		}
	}
}

// value hands v to its row of the table, or goes down into an object.
func (w *walker) value(pattern, name string, v node) {
	for _, r := range w.rows {
		if r.key == pattern {
			if w.project == nil || w.project.allows(w, pattern, v) {
				r.set(w, name, v)
			}
			return
		}
	}
	if v.kind != isObject {
		w.wrong(v, "an object")
		return
	}
	w.object(pattern, name, v)
}

// level lists the names that the table knows below a pattern, in its order.
func (w *walker) level(pattern string) []string {
	if pattern != "" {
		pattern += "."
	}
	var names []string
	for _, r := range w.rows {
		rest, below := strings.CutPrefix(r.key, pattern)
		name, _, _ := strings.Cut(rest, ".")
		if below && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// unknown reports a key that is not in the table.
func (w *walker) unknown(path string, f field, level []string) {
	if len(*w.errs) <= maxErrors {
		*w.errs = append(*w.errs, f.value.src.errorf(f.start, "unknown key %s%s", quote(path), w.meant(path, f.name, level)))
	}
}

// at returns a walker for a member of the object in hand.
func (w *walker) at(name string) *walker {
	sub := *w
	sub.path = join(w.path, name)
	return &sub
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// wrong reports a value that is not allowed.
func (w *walker) wrong(v node, allowed string) {
	w.bad(v, "found %s, allowed: %s", v.describe(), allowed)
}

// bad reports anything else that is wrong with the value of the key in hand.
func (w *walker) bad(v node, format string, args ...any) {
	if len(*w.errs) > maxErrors {
		return
	}
	err := fmt.Errorf(format, args...)
	*w.errs = append(*w.errs, v.src.errorf(v.start, "%s: %w", quote(w.path), err))
}

// together joins errors, one a line, the first ten of them.
func together(errs []error) error {
	if len(errs) > maxErrors {
		errs = append(errs[:maxErrors:maxErrors], errors.New("read config: more errors follow, correct these first"))
	}
	return errors.Join(errs...)
}
