package resource

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"alisio/plug/frontmatter"
)

// The limits of the format (spec agents-skills.md, section 2), in characters.
const (
	maxSkillName     = 64
	maxDescription   = 1024
	maxCompatibility = 500
	// Advised: 500 lines and 5,000 tokens, of four characters each.
	adviseLines = 500
	adviseChars = 20_000
	// maxSkillFile bounds SKILL.md and the other files of a skill, in bytes.
	maxSkillFile = 1 << 20
)

// finding is what is said of a file before it is known which file that is.
type finding struct {
	level Level
	line  int
	text  string
}

// inspection judges one SKILL.md.
type inspection struct {
	dir      string
	doc      frontmatter.Document
	findings []finding
}

func (n *inspection) found(level Level, line int, format string, args ...any) {
	n.findings = append(n.findings, finding{level, line, fmt.Sprintf(format, args...)})
}

// inspect reads a SKILL.md of a directory of that name, or its first maxHead bytes.
// ok: it can be loaded, though it may break rules: only without a description, a
// usable name or readable frontmatter there is nothing to load. With body, that is
// judged as well.
func inspect(dir string, data []byte, size int64, body bool) (k Skill, findings []finding, ok bool) {
	n := &inspection{dir: dir}
	if size > maxSkillFile {
		n.found(Error, 0, "the file has %s, more than %s", sizeText(size), sizeText(maxSkillFile))
		return Skill{}, n.findings, false
	}
	if size > int64(len(data)) {
		data = whole(data)
	}
	var err error
	if n.doc, err = frontmatter.Parse(data); err != nil {
		var e *frontmatter.Error
		errors.As(err, &e)
		n.found(Error, e.Line, "the frontmatter can not be read: %s", legible(e.Reason, 200))
		return Skill{}, n.findings, false
	}
	for _, p := range n.doc.Problems {
		n.found(Error, p.Line, "%s", legible(p.Text, 200))
	}
	if !n.doc.Found {
		n.found(Error, 1, "there is no frontmatter: the file has to begin with --- and a line name: and description:")
		return Skill{}, n.findings, false
	}
	k.Name = n.name()
	k.Description = n.description()
	n.optional()
	if body {
		n.body()
	}
	return k, n.findings, k.Name != "" && k.Description != ""
}

// text returns the text of a key; present is false for a key that is not there or
// empty, which is told when the key is required.
func (n *inspection) text(key string, required bool) (v frontmatter.Value, text string, present bool) {
	v, found := n.doc.Get(key)
	text, scalar := v.Scalar()
	text = strings.TrimSpace(text)
	switch {
	case found && !scalar:
		n.found(Error, v.Line, "%s must be text, found %s", key, v.Kind)
		return v, "", false
	case required && !found:
		n.found(Error, 1, "%s is missing", key)
	case required && text == "":
		n.found(Error, v.Line, "%s is empty", key)
	}
	return v, text, text != ""
}

// name is the skill's own name if it keeps the rules, else that of its directory
// if that does, else empty.
func (n *inspection) name() string {
	v, name, present := n.text("name", true)
	why := nameRule(name)
	switch {
	case present && why == "" && name != n.dir:
		n.found(Error, v.Line, "name is %s, its directory %s: both have to be the same", name, legible(printable(n.dir), 100))
		return name
	case present && why == "":
		return name
	case present:
		n.found(Error, v.Line, "name %s", why)
	}
	if nameRule(n.dir) != "" {
		n.found(Error, max(v.Line, 1), "the name of the directory can not stand for it either")
		return ""
	}
	return n.dir
}

// nameRule tells which rule a name breaks, or is empty.
func nameRule(name string) string {
	switch {
	case utf8.RuneCountInString(name) > maxSkillName:
		return fmt.Sprintf("has more than %d characters", maxSkillName)
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return "begins or ends with a hyphen"
	case strings.Contains(name, "--"):
		return "has two hyphens in a row"
	case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return "may have lower-case letters a to z, digits and hyphens alone"
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return "may have lower-case letters a to z, digits and hyphens alone"
		}
	}
	return ""
}

// description is one line of at most 1,024 characters.
func (n *inspection) description() string {
	v, text, _ := n.text("description", true)
	if chars := utf8.RuneCountInString(text); chars > maxDescription {
		n.found(Error, v.Line, "description has %d characters, more than %d: it is cut", chars, maxDescription)
	}
	return legible(text, maxDescription)
}

func (n *inspection) optional() {
	n.text("license", false)
	if v, ok := n.doc.Get("compatibility"); ok {
		if _, text, present := n.text("compatibility", true); present && utf8.RuneCountInString(text) > maxCompatibility {
			n.found(Error, v.Line, "compatibility has more than %d characters", maxCompatibility)
		}
	}
	if v, ok := n.doc.Get("metadata"); ok {
		n.metadata(v)
	}
	if v, ok := n.doc.Get("allowed-tools"); ok {
		n.allowedTools(v)
	}
	for _, f := range n.doc.Fields {
		if !slices.Contains(skillKeys(), f.Key) {
			n.found(Warning, f.Line, "key %s is none of Agent Skills and does nothing here", legible(fmt.Sprintf("%q", f.Key), 80))
		}
	}
}

func skillKeys() []string {
	return []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
}

func (n *inspection) metadata(v frontmatter.Value) {
	if v.Kind != frontmatter.Map && v.Kind != frontmatter.Null {
		n.found(Error, v.Line, "metadata must be a map of texts, found %s", v.Kind)
	}
	for _, f := range v.Fields {
		if f.Value.Kind != frontmatter.Text {
			n.found(Error, f.Line, "metadata.%s must be text, found %s", legible(f.Key, 80), f.Value.Kind)
		}
	}
}

// allowedTools: the value grants nothing here, the gate decides.
func (n *inspection) allowedTools(v frontmatter.Value) {
	text, scalar := v.Scalar()
	outside := regexp.MustCompile(`\([^()]*\)`).ReplaceAllString(text, "")
	switch {
	case v.Kind == frontmatter.List:
		n.found(Warning, v.Line, "allowed-tools is a list; the format wants one text with spaces between the tools")
	case !scalar:
		n.found(Error, v.Line, "allowed-tools must be text, found %s", v.Kind)
	case strings.Contains(outside, ","):
		n.found(Warning, v.Line, "allowed-tools has commas; the format wants spaces between the tools")
	}
}

func (n *inspection) body() {
	text := strings.Trim(n.doc.Body, "\n")
	lines, chars := strings.Count(text, "\n")+1, utf8.RuneCountInString(text)
	switch {
	case strings.TrimSpace(text) == "":
		n.found(Warning, n.doc.BodyLine, "the body is empty: there is nothing to follow")
	case lines > adviseLines:
		n.found(Warning, n.doc.BodyLine, "the body has %d lines, more than the %d that are advised: move parts to files of their own", lines, adviseLines)
	case chars > adviseChars:
		n.found(Warning, n.doc.BodyLine, "the body has about %d tokens, more than the 5000 that are advised: move parts to files of their own", chars/4)
	}
}
