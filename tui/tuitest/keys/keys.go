// Package keys says what a terminal sends for a key, in the old encoding, in that of the
// kitty keyboard protocol and in xterm's modifyOtherKeys, and how people name keys.
package keys

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/tui/term"
)

// The flags of the kitty keyboard protocol.
const (
	Disambiguate = 1 << iota
	Events
	Alternates
	All
	Text
)

// What happens to a key, with the numbers of the kitty protocol.
const (
	Pressed = 1 + iota
	Repeated
	Released
)

// Modes are how a program set up the keyboard.
type Modes struct {
	Kitty       int  // the flags of the kitty keyboard protocol
	Other       int  // the level of modifyOtherKeys
	Format      int  // formatOtherKeys: 1 for the form CSI … u
	Application bool // DECCKM
}

// special is a key without a character: its name, what it sends alone, and its number
// in the forms CSI number ; mods ~ and CSI 1 ; mods letter. kitty is the number in the
// form CSI … u.
type special struct {
	code   term.Code
	name   string
	letter byte
	number int
	kitty  int
}

// F3 is CSI R with modifiers in xterm, and CSI 13 ~ in the kitty protocol.
var specials = []special{
	{term.Enter, "enter", 0, 0, 13},
	{term.Tab, "tab", 0, 0, 9},
	{term.Backspace, "backspace", 0, 0, 127},
	{term.Escape, "esc", 0, 0, 27},
	{term.Up, "up", 'A', 0, 0},
	{term.Down, "down", 'B', 0, 0},
	{term.Right, "right", 'C', 0, 0},
	{term.Left, "left", 'D', 0, 0},
	{term.Home, "home", 'H', 0, 0},
	{term.End, "end", 'F', 0, 0},
	{term.Begin, "begin", 'E', 0, 0},
	{term.PageUp, "pageup", 0, 5, 0},
	{term.PageDown, "pagedown", 0, 6, 0},
	{term.Insert, "insert", 0, 2, 0},
	{term.Delete, "delete", 0, 3, 0},
	{term.Menu, "menu", 0, 29, 0},
	{term.F1, "f1", 'P', 0, 0},
	{term.F2, "f2", 'Q', 0, 0},
	{term.F3, "f3", 'R', 13, 0},
	{term.F4, "f4", 'S', 0, 0},
	{term.F5, "f5", 0, 15, 0},
	{term.F6, "f6", 0, 17, 0},
	{term.F7, "f7", 0, 18, 0},
	{term.F8, "f8", 0, 19, 0},
	{term.F9, "f9", 0, 20, 0},
	{term.F10, "f10", 0, 21, 0},
	{term.F11, "f11", 0, 23, 0},
	{term.F12, "f12", 0, 24, 0},
}

func specialOf(match func(s *special) bool) *special {
	for i := range specials {
		if match(&specials[i]) {
			return &specials[i]
		}
	}
	return nil
}

var modNames = []struct {
	name string
	mod  term.Mods
}{
	{"shift", term.Shift}, {"alt", term.Alt}, {"ctrl", term.Ctrl}, {"super", term.Super}, {"hyper", term.Hyper}, {"meta", term.Meta},
}

// The signs of a US keyboard, without and with Shift.
const (
	plainSigns   = "`1234567890-=[]\\;',./"
	shiftedSigns = "~!@#$%^&*()_+{}|:\"<>?"
)

// Other layouts have other signs on their keys; nothing here asks for one.
//
// unshifted is the character that a key gives without Shift, shifted the one with it.
func unshifted(r rune) rune {
	if i := strings.IndexRune(shiftedSigns, r); i >= 0 {
		return rune(plainSigns[i])
	}
	return unicode.ToLower(r)
}

func shifted(r rune) rune {
	if i := strings.IndexRune(plainSigns, r); i >= 0 {
		return rune(shiftedSigns[i])
	}
	return unicode.ToUpper(r)
}

// Parse reads the name of a key: modifiers (shift, alt, ctrl, super, hyper, meta) and
// a plus before a character or a name, as in "ctrl+shift+p" and "alt+enter"; "space" and
// "plus" are characters with names.
func Parse(name string) (term.Key, error) {
	var k term.Key
	rest := name
next:
	for {
		for _, m := range modNames {
			if after, ok := strings.CutPrefix(strings.ToLower(rest), m.name+"+"); ok && after != "" {
				k.Mods |= m.mod
				rest = rest[len(m.name)+1:]
				continue next
			}
		}
		break
	}
	lower := strings.ToLower(rest)
	if s := specialOf(func(s *special) bool { return s.name == lower }); s != nil {
		k.Code = s.code
		return k, nil
	}
	switch lower {
	case "space":
		rest = " "
	case "plus":
		rest = "+"
	}
	r, size := utf8.DecodeRuneInString(rest)
	if size == 0 || size != len(rest) || r == utf8.RuneError || r < 0x20 {
		return k, fmt.Errorf("parse key %q: neither a character nor the name of a key", name)
	}
	small := unshifted(r)
	if small != r {
		k.Mods |= term.Shift
	}
	k.Code = term.Code(small)
	if k.Mods&^term.Shift == 0 {
		k.Text = string(small)
		if k.Mods != 0 {
			k.Text = string(shifted(small))
		}
	}
	return k, nil
}

