package resource

import (
	"cmp"
	"slices"
	"strings"
)

// Search finds skills that may be used by the words of a query, in their names and
// descriptions, the best first. An empty query finds all.
func (s *Skills) Search(query string) []Skill {
	words := strings.Fields(strings.ToLower(query))
	offered := s.Offered()
	score := make(map[string]int, len(offered))
	hits := slices.DeleteFunc(offered, func(k Skill) bool {
		score[k.Name] = k.score(words)
		return len(words) > 0 && score[k.Name] == 0
	})
	slices.SortStableFunc(hits, func(a, b Skill) int { return cmp.Compare(score[b.Name], score[a.Name]) })
	return hits
}

// score counts words: a name says more than a description.
func (k Skill) score(words []string) int {
	points, text := 0, strings.ToLower(k.Description)
	for _, w := range words {
		switch {
		case k.Name == w:
			points += 8
		case strings.Contains(k.Name, w):
			points += 5
		case strings.Contains(text, w):
			points++
		}
	}
	return points
}

// near says what could have been meant by a name, or which skills there are.
func (s *Skills) near(name string) string {
	hits := s.Search(strings.ReplaceAll(name, "-", " "))
	offered := s.Offered()
	for _, k := range offered {
		if within(strings.ToLower(name), k.Name, 2) {
			hits = slices.Insert(hits, 0, k)
			break
		}
	}
	switch {
	case len(offered) == 0:
		return ": there are no skills"
	case len(hits) > 0:
		return "; did you mean " + hits[0].Name + "?"
	}
	var names []string
	for _, k := range offered[:min(len(offered), 10)] {
		names = append(names, k.Name)
	}
	list := "; there are " + strings.Join(names, ", ")
	if len(offered) > len(names) {
		list += " and others"
	}
	return list
}

// within reports whether at most n letters were added, dropped or changed between
// two words.
func within(a, b string, n int) bool {
	switch {
	case n < 0 || len(a)-len(b) > n || len(b)-len(a) > n:
		return false
	case a == "" || b == "":
		return true // the lengths are near enough
	case a[0] == b[0]:
		return within(a[1:], b[1:], n)
	}
	return within(a[1:], b, n-1) || within(a, b[1:], n-1) || within(a[1:], b[1:], n-1)
}
