package trust

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"alisio/agent/config"
)

const (
	// maxHashes is how many accepted hashes are kept for one root: one a branch.
	maxHashes = 100
	// maxStore bounds the file: a little under what config.ReadFile takes.
	maxStore = 1<<20 - 1<<12

	storeVersion = 1
)

// ErrDamaged tells that the list of accepted projects can not be read. Nothing is
// trusted then.
var ErrDamaged = errors.New("the list of trusted projects is damaged, nothing is trusted: mend or remove it")

// Store is the list of accepted projects, trust.json in the state home. Every
// call reads the file, so that processes see each other's answers.
type Store struct {
	file string
}

// New returns the store of a state home; with an empty one, of a person without
// a home, nothing is trusted and nothing can be.
func New(stateHome string) *Store {
	if stateHome == "" {
		return &Store{}
	}
	return &Store{file: filepath.Join(stateHome, "trust.json")}
}

// Entry is one answer of a person.
type Entry struct {
	Root, Hash string
	Accepted   time.Time
}

// Answer is what a person has said of a root.
type Answer int

const (
	None  Answer = iota // nothing
	Other               // that another content of it is trusted
	Same                // that just this content is trusted
)

// Answer tells what a person has said of these files of this root. Both are those
// of a Project; an empty hash is that of no content. With an error it is None.
func (s *Store) Answer(root, hash string) (Answer, error) {
	all, err := s.List()
	answer := None
	for _, e := range all {
		switch {
		case e.Root != root:
		case e.Hash == hash:
			return Same, nil
		default:
			answer = Other
		}
	}
	return answer, err
}

// List returns all entries, by root and the newest first.
func (s *Store) List() ([]Entry, error) {
	if s.file == "" {
		return nil, nil
	}
	data, err := config.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var d document
	if err == nil {
		d, err = decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read trust %q: %w", s.file, err)
	}
	var all []Entry
	for root, records := range d.projects {
		for _, r := range records {
			all = append(all, Entry{Root: root, Hash: r.Hash, Accepted: r.Accepted})
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), b.Accepted.Compare(a.Accepted))
	})
	return all, nil
}

// Accept adds an answer, and drops the oldest ones where there are too many. A
// damaged file is begun anew; aside then names the copy of the old one, which the
// person is told about.
func (s *Store) Accept(root, hash string, at time.Time) (aside string, err error) {
	switch {
	case s.file == "":
		return "", errors.New("keep trust: no place for it, set HOME or ALISIO_STATE_HOME")
	case !filepath.IsAbs(root) || !utf8.ValidString(root):
		return "", fmt.Errorf("keep trust: found root %q, allowed: an absolute path in UTF-8", root)
	case !isHash(hash):
		return "", errors.New("keep trust: found no hash of a project")
	}
	err = config.Update(s.file, 0o600, func(old []byte) ([]byte, error) {
		d, err := decode(old)
		if errors.Is(err, ErrDamaged) {
			aside = s.file + ".damaged-" + at.UTC().Format("20060102T150405.000")
			d, _ = decode(nil)
			err = config.WriteFile(aside, old, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("keep trust in %q: %w", s.file, err)
		}
		d.add(root, record{Hash: hash, Accepted: at.UTC().Truncate(time.Second)})
		return d.encode(root)
	})
	return aside, err
}

// Revoke takes back every answer about a root, spelt as List tells it.
func (s *Store) Revoke(root string) (found bool, err error) {
	if s.file == "" {
		return false, nil
	}
	err = config.Update(s.file, 0o600, func(old []byte) ([]byte, error) {
		d, err := decode(old)
		if err != nil {
			return nil, fmt.Errorf("revoke trust in %q: %w", s.file, err)
		}
		if _, found = d.projects[root]; !found {
			return nil, nil
		}
		delete(d.projects, root)
		return d.encode("")
	})
	return found, err
}

// isHash reports whether a text is a hash as Project has it: it is printed.
func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && s == strings.ToLower(s)
}

// document is the file. Members that a newer version added stay as they are.
type document struct {
	members  map[string]json.RawMessage
	projects map[string][]record
}

// record is one accepted hash, raw as it stood in the file.
type record struct {
	Hash     string    `json:"sha256"`
	Accepted time.Time `json:"accepted"`
	raw      json.RawMessage
}

// decode reads the file; no bytes are an empty list, but an empty file is not.
func decode(data []byte) (document, error) {
	d := document{projects: make(map[string][]record)}
	if data == nil {
		return d, nil
	}
	var version int
	raw := make(map[string][]json.RawMessage)
	err := json.Unmarshal(data, &d.members)
	if err == nil {
		err = json.Unmarshal(d.members["version"], &version)
	}
	switch {
	case err != nil || version < 1:
		return document{}, ErrDamaged
	case version > storeVersion:
		return document{}, fmt.Errorf("found version %d, written by a newer alisio; nothing is trusted: update alisio", version)
	case json.Unmarshal(d.members["projects"], &raw) != nil:
		return document{}, ErrDamaged
	}
	for root, items := range raw {
		for _, item := range items { // a root without any is none
			r := record{raw: item}
			if json.Unmarshal(item, &r) != nil || !isHash(r.Hash) || r.Accepted.IsZero() {
				return document{}, ErrDamaged
			}
			d.projects[root] = append(d.projects[root], r)
		}
	}
	return d, nil
}

// add makes r the newest of a root.
func (d *document) add(root string, r record) {
	all := slices.DeleteFunc(d.projects[root], func(old record) bool { return old.Hash == r.Hash })
	all = append(all, r)
	d.projects[root] = all[max(0, len(all)-maxHashes):]
}

// encode writes the file, without the roots that were accepted longest ago where
// it would grow too large; not without keep.
func (d *document) encode(keep string) ([]byte, error) {
	members := map[string]json.RawMessage{"version": json.RawMessage(strconv.Itoa(storeVersion))}
	maps.Copy(members, d.members)
	last := func(root string) time.Time { return d.projects[root][len(d.projects[root])-1].Accepted }
	for {
		projects, err := json.Marshal(d.projects)
		if err != nil {
			return nil, err
		}
		members["projects"] = projects
		data, err := json.MarshalIndent(members, "", "  ")
		if err != nil || len(data) <= maxStore {
			return append(data, '\n'), err
		}
		roots := slices.DeleteFunc(slices.Collect(maps.Keys(d.projects)), func(root string) bool { return root == keep })
		if len(roots) == 0 {
			return nil, errors.New("keep trust: the list is full")
		}
		slices.SortFunc(roots, func(a, b string) int { return last(a).Compare(last(b)) })
		for _, root := range roots[:len(roots)/16+1] {
			delete(d.projects, root)
		}
	}
}

// MarshalJSON keeps what was read.
func (r record) MarshalJSON() ([]byte, error) {
	if r.raw != nil {
		return r.raw, nil
	}
	type plain record
	return json.Marshal(plain(r))
}