// Typed is the key that types a cluster on a US keyboard, as far as it has one.
func Typed(cluster string) term.Key {
	k := term.Key{Text: cluster}
	r := []rune(cluster)
	k.Code = term.Code(r[0])
	if small := unshifted(r[0]); len(r) == 1 && small != r[0] {
		k.Code, k.Mods = term.Code(small), term.Shift
	}
	return k
}

// Encode is what a terminal sends when a key is pressed, repeated or released.
func Encode(k term.Key, m Modes, event int) string {
	s := specialOf(func(s *special) bool { return s.code == k.Code })
	if m.Kitty != 0 {
		return encodeKitty(k, s, m.Kitty, event, m.Application)
	}
	switch {
	case event == Released:
		return ""
	case s != nil && (s.letter != 0 || s.number != 0):
		return encodeSpecial(k, s, m.Application)
	case m.Other > 0:
		if b, ok := encodeOther(k, s, m); ok {
			return b
		}
	}
	return encodeLegacy(k, s)
}

// encodeSpecial is a key of the forms CSI letter and CSI number ~.
func encodeSpecial(k term.Key, s *special, application bool) string {
	m := int(k.Mods) + 1
	switch {
	case s.letter == 0 && m == 1:
		return fmt.Sprintf("\x1b[%d~", s.number)
	case s.letter == 0:
		return fmt.Sprintf("\x1b[%d;%d~", s.number, m)
	case m > 1:
		return fmt.Sprintf("\x1b[1;%d%c", m, s.letter)
	case application || s.letter >= 'P':
		return "\x1bO" + string(rune(s.letter))
	}
	return "\x1b[" + string(rune(s.letter))
}

// encodeLegacy is a key as terminals of old send it, which can not say all: Shift+Enter
// is Enter, Ctrl+Shift+A is Ctrl+A, and Ctrl with a character that has no control is
// that character.
func encodeLegacy(k term.Key, s *special) string {
	out := ""
	if k.Mods&(term.Alt|term.Meta) != 0 {
		out = "\x1b"
	}
	switch {
	case s != nil && s.code == term.Tab && k.Mods&term.Shift != 0:
		return out + "\x1b[Z"
	case s != nil && s.code == term.Backspace && k.Mods&term.Ctrl != 0:
		return out + "\b"
	case s != nil:
		return out + string(rune(s.kitty))
	case k.Mods&term.Ctrl != 0:
		r := rune(k.Code)
		if k.Mods&term.Shift != 0 && !unicode.IsLetter(r) {
			r = shifted(r)
		}
		if c, ok := controlOf(r); ok {
			return out + string(rune(c))
		}
	case k.Text != "":
		return out + k.Text
	case k.Mods&term.Shift != 0:
		return out + string(shifted(rune(k.Code)))
	}
	return out + string(rune(k.Code))
}

// controlOf is the control that Ctrl makes of a character, with those that VT220 gave to
// digits and that all terminals took over.
func controlOf(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= '[' && r <= '_':
		return byte(r) & 0x1F, true
	case r == ' ' || r == '@' || r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 27, true
	case r == '/' || r == '-':
		return 31, true
	case r == '8' || r == '?':
		return 127, true
	}
	return 0, false
}

// encodeOther is a key that modifyOtherKeys sends in a form of its own: at level 1 those
// that have no other, at level 2 all with modifiers but text with Shift alone.
//
// The code is that of the character with Shift, other than in the kitty protocol: xterm
// sends CSI 27;6;65~ for Ctrl+Shift+A.
func encodeOther(k term.Key, s *special, m Modes) (string, bool) {
	code := int(k.Code)
	switch {
	case k.Mods == 0 || s == nil && k.Mods == term.Shift:
		return "", false
	case s != nil && s.code == term.Tab && k.Mods == term.Shift:
		return "", false
	case s != nil:
		code = s.kitty
	case k.Mods&term.Shift != 0:
		code = int(shifted(rune(k.Code)))
	}
	if m.Other == 1 && s == nil {
		_, control := controlOf(rune(k.Code))
		if k.Mods == term.Alt || control && k.Mods&^(term.Alt|term.Shift) == term.Ctrl {
			return "", false
		}
	}
	if m.Format == 1 {
		return fmt.Sprintf("\x1b[%d;%du", code, int(k.Mods)+1), true
	}
	return fmt.Sprintf("\x1b[27;%d;%d~", int(k.Mods)+1, code), true
}

