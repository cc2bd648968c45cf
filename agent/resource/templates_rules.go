package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/plug/frontmatter"
)

const (
	// maxTemplate bounds a template, in bytes.
	maxTemplate = 64 << 10
	// maxTemplateName bounds its name, maxHint its argument hint, in characters.
	maxTemplateName = 41
	maxHint         = 200
)

// readTemplate reads a template whose file has that name, without ".md". Every
// broken rule leaves it out: unlike a skill, it is of our own format, and what is
// not understood would be left undone without a word.
func readTemplate(name string, data []byte) (t Template, findings []finding, ok bool) {
	r := rules{}
	r.name(name)
	doc, err := frontmatter.Parse(data)
	if err != nil {
		var e *frontmatter.Error
		errors.As(err, &e)
		r.broken(e.Line, "the frontmatter can not be read: %s", legible(e.Reason, 200))
		return Template{}, r.findings, false
	}
	for _, p := range doc.Problems {
		r.broken(p.Line, "%s", legible(p.Text, 200))
	}
	t.Name = name
	t.Description = r.description(doc)
	for _, f := range doc.Fields {
		switch f.Key {
		case "description":
		case "argument-hint":
			t.ArgumentHint = r.hint(f.Value)
		case "requires":
			t.Requires = r.requires(f.Value)
		default:
			r.broken(f.Line, "unknown key %s; there are description, argument-hint and requires", legible(fmt.Sprintf("%q", f.Key), 80))
		}
	}
	if t.body = strings.Trim(clean(doc.Body), "\n"); strings.TrimSpace(t.body) == "" {
		r.broken(doc.BodyLine, "there is no text below the frontmatter")
	}
	return t, r.findings, len(r.findings) == 0
}

// rules collects what is broken.
type rules struct{ findings []finding }

func (r *rules) broken(line int, format string, args ...any) {
	r.findings = append(r.findings, finding{Error, line, fmt.Sprintf(format, args...)})
}

func (r *rules) name(name string) {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789"
	left := strings.TrimLeft(name, plain+"-")
	if name == "" || len(name) > maxTemplateName || left != "" || name[0] == '-' {
		r.broken(0, "the name of the file may have lower-case letters a to z, digits and hyphens alone, at most %d, and no hyphen first", maxTemplateName)
	}
}

func (r *rules) description(doc frontmatter.Document) string {
	v, found := doc.Get("description")
	text, scalar := v.Scalar()
	text = legible(text, maxDescription)
	switch {
	case !doc.Found:
		r.broken(1, "there is no frontmatter: the file has to begin with --- and a line description:")
	case !found:
		r.broken(1, "description is missing")
	case !scalar:
		r.broken(v.Line, "description must be text, found %s", v.Kind)
	case text == "":
		r.broken(v.Line, "description is empty")
	}
	return text
}

// hint is a text, or a list as "[file]" is one in YAML.
func (r *rules) hint(v frontmatter.Value) string {
	if text, ok := v.Scalar(); ok {
		return legible(text, maxHint)
	}
	words, ok := v.Words()
	if !ok {
		r.broken(v.Line, "argument-hint must be text, found %s", v.Kind)
	}
	return legible("["+strings.Join(words, ", ")+"]", maxHint)
}

func (r *rules) requires(v frontmatter.Value) []string {
	words, ok := v.Words()
	if !ok {
		r.broken(v.Line, "requires must be a list, found %s", v.Kind)
	}
	for _, w := range words {
		if w != "write" && w != "process" {
			r.broken(v.Line, "requires knows write and process, found %s", legible(fmt.Sprintf("%q", w), 80))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
