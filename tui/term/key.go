package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the names of keys in configuration and help, by Code. Where there are
// several, the first one is written.
var names = [...]struct {
	code  Code
	words []string
}{
	{' ', []string{"space"}}, {Enter, []string{"enter", "return"}}, {Tab, []string{"tab"}}, {Backspace, []string{"backspace"}},
	{Escape, []string{"esc", "escape"}}, {Up, []string{"up"}}, {Down, []string{"down"}}, {Left, []string{"left"}}, {Right, []string{"right"}},
	{Home, []string{"home"}}, {End, []string{"end"}}, {PageUp, []string{"pageup", "pgup"}}, {PageDown, []string{"pagedown", "pgdn"}},
	{Insert, []string{"insert", "ins"}}, {Delete, []string{"delete", "del"}}, {Begin, []string{"begin"}}, {Menu, []string{"menu"}},
	{F1, []string{"f1"}}, {F2, []string{"f2"}}, {F3, []string{"f3"}}, {F4, []string{"f4"}}, {F5, []string{"f5"}}, {F6, []string{"f6"}},
	{F7, []string{"f7"}}, {F8, []string{"f8"}}, {F9, []string{"f9"}}, {F10, []string{"f10"}}, {F11, []string{"f11"}}, {F12, []string{"f12"}},
	{'+', []string{"+", "plus"}}, {'-', []string{"-", "minus"}},
}

// modNames are the names of modifiers, in the order in which they are written.
var modNames = [...]struct {
	mod   Mods
	words []string
}{
	{Ctrl, []string{"ctrl", "control", "c"}}, {Alt, []string{"alt", "option", "a", "m"}}, {Shift, []string{"shift", "s"}},
	{Super, []string{"super", "cmd", "win"}}, {Hyper, []string{"hyper"}}, {Meta, []string{"meta"}},
}

// String is the key as configuration writes it: "ctrl+shift+a", "alt+enter", "f5".
func (k Key) String() string {
	var b strings.Builder
	for _, m := range modNames {
		if k.Mods&m.mod != 0 {
			b.WriteString(m.words[0] + "+")
		}
	}
	for _, n := range names {
		if n.code == k.Code {
			return b.String() + n.words[0]
		}
	}
	return b.String() + string(rune(k.Code))
}

// ParseKey reads a key as String writes it, in any case of letters; "-" may stand for
// "+" between its parts. The error says what was expected.
func ParseKey(s string) (Key, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	var k Key
	for {
		head, rest, mod := cutMod(word)
		if mod == 0 {
			break
		}
		if k.Mods&mod != 0 {
			return Key{}, fmt.Errorf("key %q: %s stands there twice", s, head)
		}
		k.Mods |= mod
		word = rest
	}
	for _, n := range names {
		for _, w := range n.words {
			if w == word {
				k.Code = n.code
				return k.typed(), nil
			}
		}
	}
	r, size := utf8.DecodeRuneInString(word)
	if r == utf8.RuneError || size < len(word) || !unicode.IsPrint(r) {
		return Key{}, fmt.Errorf("key %q: %q is no key; a key is a character or one of %s, after ctrl+, alt+, shift+ or super+", s, word, keyNames())
	}
	if letter := []rune(strings.TrimSpace(s)); unicode.IsUpper(letter[len(letter)-1]) && k.Mods == 0 {
		k.Mods = Shift // "A" is what shift and a type
	}
	k.Code = Code(r)
	return k.typed(), nil
}

// cutMod takes a modifier and its sign off the start of a word; 0 where there is none.
func cutMod(word string) (head, rest string, mod Mods) {
	i := strings.IndexAny(word, "+-")
	if i <= 0 || i == len(word)-1 {
		return "", word, 0
	}
	for _, m := range modNames {
		for _, w := range m.words {
			if w == word[:i] {
				return w, word[i+1:], m.mod
			}
		}
	}
	return "", word, 0
}

// keyNames lists the keys that have names.
func keyNames() string {
	var out []string
	for _, n := range names {
		out = append(out, n.words[0])
	}
	return strings.Join(out, ", ")
}

// typed is the key with the text that it types on its own or with Shift, where that is
// the same on every keyboard.
func (k Key) typed() Key {
	if k.Code > utf8.MaxRune || k.Mods&^Shift != 0 {
		return k
	}
	r := rune(k.Code)
	if k.Mods&Shift != 0 {
		if r = unicode.ToUpper(r); r == rune(k.Code) && r != ' ' {
			return k
		}
	}
	k.Text = string(r)
	return k
}

// Matches reports whether a key that was pressed is the one that a binding names:
// the same key and modifiers. A character that only Shift reaches, as ? or :, matches
// with and without it, since terminals tell that differently; a letter of another
// script matches by its place on the keyboard, where the terminal tells it.
func (k Key) Matches(binding Key) bool {
	if k.Code == binding.Code && k.Mods == binding.Mods {
		return true
	}
	if k.Text != "" && binding.Code <= utf8.MaxRune && binding.Mods&^Shift == 0 && k.Text == binding.symbol() {
		return true
	}
	return k.Base != 0 && k.Mods == binding.Mods && k.Mods&^Shift != 0 && Code(k.Base) == binding.Code && k.Code > unicode.MaxLatin1
}

// symbol is what a binding of a character types.
func (k Key) symbol() string {
	if k.Mods&Shift != 0 {
		return string(unicode.ToUpper(rune(k.Code)))
	}
	return string(rune(k.Code))
}
