package workspace

import (
	"strings"
)

// What a repository can make a listing cost is bounded. Rules beyond these
// bounds are not obeyed: what they would hide is shown.
const (
	maxRule      = 512      // bytes of a rule
	maxRuleBytes = 64 << 10 // of an ignore file
	maxFileRules = 1000     // of an ignore file
	maxRules     = 5000     // in force at once
	maxJudging   = 1 << 23  // steps times bytes for one path: some hundredths of a second
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

// parseRules reads an ignore file, as far as the bounds allow.
func parseRules(data string) []rule {
	if len(data) > maxRuleBytes { // half a rule would be another one
		data = data[:strings.LastIndexByte(data[:maxRuleBytes], '\n')+1]
	}
	data = strings.TrimPrefix(data, "\ufeff")
	var rules []rule
	for line := range strings.SplitSeq(data, "\n") {
		if len(rules) == maxFileRules {
			break
		}
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
	return r, p != "" && len(p) <= maxRule && err == nil
}

// matches takes the path relative to the ignore file's directory, and what it
// costs from the budget.
func (r *rule) matches(path string, dir bool, budget *int) bool {
	if r.onlyDir && !dir {
		return false
	}
	if r.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	rest, ok := strings.CutPrefix(path, r.head)
	if !ok || !strings.HasSuffix(rest, r.rest.tail) {
		return false
	}
	*budget -= len(r.rest.steps) * len(rest)
	return *budget >= 0 && r.rest.match(inBytes, rest)
}
