package term

import (
	"strings"
	"unicode"

	"alisio/agent/text"
)

// csi is a control sequence: ESC [, parameters, intermediates, a final byte (ECMA-48
// 5.4). What can not belong to it ends it and is looked at again.
func (d *Decoder) csi(p []byte) (n int, event Event) {
	if len(p) > 2 && p[2] == '[' { // the Linux console's F1 to F5
		if len(p) == 3 {
			return 0, nil
		}
		if p[3] >= 'A' && p[3] <= 'E' {
			return 4, Key{Code: F1 + Code(p[3]-'A')}
		}
		return 3, nil
	}
	for i := 2; i < len(p); i++ {
		switch b := p[i]; {
		case i > maxString:
			return i, nil
		case b == can || b == sub:
			return i + 1, nil
		case b == '$' && rxvtShift(p[2:i]):
			return i + 1, numbered(parameters(p[2:i]), Shift)
		case b >= ' ' && b <= '?':
		case b >= '@' && b <= '~' && i > maxSequence:
			return i + 1, nil
		case b >= '@' && b <= '~':
			if b == 'M' && i == 2 {
				return x10(p)
			}
			if b == '~' && string(p[2:i]) == "200" {
				d.paste, d.brackets = &paste{}, true
				return i + 1, nil
			}
			return i + 1, d.sequence(p[2:i], b)
		default:
			return i, nil
		}
	}
	return 0, nil
}

// rxvtShift reports whether CSI and these parameters before a $ are a key of rxvt with
// Shift: there is no final byte then.
func rxvtShift(params []byte) bool {
	return len(params) > 0 && len(params) <= 2 && strings.Trim(string(params), "0123456789") == ""
}

// param is a parameter and what follows it after colons.
type param []int

// at is part i of the parameter, or a default where it is left out.
func (p param) at(i, instead int) int {
	if i < len(p) && p[i] >= 0 {
		return p[i]
	}
	return instead
}

// list are the parameters of a sequence.
type list []param

// at is the first part of parameter i, or a default.
func (l list) at(i, instead int) int { return l.part(i, 0, instead) }

func (l list) part(i, sub, instead int) int {
	if i < len(l) {
		return l[i].at(sub, instead)
	}
	return instead
}

// parameters reads digits, ; and :. What is left out is -1, what is too large is
// bounded.
func parameters(p []byte) list {
	const most = 1 << 24
	l := list{{-1}}
	for _, b := range p {
		last := &l[len(l)-1]
		n := &(*last)[len(*last)-1]
		switch {
		case b >= '0' && b <= '9':
			*n = min(max(*n, 0)*10+int(b-'0'), most)
		case b == ':':
			*last = append(*last, -1)
		case b == ';':
			l = append(l, param{-1})
		}
	}
	return l
}

// numbers are the parameters without their parts.
func (l list) numbers() []int {
	var out []int
	for i := range l {
		out = append(out, l.at(i, 0))
	}
	return out
}

// mods are the modifiers of a parameter: 1 and their bits. Caps and number lock are
// left out.
func mods(n int) Mods { return Mods(max(n, 1)-1) & (Shift | Alt | Ctrl | Super | Hyper | Meta) }

// released tells that a key was let go (kitty keyboard protocol, event type 3).
func released(l list, i int) bool { return l.part(i, 1, 1) == 3 }

// sequence is what a complete control sequence says to us, or nil.
func (d *Decoder) sequence(params []byte, final byte) Event {
	var sign byte
	if len(params) > 0 && params[0] >= '<' && params[0] <= '?' {
		sign, params = params[0], params[1:]
	}
	dollar := len(params) > 0 && params[len(params)-1] == '$'
	l := parameters(params)
	switch {
	case sign == '<' && (final == 'M' || final == 'm'):
		return mouse(l, final == 'm')
	case sign == '?' && (final == 'c' || final == 'u' || final == 'n') || sign == '?' && dollar && final == 'y' || sign == '>' && final == 'c':
		return answer{kind: final, sign: sign, n: l.numbers()}
	case sign != 0 || dollar:
		return nil
	}
	if code := letter(final); code != 0 {
		return d.lettered(code, l)
	}
	switch final {
	case 'Z':
		return Key{Code: Tab, Mods: Shift | mods(l.at(1, 1))}
	case 'a', 'b', 'c', 'd': // rxvt
		return Key{Code: Up + Code(final-'a'), Mods: Shift}
	case 'I', 'O':
		return Focus{In: final == 'I'}
	case 't':
		return window(l)
	case 'u':
		return unicodeKey(l, l.at(0, 0), 1)
	case '~':
		if l.at(0, 0) == 27 { // modifyOtherKeys
			return unicodeKey(list{l[0], param{l.at(1, 1)}}, l.at(2, 0), 1)
		}
		if released(l, 1) {
			return nil
		}
		return numbered(l, mods(l.at(1, 1)))
	case '^', '@': // rxvt
		m := Ctrl
		if final == '@' {
			m |= Shift
		}
		return numbered(l, m)
	}
	return nil
}

// lettered is a key that a letter names, or the report of the cursor that one of them
// is, too.
func (d *Decoder) lettered(code Code, l list) Event {
	if code == F3 && len(l) == 2 {
		if d.Reports > 0 {
			d.Reports--
			return answer{kind: 'R', n: l.numbers()}
		}
		if l.at(0, 1) != 1 {
			return nil // a report that nobody asked for
		}
	}
	if released(l, 1) {
		return nil
	}
	return Key{Code: code, Mods: mods(l.at(1, 1))}
}

