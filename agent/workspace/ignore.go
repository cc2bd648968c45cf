package workspace

import (
	"strings"
)

// rule is one line of an ignore file (git: gitignore(5), dir.c).
type rule struct {
	not     bool // "!": what matches is not ignored
	onlyDir bool // ended in a slash
	byName  bool // no slash in it: the last name is matched, at any depth

	literal string   // the whole pattern without wildcards, or what goes before the first
	suffix  string   // of "*suffix"; then glob is nil
	glob    wildcard // nil: literal or suffix decide
	never   bool     // malformed: matches nothing
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
		if r := parseRule(trimSpaces(line)); !r.never {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimSpaces drops spaces at the end that no backslash stands before.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = i + 1
	}
	return s[:end]
}

func parseRule(p string) rule {
	var r rule
	p, r.not = strings.CutPrefix(p, "!")
	p, r.onlyDir = strings.CutSuffix(p, "/")
	r.byName = !strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	if p == "" {
		r.never = true
		return r
	}
	head := strings.IndexAny(p, `*?[\`)
	if head < 0 {
		r.literal = p
		return r
	}
	if rest := p[1:]; r.byName && p[0] == '*' && !strings.ContainsAny(rest, `*?[\`) {
		r.suffix = rest
		return r
	}
	r.literal = p[:head]
	var err error
	r.glob, err = compileWildcard(inBytes, p, head)
	r.never = err != nil
	if !r.never {
		r.glob = r.glob[head:] // bytes: the head is as many tokens
	}
	return r
}

// matches takes the path relative to the ignore file's directory.
func (r *rule) matches(path string, dir bool) bool {
	if r.onlyDir && !dir {
		return false
	}
	if r.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	switch {
	case r.glob != nil:
		rest, ok := strings.CutPrefix(path, r.literal)
		return ok && r.glob.match(inBytes, rest)
	case r.literal != "":
		return path == r.literal
	}
	return strings.HasSuffix(path, r.suffix)
}

// verdict is what a list of rules says of a path.
type verdict uint8

const (
	silent verdict = iota
	ignored
	kept
)

// judge finds the last rule that matches.
func judge(rules []rule, path string, dir bool) verdict {
	for i := len(rules) - 1; i >= 0; i-- {
		if r := &rules[i]; r.matches(path, dir) {
			if r.not {
				return kept
			}
			return ignored
		}
	}
	return silent
}

// level is what the ignore files of a directory and of those above it say. The
// deepest that says anything decides; what is in a directory that is ignored
// is never asked about.
type level struct {
	up    *level
	skip  int // length of the directory's path below the top, with its slash
	rules []rule
}

// ignores takes a path below the top of the repository.
func (l *level) ignores(path string, dir bool) bool {
	for ; l != nil; l = l.up {
		if v := judge(l.rules, path[l.skip:], dir); v != silent {
			return v == ignored
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
		if r.not || l.skip > len(dir) || r.literal != dir[l.skip:] || !r.anything() {
			out.rules = append(out.rules, r)
		}
	}
	return out
}

// anything: any name matches behind the literal.
func (r *rule) anything() bool {
	if r.glob == nil {
		return r.literal == "" && r.suffix == ""
	}
	return len(r.glob) == 1 && r.glob[0].kind >= star
}
