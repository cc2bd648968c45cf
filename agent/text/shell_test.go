package text

import "testing"

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"/a/b-1.sqlite": "/a/b-1.sqlite", "--x=a,b@c%+:d": "--x=a,b@c%+:d", "a b": "'a b'", "it's": `'it'\''s'`, "'": `''\'''`,
		"": "''", "$(x)": "'$(x)'", "~/a": "'~/a'", "=ls": "'=ls'", "ä": "'ä'", "a\nb": "'a\nb'", "x\xff": "'x\xff'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