// encodeKitty is a key by the kitty protocol. Text that is typed is sent as it is unless
// All is set. A modifier of 1, which is none, and an event of 1, a press, are left out. F3
// has a number of its own, since CSI R is the answer to a question.
func encodeKitty(k term.Key, s *special, flags, event int, application bool) string {
	if event == Released && flags&Events == 0 {
		return ""
	}
	mods := fmt.Sprint(int(k.Mods) + 1)
	if flags&Events != 0 && event != Pressed {
		mods += fmt.Sprintf(":%d", event)
	}
	if s != nil && (s.letter != 0 || s.number != 0) {
		switch {
		case mods == "1" && s.code != term.F3:
			return encodeSpecial(k, s, application && flags&All == 0)
		case s.letter != 0 && s.code != term.F3:
			return fmt.Sprintf("\x1b[1;%s%c", mods, s.letter)
		case mods == "1":
			return fmt.Sprintf("\x1b[%d~", s.number)
		}
		return fmt.Sprintf("\x1b[%d;%s~", s.number, mods)
	}
	if flags&All == 0 {
		plain := s == nil && k.Mods&^term.Shift == 0
		// Enter, Tab and Backspace stay as they are, so that a shell can be typed in.
		plain = plain || s != nil && s.code != term.Escape && k.Mods == 0
		switch {
		case plain && event == Released:
			return ""
		case plain:
			return encodeLegacy(k, s)
		}
	}
	return kittyU(k, s, flags, event, mods)
}

// kittyU is the form CSI code:shifted:base ; mods:event ; text u. The code is that of the
// key without Shift, whatever is typed.
func kittyU(k term.Key, s *special, flags, event int, mods string) string {
	if s == nil && len([]rune(k.Text)) > 1 { // no key of its own: an input method
		if event == Released {
			return ""
		}
		return k.Text
	}
	code := fmt.Sprint(int(k.Code))
	if s != nil {
		code = fmt.Sprint(s.kitty)
	} else if flags&Alternates != 0 {
		if k.Mods&term.Shift != 0 {
			code += fmt.Sprintf(":%d", shifted(rune(k.Code)))
		}
		if k.Base != 0 && k.Base != rune(k.Code) {
			if k.Mods&term.Shift == 0 {
				code += ":"
			}
			code += fmt.Sprintf(":%d", k.Base)
		}
	}
	text := ""
	if flags&(Text|All) == Text|All && k.Text != "" && event != Released {
		for i, r := range k.Text {
			if i > 0 {
				text += ":"
			}
			text += fmt.Sprint(int(r))
		}
	}
	switch {
	case text != "":
		return "\x1b[" + code + ";" + mods + ";" + text + "u"
	case mods != "1":
		return "\x1b[" + code + ";" + mods + "u"
	}
	return "\x1b[" + code + "u"
}

// Tmux is the name that tmux has for a key. It names a sign by the character that Shift
// makes of its key, and a letter with Ctrl and Shift by the small one.
func Tmux(k term.Key) string {
	prefix := ""
	if k.Mods&term.Ctrl != 0 {
		prefix += "C-"
	}
	if k.Mods&(term.Alt|term.Meta) != 0 {
		prefix += "M-"
	}
	shift := k.Mods&term.Shift != 0
	if s := specialOf(func(s *special) bool { return s.code == k.Code }); s != nil {
		name := map[term.Code]string{
			term.Enter: "Enter", term.Tab: "Tab", term.Backspace: "BSpace", term.Escape: "Escape", term.PageUp: "PPage",
			term.PageDown: "NPage", term.Insert: "IC", term.Delete: "DC",
		}[k.Code]
		switch {
		case k.Code == term.Tab && shift:
			return prefix + "BTab"
		case name == "":
			name = strings.ToUpper(s.name[:1]) + s.name[1:]
		}
		if shift {
			prefix += "S-"
		}
		return prefix + name
	}
	switch {
	case k.Code == ' ':
		return prefix + "Space"
	case shift && k.Mods&term.Ctrl != 0 && unicode.IsLetter(rune(k.Code)):
		return prefix + "S-" + string(rune(k.Code))
	case shift:
		return prefix + string(shifted(rune(k.Code)))
	}
	return prefix + string(rune(k.Code))
}
