package term

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	for in, want := range map[string]Key{
		"a": {Code: 'a', Text: "a"}, "A": {Code: 'a', Mods: Shift, Text: "A"}, "shift+a": {Code: 'a', Mods: Shift, Text: "A"},
		"Ctrl+O": {Code: 'o', Mods: Ctrl}, "ctrl-o": {Code: 'o', Mods: Ctrl}, "alt+enter": {Code: Enter, Mods: Alt},
		"ctrl+shift+F5": {Code: F5, Mods: Ctrl | Shift}, "space": {Code: ' ', Text: " "}, "ctrl+space": {Code: ' ', Mods: Ctrl},
		"+": {Code: '+', Text: "+"}, "ctrl++": {Code: '+', Mods: Ctrl}, "ctrl+plus": {Code: '+', Mods: Ctrl}, "-": {Code: '-', Text: "-"},
		"ctrl+-": {Code: '-', Mods: Ctrl}, "ctrl+/": {Code: '/', Mods: Ctrl}, "?": {Code: '?', Text: "?"}, "é": {Code: 'é', Text: "é"},
		"alt+ß": {Code: 'ß', Mods: Alt}, "PgUp": {Code: PageUp}, "shift+tab": {Code: Tab, Mods: Shift}, " esc ": {Code: Escape}, "日": {Code: '日', Text: "日"},
	} {
		got, err := ParseKey(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseKey(%q) = %+v, %v, want %+v", in, got, err, want)
			continue
		}
		if again, err := ParseKey(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q is written %q, which is read as %+v, %v", in, got.String(), again, err)
		}
	}
	for _, in := range []string{"", "ctrl", "ctrl+", "ctrl+ctrl+a", "ab", "foo+a", "f13", "\x1b", "ctrl+\x00", "\xff", "\u200b"} {
		if got, err := ParseKey(in); err == nil {
			t.Errorf("ParseKey(%q) = %+v", in, got)
		} else if !strings.HasPrefix(err.Error(), "key ") {
			t.Errorf("ParseKey(%q): %v", in, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pressed Key
		binding string
		want    bool
	}{
		{Key{Code: 'o', Mods: Ctrl}, "ctrl+o", true},
		{Key{Code: 'o', Mods: Ctrl | Shift}, "ctrl+o", false},
		{Key{Code: 'a', Mods: Shift, Text: "A"}, "A", true},
		{Key{Code: 'A', Text: "A"}, "A", true}, // a terminal that does not tell of Shift
		{Key{Code: 'a', Text: "a"}, "A", false},
		{Key{Code: '?', Text: "?"}, "?", true},
		{Key{Code: '/', Mods: Shift, Text: "?"}, "?", true},
		{Key{Code: '/', Mods: Shift, Text: "?"}, "/", false},
		{Key{Code: 'с', Mods: Ctrl, Base: 'c'}, "ctrl+c", true}, // Cyrillic
		{Key{Code: 'с', Text: "с", Base: 'c'}, "c", false},
		{Key{Code: 'a', Mods: Ctrl, Base: 'q'}, "ctrl+q", false}, // a Latin layout is what it says
		{Key{Code: Enter, Mods: Alt}, "alt+enter", true},
		{Key{Code: Enter}, "alt+enter", false},
	} {
		b, err := ParseKey(c.binding)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.pressed.Matches(b); got != c.want {
			t.Errorf("%+v for %s: got %v", c.pressed, c.binding, got)
		}
	}
}
