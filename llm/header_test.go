package llm

import (
	"slices"
	"testing"
)

func TestHeaderSecrets(t *testing.T) {
	for value, want := range map[string][]string{
		"":              nil,
		"tenant-1":      {"tenant-1"},
		"Bearer tok-12": {"Bearer tok-12", "tok-12"},
		"Basic  dXNlcjpwYXNzd29yZA==": {"Basic  dXNlcjpwYXNzd29yZA==", "Basic dXNlcjpwYXNzd29yZA==",
			"dXNlcjpwYXNzd29yZA", "dXNlcjpwYXNzd29yZA=="},
		`Token token="0123456789abcdef", v=1`: {"0123456789abcdef", `Token token="0123456789abcdef", v=1`, `token="0123456789abcdef", v=1`},
		"one  two  three":                     {"one  two  three", "one two three", "two  three", "two three"},
	} {
		if got := HeaderSecrets(value); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
