package markdown

import (
	"strconv"
	"strings"

	"alisio/agent/text"
)

// entities are the names that models and web pages use. Others stay as they are.
var entities = [...][2]string{
	{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", `"`}, {"apos", "'"}, {"nbsp", "\u00A0"}, {"copy", "©"}, {"reg", "®"},
	{"trade", "™"}, {"hellip", "…"}, {"mdash", "—"}, {"ndash", "–"}, {"lsquo", "‘"}, {"rsquo", "’"}, {"ldquo", "“"},
	{"rdquo", "”"}, {"laquo", "«"}, {"raquo", "»"}, {"bull", "•"}, {"middot", "·"}, {"times", "×"}, {"divide", "÷"},
	{"plusmn", "±"}, {"le", "≤"}, {"ge", "≥"}, {"ne", "≠"}, {"asymp", "≈"}, {"infin", "∞"}, {"deg", "°"}, {"micro", "µ"},
	{"para", "¶"}, {"sect", "§"}, {"euro", "€"}, {"pound", "£"}, {"yen", "¥"}, {"cent", "¢"}, {"larr", "←"}, {"rarr", "→"},
	{"uarr", "↑"}, {"darr", "↓"}, {"harr", "↔"}, {"rArr", "⇒"}, {"check", "✓"}, {"cross", "✗"}, {"frac12", "½"}, {"sup2", "²"},
	{"ouml", "ö"}, {"auml", "ä"}, {"uuml", "ü"}, {"Ouml", "Ö"}, {"Auml", "Ä"}, {"Uuml", "Ü"}, {"szlig", "ß"}, {"eacute", "é"},
	{"egrave", "è"}, {"agrave", "à"}, {"ccedil", "ç"}, {"ntilde", "ñ"}, {"alpha", "α"}, {"beta", "β"}, {"pi", "π"}, {"ast", "*"},
	{"lowbar", "_"}, {"num", "#"}, {"vert", "|"}, {"lbrack", "["}, {"rbrack", "]"}, {"lbrace", "{"}, {"rbrace", "}"}, {"grave", "`"},
	{"ensp", " "}, {"emsp", " "}, {"thinsp", " "}, {"shy", ""}, {"zwj", "\u200D"}, {"zwnj", "\u200C"},
}

// entity decodes "&name;" and "&#number;". What it stands for is foreign text as any.
func (p *inline) entity(i int) int {
	const far = 32
	t := p.s[i+1 : min(p.end, i+far)]
	n := 0
	for n < len(t) && (isAlnum(t[n]) || n == 0 && t[n] == '#') {
		n++
	}
	if n == len(t) {
		p.undecided(i, far)
	}
	if n == len(t) || n == 0 || t[n] != ';' {
		return p.literal(i, i+1, "&")
	}
	s, ok := decode(t[:n])
	if !ok {
		return p.literal(i, i+1, "&")
	}
	return p.literal(i, i+n+2, s)
}

// decode is what a name stands for, made safe.
func decode(name string) (string, bool) {
	if name[0] != '#' {
		for _, e := range entities {
			if e[0] == name {
				return e[1], true
			}
		}
		return "", false
	}
	digits, base := name[1:], 10
	if digits != "" && digits[0]|0x20 == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return "", false
	}
	if n == 0 || n > 0x10FFFF || n >= 0xD800 && n < 0xE000 {
		n = 0xFFFD
	}
	r := rune(n)
	if r == '\t' || r == '\n' || r == '\r' {
		return " ", true
	}
	if text.Acts(r) {
		return "", true
	}
	return strings.ToValidUTF8(string(r), "\uFFFD"), true
}
