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

// larger is looser for what limits.
func larger(found, inForce node) bool {
	a, errA := strconv.Atoi(found.text)
	b, errB := strconv.Atoi(inForce.text)
	return errA == nil && errB == nil && a > b
}

// laxer compares permission modes.
func laxer(found, inForce node) bool {
	a, b := slices.Index(modes(), found.text), slices.Index(modes(), inForce.text)
	return b >= 0 && a > b
}
