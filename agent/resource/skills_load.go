package resource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"alisio/plug/frontmatter"
)

// SkillBody is a loaded skill.
type SkillBody struct {
	Skill
	// Body is its text without frontmatter, cleaned.
	Body string
	// Files are the names of its other files, with slashes, relative to Dir and in a
	// form that File takes; at most 100. More: there are others.
	Files []string
	More  bool
}

const maxSkillFiles = 100

// Load reads a skill. An unknown name is an error that names near ones.
func (s *Skills) Load(name string) (SkillBody, error) {
	k, err := s.get(name)
	if err != nil {
		return SkillBody{}, err
	}
	tree, err := k.place.open()
	if err != nil {
		return SkillBody{}, fmt.Errorf("load skill %s: %w", k.Name, bare(err))
	}
	defer tree.close()
	data, size, err := tree.read(skillFile, maxSkillFile)
	switch {
	case err != nil:
		return SkillBody{}, fmt.Errorf("load skill %s: %w", k.Name, bare(err))
	case size > maxSkillFile:
		return SkillBody{}, fmt.Errorf("load skill %s: %s has %s, more than %s", k.Name, skillFile, sizeText(size), sizeText(maxSkillFile))
	}
	doc, err := frontmatter.Parse(data)
	if err != nil {
		return SkillBody{}, fmt.Errorf("load skill %s: %w", k.Name, err)
	}
	b := SkillBody{Skill: k, Body: strings.Trim(clean(doc.Body), "\n")}
	l := lister{tree: tree}
	l.directory(".", 0)
	b.Files, b.More = l.names, l.more
	return b, nil
}

// get finds a skill that may be used.
func (s *Skills) get(name string) (Skill, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "skill:")
	i := slices.IndexFunc(s.All, func(k Skill) bool { return k.Name == name })
	switch {
	case i < 0:
		return Skill{}, fmt.Errorf("there is no skill %s%s", strconv.Quote(legible(name, 80)), s.near(name))
	case s.All[i].Disabled:
		return Skill{}, fmt.Errorf("skill %s is switched off: skillOverrides.%[1]s.enabled is false", name)
	}
	return s.All[i], nil
}

// lister collects the names of a skill's files.
type lister struct {
	tree  tree
	names []string
	more  bool
	dirs  int
}

func (l *lister) directory(dir string, depth int) {
	if l.dirs++; l.dirs > maxSkillFiles {
		l.more = true
		return
	}
	list, err := l.tree.list(dir)
	l.more = l.more || list.more || err != nil
	for _, e := range list.entries {
		name := path.Join(dir, e.name)
		switch {
		case e.broken || name == skillFile || e.name == ".git" || e.name == "node_modules":
		case len(l.names) == maxSkillFiles || e.dir && depth == maxSkillDepth:
			l.more = true
		case e.dir:
			l.directory(name, depth+1)
		default:
			l.names = append(l.names, printable(name))
		}
	}
}

// File reads a text file of a skill, and nothing outside the skill's directory. The
// name is relative to it, or an absolute path in it.
func (s *Skills) File(name, file string) (string, error) {
	k, err := s.get(name)
	if err != nil {
		return "", err
	}
	rel, err := k.relative(file)
	if err == nil {
		var text string
		if text, err = k.readText(rel); err == nil {
			return text, nil
		}
	}
	return "", fmt.Errorf("read %s of skill %s: %w", legible(printable(file), 200), k.Name, bare(err))
}

// relative makes the name of a file one that a tree knows.
func (k Skill) relative(file string) (string, error) {
	if strings.HasPrefix(file, `"`) {
		if name, err := strconv.Unquote(file); err == nil {
			file = name
		}
	}
	if filepath.IsAbs(file) {
		rel, err := filepath.Rel(k.Dir, file)
		if err != nil {
			return "", errOutside
		}
		file = rel
	}
	if file == "" || strings.ContainsRune(file, 0) || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", errOutside
	}
	return path.Clean(filepath.ToSlash(file)), nil
}

var (
	errOutside = errors.New("it is not in the directory of the skill: give one of the names that loading it lists")
	errNoText  = errors.New("it is not text")
)

func (k Skill) readText(rel string) (string, error) {
	tree, err := k.place.open()
	if err != nil {
		return "", err
	}
	defer tree.close()
	data, size, err := tree.read(rel, maxSkillFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is no such file in the skill")
	case err != nil:
		return "", err
	case size > maxSkillFile:
		return "", fmt.Errorf("it has %s, more than %s", sizeText(size), sizeText(maxSkillFile))
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", errNoText
	}
	return clean(string(data)), nil
}

// Validate judges every skill that was found, those that were left out or shadowed
// too, by every rule of the format, in the order of the files.
func (s *Skills) Validate(ctx context.Context) []Diagnostic {
	var all diagnostics
	for _, at := range s.found {
		if ctx.Err() != nil {
			break
		}
		at.validate(&all)
	}
	return byFile(all)
}

// Report is Validate with what the search tells besides: what was not looked at, is
// called wrongly, or is not used. count is how many skills were judged.
func (s *Skills) Report(ctx context.Context) (all []Diagnostic, count int) {
	all = s.Validate(ctx)
	judged := make(map[string]bool)
	for _, at := range s.found {
		judged[printable(at.file())] = true
	}
	for _, d := range s.Problems {
		if !judged[d.File] || d.Code != SkillInvalid && d.Code != SkillAdvice {
			all = append(all, d)
		}
	}
	return byFile(all), len(s.found)
}

// validate judges one skill.
func (s spotted) validate(all *diagnostics) {
	tree, err := s.place.open()
	if err != nil {
		all.add(Diagnostic{Error, SkillInvalid, s.place.abs("."), 0, "can not be opened: " + bare(err).Error()})
		return
	}
	defer tree.close()
	data, size, err := tree.read(skillFile, maxSkillFile)
	if err != nil {
		text := "was not read: " + bare(err).Error()
		if errors.Is(err, fs.ErrNotExist) {
			text = "is missing; the file has to be called exactly so"
		}
		all.add(Diagnostic{Error, SkillInvalid, s.file(), 0, text})
		return
	}
	_, findings, _ := inspect(s.dirName(), data, size, true)
	for _, f := range findings {
		code := SkillInvalid
		if f.level == Warning {
			code = SkillAdvice
		}
		all.add(Diagnostic{f.level, code, s.file(), f.line, f.text})
	}
}
