package doom

import "testing"

func TestWithoutDurations(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"nothing here 12":       "nothing here 12",
		"ok ledger 0.41s":       "ok ledger #s",
		"exit 1 · 2.1 s":        "exit 1 · #s",
		"(120 ms) and 1m3.5s.":  "(#s) and #s.",
		"10 million, 3 houses":  "10 million, 3 houses",
		"5 sheep, v2s, 12s3x":   "5 sheep, v2s, 12s3x",
		"line 10: 3 more":       "line 10: 3 more",
		"7µs 8ns":               "#s #s",
		"0.5":                   "0.5",
		"progress 10% then 20%": "progress 10% then 20%",
		"3.s":                   "3.s",
	} {
		if got := withoutDurations(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