// letter is the key that the final byte of a CSI or SS3 names, or 0.
func letter(b byte) Code {
	switch b {
	case 'A', 'B', 'C', 'D':
		return Up + Code(b-'A')
	case 'E':
		return Begin
	case 'F':
		return End
	case 'H':
		return Home
	case 'P', 'Q', 'R', 'S':
		return F1 + Code(b-'P')
	}
	return 0
}

// numbered is the key that CSI n ~ names.
func numbered(l list, m Mods) Event {
	codes := [...]Code{
		1: Home, 2: Insert, 3: Delete, 4: End, 5: PageUp, 6: PageDown, 7: Home, 8: End,
		11: F1, 12: F2, 13: F3, 14: F4, 15: F5, 17: F6, 18: F7, 19: F8, 20: F9, 21: F10, 23: F11, 24: F12, 29: Menu,
	}
	n := l.at(0, 0)
	if n < 0 || n >= len(codes) || codes[n] == 0 {
		return nil
	}
	return Key{Code: codes[n], Mods: m}
}

// unicodeKey is CSI code:shifted:base ; mods:event ; text u, of the kitty keyboard
// protocol and of modifyOtherKeys. modsAt is where the modifiers stand.
func unicodeKey(l list, code, modsAt int) Event {
	if released(l, modsAt) {
		return nil
	}
	k := Key{Mods: mods(l.at(modsAt, 1))}
	switch code {
	case 9:
		k.Code = Tab
	case 13:
		k.Code = Enter
	case 27:
		k.Code = Escape
	case 8, 127:
		k.Code = Backspace
	default:
		if code >= 57344 && code <= 63743 {
			return functional(code, k.Mods)
		}
		r := rune(code)
		if r < ' ' || r > unicode.MaxRune || !unicode.IsGraphic(r) || text.Acts(r) {
			return nil
		}
		return typed(l, r, k.Mods)
	}
	return k
}

// typed is a key that stands for a character.
func typed(l list, r rune, m Mods) Key {
	k := char(r)
	k.Mods |= m
	if base := l.part(0, 2, 0); base > ' ' && base != int(k.Code) && base < unicode.MaxRune {
		k.Base = rune(base)
	}
	if k.Mods&^Shift != 0 {
		k.Text = ""
		return k
	}
	if k.Mods&Shift != 0 {
		k.Text = string(unicode.ToUpper(rune(k.Code)))
		if shifted := l.part(0, 1, 0); shifted > ' ' {
			k.Text = string(rune(shifted))
		}
	}
	if len(l) > 2 {
		var s strings.Builder
		for i := range l[2] {
			if r := rune(l.part(2, i, 0)); r >= ' ' && !text.Acts(r) {
				s.WriteRune(r)
			}
		}
		if s.Len() > 0 {
			k.Text = s.String()
		}
	}
	k.Text = text.Plain(text.Valid(k.Text))
	return k
}

// functional is a key of the private range of the kitty keyboard protocol: those of
// the keypad are what they type or do. The others say nothing to us.
func functional(code int, m Mods) Event {
	const pad0, padEnter, padLeft = 57399, 57414, 57417
	switch {
	case code >= pad0 && code < padEnter || code > padEnter && code < padLeft:
		k := char(rune("0123456789./*-+\r=,"[code-pad0]))
		if k.Mods = m; m&^Shift != 0 {
			k.Text = ""
		}
		return k
	case code == padEnter:
		return Key{Code: Enter, Mods: m}
	case code >= padLeft && code <= padLeft+10:
		keys := [...]Code{Left, Right, Up, Down, PageUp, PageDown, Home, End, Insert, Delete, Begin}
		return Key{Code: keys[code-padLeft], Mods: m}
	case code == 57363:
		return Key{Code: Menu, Mods: m}
	}
	return nil
}

// ss3 is ESC O and a byte: keys of terminals in application mode, and of the keypad.
// Old terminals put the modifiers between.
func (d *Decoder) ss3(p []byte) (n int, event Event) {
	if len(p) == 2 {
		return 0, nil
	}
	i, m := 2, Mods(0)
	if p[2] >= '1' && p[2] <= '9' {
		if len(p) == 3 {
			return 0, nil
		}
		i, m = 3, mods(int(p[2]-'0'))
	}
	b := p[i]
	switch {
	case letter(b) != 0:
		return i + 1, Key{Code: letter(b), Mods: m}
	case b >= 'a' && b <= 'd':
		return i + 1, Key{Code: Up + Code(b-'a'), Mods: Ctrl}
	case b == 'M':
		return i + 1, Key{Code: Enter, Mods: m}
	case b >= 'j' && b <= 'y': // * to 9 of the keypad
		return i + 1, char(rune(b - 'j' + '*'))
	case b == 'X':
		return i + 1, char('=')
	case b == esc || b < ' ':
		return i, withAlt(char('O'))
	}
	return i + 1, nil
}

// window is a report of the window's size: in-band resize (mode 2048), or an answer.
func window(l list) Event {
	const most = 1 << 14 // no screen has more; a wrong one must not cost memory
	if l.at(0, 0) == 48 && len(l) >= 3 {
		rows, columns := l.at(1, 0), l.at(2, 0)
		if rows < 1 || columns < 1 || rows > most || columns > most {
			return nil
		}
		return Resize{Columns: columns, Rows: rows}
	}
	return answer{kind: 't', n: l.numbers()}
}
