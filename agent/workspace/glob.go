package workspace

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

const (
	maxGlob = 4096 // bytes of a glob
	maxAlts = 256  // alternatives after braces are multiplied out
)

// glob is a filter of a listing or a search; the zero one lets all pass.
type glob struct {
	alts    []wildcard
	byName  bool // without a slash: the last name is matched, at any depth
	literal bool // no wildcard in it: it names a file
	dots    bool // a name in it starts with a dot: hidden names are meant
	levels  int  // no path with more names can match; 0 is no limit
}

// matches takes the path below the directory that the glob is relative to. Work
// is bounded as for ignore rules.
func (g *glob) matches(path string) bool {
	if g.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	budget := maxJudging
	return len(g.alts) == 0 || slices.ContainsFunc(g.alts, func(w wildcard) bool {
		budget -= len(w.steps) * len(path)
		return budget >= 0 && w.match(inRunes, path)
	})
}

// splitGlob cuts the directories off that a glob names literally: these were
// asked for, as a path is, and nothing beside them can match.
func splitGlob(p string) (dir, rest string) {
	literal := strings.IndexAny(p+"*", wildcards)
	dir, _ = path.Split(p[:literal])
	return dir, p[len(dir):]
}

const wildcards = `*?[{\`

func hasWildcard(s string) bool { return strings.ContainsAny(s, wildcards) }

// compileGlob reads a glob: "*", "?", "[a-z]", "{a,b}", "**" and "\" before a
// character that is meant itself.
func compileGlob(p string, byName bool) (glob, error) {
	g := glob{byName: byName, literal: !hasWildcard(p)}
	if len(p) > maxGlob {
		return g, fmt.Errorf("the glob is longer than %d bytes", maxGlob)
	}
	alts, err := expandBraces(p)
	endless := byName
	for _, a := range alts {
		w, bad := compileWildcard(inRunes, a)
		if bad != nil {
			err = bad
		}
		g.alts = append(g.alts, w)
		g.dots = g.dots || strings.HasPrefix(a, ".") || strings.Contains(a, "/.")
		g.levels = max(g.levels, strings.Count(a, "/")+1)
		endless = endless || strings.Contains(a, "**")
	}
	if err != nil {
		return g, fmt.Errorf("glob %s: %w", show(p), err)
	}
	if endless {
		g.levels = 0
	}
	return g, nil
}

// expandBraces multiplies "{a,b}" out. A brace that is not closed, or holds no
// comma, is a character.
func expandBraces(p string) (done []string, err error) {
	for todo := []string{p}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		cuts := findBraces(s)
		if cuts == nil {
			done = append(done, s)
		}
		for i := 1; i < len(cuts); i++ {
			todo = append(todo, s[:cuts[0]]+s[cuts[i-1]+1:cuts[i]]+s[cuts[len(cuts)-1]+1:])
		}
		if len(done)+len(todo) > maxAlts {
			return nil, errors.New("the braces make too many alternatives")
		}
	}
	return done, nil
}

// findBraces finds the last braces with a comma in them that are in no others:
// where they open, their commas, where they close.
func findBraces(s string) (found []int) {
	var open [][]int // of each brace that is open, where, and its commas
	for i := 0; i < len(s); i++ {
		last := len(open) - 1
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '{':
			open = append(open, []int{i})
		case last < 0:
		case c == ',':
			open[last] = append(open[last], i)
		case c == '}':
			if len(open[last]) > 1 {
				found = append(open[last], i)
			}
			open = open[:last]
		}
	}
	return found
}
