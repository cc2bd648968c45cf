package workspace

import "strings"

// level is what the ignore files of a directory and of those above it say. The
// deepest that says anything decides; what is in a directory that is ignored
// is never asked about.
type level struct {
	up    *level
	skip  int // length of the directory's path below the top, with its slash
	total int // rules, with those above
	rules []rule
	// Most rules are looked up: last is the last one for each key. The others
	// are tried one by one.
	last   map[ruleKey]int
	others []int
}

// ruleKey is what a rule without wildcards, or with just one before an
// extension, matches.
type ruleKey struct {
	form ruleForm
	dir  bool
	text string
}

type ruleForm uint8

const (
	wholeName ruleForm = iota
	wholePath
	extension // from the last dot on
)

// key is what the rule is looked up by, of files at first.
func (r *rule) key() (k ruleKey, ok bool) {
	steps, tail := r.rest.steps, r.rest.tail
	switch {
	case len(steps) == 0 && tail == "" && r.byName:
		return ruleKey{form: wholeName, text: r.head}, true
	case len(steps) == 0 && tail == "":
		return ruleKey{form: wholePath, text: r.head}, true
	case r.byName && r.head == "" && len(steps) == 1 && steps[0].kind == star:
		return ruleKey{form: extension, text: tail}, tail != "" && strings.LastIndexByte(tail, '.') == 0
	}
	return k, false
}

// newLevel takes as many of the rules as may be in force.
func newLevel(up *level, skip int, rules []rule) *level {
	l := &level{up: up, skip: skip, last: map[ruleKey]int{}}
	if up != nil {
		l.total = up.total
	}
	l.rules = rules[:min(len(rules), maxRules-l.total)]
	l.total += len(l.rules)
	for i := range l.rules {
		k, ok := l.rules[i].key()
		if !ok {
			l.others = append(l.others, i)
			continue
		}
		if !l.rules[i].onlyDir {
			l.last[k] = i
		}
		k.dir = true
		l.last[k] = i
	}
	return l
}

// ignores takes a path below the top of the repository. The last rule that
// matches decides.
func (l *level) ignores(path string, dir bool) bool {
	budget := maxJudging
	for ; l != nil; l = l.up {
		if i := l.decides(path[l.skip:], dir, &budget); i >= 0 {
			return !l.rules[i].not
		}
	}
	return false
}

// decides finds the last rule that matches, or -1.
func (l *level) decides(path string, dir bool, budget *int) int {
	last := -1
	if len(l.last) > 0 {
		name := path[strings.LastIndexByte(path, '/')+1:]
		keys := [...]ruleKey{{wholeName, dir, name}, {wholePath, dir, path}, {extension, dir, ""}}
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			keys[2].text = name[dot:]
		}
		for _, k := range keys {
			if i, ok := l.last[k]; ok {
				last = max(last, i)
			}
		}
	}
	for j := len(l.others) - 1; j >= 0 && l.others[j] > last; j-- {
		if i := l.others[j]; l.rules[i].matches(path, dir, budget) {
			return i
		}
	}
	return last
}

// below is the level of the directory dir ("a/b/", below the top) with an
// ignore file.
func (l *level) below(dir, file string) *level {
	if rules := parseRules(file); len(rules) > 0 {
		return newLevel(l, len(dir), rules)
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
	var rules []rule
	for _, r := range l.rules {
		anything := len(r.rest.steps) == 1 && r.rest.steps[0].kind >= star && r.rest.tail == ""
		if !anything || r.not || l.skip > len(dir) || r.head != dir[l.skip:] {
			rules = append(rules, r)
		}
	}
	return newLevel(l.up.without(dir), l.skip, rules)
}
