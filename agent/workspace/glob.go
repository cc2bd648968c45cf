package workspace

import (
	"errors"
	"fmt"
	"strings"
)

const (
	maxGlob = 4096 // bytes of a glob
	maxAlts = 256  // alternatives after braces are multiplied out
)

// glob is a filter of a listing or a search.
type glob struct {
	alts    []wildcard
	byName  bool // without a slash: the last name is matched, at any depth
	literal bool // no wildcard in it: it names a file
	dots    bool // a name in it starts with a dot: hidden names are meant
	levels  int  // no path with more names can match; 0 is no limit
}

// matches takes the path below the directory that the glob is relative to.
func (g *glob) matches(path string) bool {
	if g.byName {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	for _, w := range g.alts {
		if w.match(inRunes, path) {
			return true
		}
	}
	return false
}

// splitGlob cuts the directories off that a glob names literally: these were
// asked for, as a path is, and nothing beside them can match.
func splitGlob(p string) (dir, rest string) {
	for {
		name, after, more := strings.Cut(p, "/")
		if !more || hasWildcard(name) {
			return strings.TrimSuffix(dir, "/"), p
		}
		dir, p = dir+name+"/", after
	}
}

func hasWildcard(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// compileGlob reads a glob: "*", "?", "[a-z]", "{a,b}", "**" and "\" before a
// character that is meant itself.
func compileGlob(p string, byName bool) (*glob, error) {
	if len(p) > maxGlob {
		return nil, fmt.Errorf("the glob is longer than %d bytes", maxGlob)
	}
	alts, err := expandBraces(p)
	if err != nil {
		return nil, fmt.Errorf("glob %s: %w", show(p), err)
	}
	g := &glob{byName: byName, literal: !hasWildcard(p)}
	endless := byName
	for _, a := range alts {
		w, err := compileWildcard(inRunes, a, -1)
		if err != nil {
			return nil, fmt.Errorf("glob %s: %w", show(p), err)
		}
		g.alts = append(g.alts, w)
		g.dots = g.dots || strings.HasPrefix(a, ".") || strings.Contains(a, "/.")
		g.levels = max(g.levels, strings.Count(a, "/")+1)
		endless = endless || strings.Contains(a, "**")
	}
	if endless {
		g.levels = 0
	}
	return g, nil
}

// expandBraces multiplies "{a,b}" out. A brace that is not closed, or holds no
// comma, is a character.
func expandBraces(p string) ([]string, error) {
	done, todo := []string(nil), []string{p}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, commas, end := findBraces(s)
		if end < 0 {
			done = append(done, s)
		} else {
			commas = append(commas, end)
			for i := len(commas) - 1; i >= 0; i-- {
				from := open + 1
				if i > 0 {
					from = commas[i-1] + 1
				}
				todo = append(todo, s[:open]+s[from:commas[i]]+s[end+1:])
			}
		}
		if len(done)+len(todo) > maxAlts {
			return nil, errors.New("the braces make too many alternatives")
		}
	}
	return done, nil
}

// findBraces finds the first outermost braces with a comma in them; end is -1
// when there are none.
func findBraces(s string) (open int, commas []int, end int) {
	for open = 0; open < len(s); open++ {
		switch s[open] {
		case '\\':
			open++
			continue
		case '{':
			if commas, end := closeBrace(s, open); end >= 0 && len(commas) > 0 {
				return open, commas, end
			}
		}
	}
	return 0, nil, -1
}

func closeBrace(s string, open int) (commas []int, end int) {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return commas, i
			}
		}
	}
	return nil, -1
}
