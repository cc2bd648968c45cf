package scan

import (
	"slices"
	"testing"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		want [][]string
	}{
		{"", nil},
		{" ; -- nothing\n/* here */ ;", nil},
		{"select 1; Select 2", [][]string{{"SELECT", "1"}, {"SELECT", "2"}}},
		{"explain query plan\nselect 'a;b' from t", [][]string{{"SELECT", "'a;b", "FROM", "T"}}},
		{`create table "select" (a)`, [][]string{{"CREATE", "TABLE", "'select", "("}}},
		{"a [b;c] `d;e` 'f''g;' h i", [][]string{{"A", "'b;c", "'d;e", "'f''g;"}}},
		{`"" "" """" ''`, [][]string{{"'", "'", `'""`, "'"}}},
		{"[a]]b] c", [][]string{{"'a", "]", "B", "]"}}},
		{"open 'text", [][]string{{"OPEN", "'text"}}},
		{"\ufeffpragma x.y", [][]string{{"PRAGMA", "X", ".", "Y"}}},
	} {
		s := Scanner{Text: c.text}
		var got [][]string
		for words := s.Statement(); words != nil; words = s.Statement() {
			got = append(got, words)
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if At([]string{"A"}, 0) != "A" || At([]string{"A"}, 1) != "" {
		t.Error("At is wrong at its end")
	}
}
