package config

import "strings"

// maxWord is the longest word that a neighbour is looked for, in bytes.
const maxWord = 64

// Nearest returns the known word that word was most likely meant to be: the
// one with the fewest letters changed, added, left out or swapped, as long as
// these are few for its length. Of equals one of the same length wins, since
// letters are swapped more often than lost, then the first; case is no letter
// changed.
func Nearest(word string, known []string) (string, bool) {
	word = strings.ToLower(word)
	best, limit := "", 2*min(len(word)/3+1, 3)+2
	for _, k := range known {
		low := strings.ToLower(k)
		if len(word) > maxWord || len(low) > maxWord {
			continue
		}
		// A word no longer than the edits would match anything.
		// Doubled, so that another length can break a tie.
		d := 2 * distance(word, low)
		if len(low) != len(word) {
			d++
		}
		if d < limit && d < 2*len(low) {
			best, limit = k, d
		}
	}
	return best, best != ""
}

// distance is the Damerau-Levenshtein distance in bytes, where no piece is
// edited twice. Neither word is longer than maxWord.
func distance(a, b string) int {
	var before, last, row [maxWord + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last = last, row
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
