// Package trust reads the files of a repository that take effect only after a
// person said so, and keeps which contents of them a person accepted.
//
// It reads them once, bounded, and hands out the very bytes that it hashed: what
// changes on the disk afterwards changes nothing. It asks nobody, decides nothing
// by itself, looks at nothing above the workspace root, and understands none of
// the files but for the names of configuration keys.
package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"alisio/agent/config"
)

// ConfigFile is the name of a project's configuration.
const ConfigFile = ".alisio/config.json"

// Project is what one workspace held at one moment.
type Project struct {
	// Root is absolute, without links.
	Root string
	// Hash is the lower-case hex SHA-256 over everything in Files.
	Hash string
	// Files are sorted by name.
	Files []File

	core *Project
}

// set takes files, of which the first ones are those of every working directory.
func (p *Project) set(files []File, core int) {
	byName := func(list []File) []File {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
		// A directory that the configuration names may hold one that is covered anyway.
		return slices.CompactFunc(list, func(a, b File) bool { return a.Name == b.Name })
	}
	p.Files = byName(files)
	p.Hash = sum(p.Files)
	p.core = p
	if core < len(files) {
		p.core = &Project{Root: p.Root, Files: byName(files[:core])}
		p.core.Hash, p.core.core = sum(p.core.Files), p.core
	}
}

// Core is the part of a project that is the same in every working directory: without
// the skills on the way down to one. Who accepts a project accepts that as well, so
// that work elsewhere in it does not find another content.
func (p *Project) Core() *Project { return p.core }

// File is one file that needs trust.
type File struct {
	// Name is relative to the root, with slashes. It is the repository's text, as
	// its bytes are: fit for a terminal only when it was sanitised.
	Name string
	// Link: the name is that of a link, and Data is what it led to.
	Link bool
	// Exec: somebody may execute it.
	Exec bool
	// Data must not be changed.
	Data []byte
}

// Empty reports whether there is nothing to trust.
func (p *Project) Empty() bool { return len(p.Files) == 0 }

// File returns the bytes of one file as they were hashed.
func (p *Project) File(name string) ([]byte, bool) {
	i, ok := slices.BinarySearchFunc(p.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil, false
	}
	return p.Files[i].Data, true
}

// Config is the project's configuration for config.Load, nil when it has none.
func (p *Project) Config() *config.Project {
	data, ok := p.File(ConfigFile)
	if !ok {
		return nil
	}
	return &config.Project{File: filepath.Join(p.Root, filepath.FromSlash(ConfigFile)), Data: data}
}

// Summary is what a project would bring in, for the question whether to trust it.
type Summary struct {
	// Keys are the dotted keys that its configuration sets.
	Keys []string
	// Files are the names of all other files.
	Files []string
}

// Summary fails where the configuration can not be read; Files are there even so.
func (p *Project) Summary() (Summary, error) {
	var s Summary
	for _, f := range p.Files {
		if f.Name != ConfigFile {
			s.Files = append(s.Files, f.Name)
		}
	}
	var err error
	if c := p.Config(); c != nil {
		s.Keys, err = c.Keys()
	}
	return s, err
}

// sum hashes files, which are sorted. Every part has its length before it, so
// that no two lists of files give the same bytes.
func sum(files []File) string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	part([]byte("alisio trust 1"))
	for _, f := range files {
		var kind byte
		if f.Link {
			kind |= 1
		}
		if f.Exec {
			kind |= 2
		}
		part([]byte(f.Name))
		part([]byte{kind})
		part(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
