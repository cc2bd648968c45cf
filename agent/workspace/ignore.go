package workspace

import (
	"strings"
)

// rule is one line of an ignore file (git: gitignore(5), dir.c).
type rule struct {
	not     bool // "!": what matches is not ignored
	onlyDir bool // ended in a slash
	byName  bool // no slash in it: the last name is matched, at any depth

	// git compares what goes before the first wildcard by itself: "**" right
	// behind it counts as being at the start of a name.
	head string
	rest wildcard
}

// parseRules reads an ignore file.
func parseRules(data string) []rule {
	data = strings.TrimPrefix(data, "\ufeff")
	var rules []rule
	for line := range strings.SplitSeq(data, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00") // git reads it as a C string
		if r, ok := parseRule(trimSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimSpaces drops spaces at the end that no backslash stands before.
func trimSpaces(s string) string {
	t := strings.TrimRight(s, " ")
	escapes := len(t) - len(strings.TrimRight(t, `\`))
	if escapes%2 == 1 && len(t) < len(s) {
		t += " "
	}
	return t
}

// parseRule reads a pattern. ok is false when it can match nothing.
func parseRule(p string) (r rule, ok bool) {
	p, r.not = strings.CutPrefix(p, "!")
	p, r.onlyDir = strings.CutSuffix(p, "/")
	r.byName = !strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	r.head = p
	if i := strings.IndexAny(p, `*?[\`); i >= 0 {
		r.head = p[:i]
	}
	var err error
	r.rest, err = compileWildcard(inBytes, p[len(r.head):])
	return r, p != "" && err == nil
}

// matches takes the path relative to the ignore file's directory.
func (r *rule) matches(path string, dir bool) bool {
	if r.onlyDir && !dir {
		return false
	}
	if r.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	rest, ok := strings.CutPrefix(path, r.head)
	return ok && r.rest.match(inBytes, rest)
}

// level is what the ignore files of a directory and of those above it say. The
// deepest that says anything decides; what is in a directory that is ignored
// is never asked about.
type level struct {
	up    *level
	skip  int // length of the directory's path below the top, with its slash
	rules []rule
}

// ignores takes a path below the top of the repository. The last rule that
// matches decides.
func (l *level) ignores(path string, dir bool) bool {
	for ; l != nil; l = l.up {
		for i := len(l.rules) - 1; i >= 0; i-- {
			if r := &l.rules[i]; r.matches(path[l.skip:], dir) {
				return !r.not
			}
		}
	}
	return false
}

// below is the level of the directory dir ("a/b/", below the top) with an
// ignore file.
func (l *level) below(dir, file string) *level {
	if rules := parseRules(file); len(rules) > 0 {
		return &level{up: l, skip: len(dir), rules: rules}
	}
	return l
}

// without is a copy of the levels that lacks the rules which ignore just all
// that is in dir ("a/b/", below the top), for when a/b itself was asked for:
// "a/b/*" above it, "*" in its own ignore file.
func (l *level) without(dir string) *level {
	if l == nil {
		return nil
	}
	out := &level{up: l.up.without(dir), skip: l.skip}
	for _, r := range l.rules {
		anything := len(r.rest.steps) == 1 && r.rest.steps[0].kind >= star && r.rest.tail == ""
		if !anything || r.not || l.skip > len(dir) || r.head != dir[l.skip:] {
			out.rules = append(out.rules, r)
		}
	}
	return out
}
