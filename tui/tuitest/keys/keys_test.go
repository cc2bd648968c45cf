package keys

import "testing"

// What keys send stands in the tests of tuitest, where a terminal has modes.

func TestParse(t *testing.T) {
	for _, name := range []string{"", "ctrl+", "nokey", "ctrl+nokey", "\x01"} {
		if k, err := Parse(name); err == nil {
			t.Errorf("%q is the key %+v", name, k)
		}
	}
}

func TestTmux(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "A": "A", "ctrl+a": "C-a", "alt+x": "M-x", "alt+X": "M-X", "shift+enter": "S-Enter", "ctrl+shift+left": "C-S-Left",
		"shift+tab": "BTab", "f5": "F5", "space": "Space", "pageup": "PPage", "esc": "Escape", "ctrl+delete": "C-DC",
	} {
		k, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Tmux(k); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
