package tuitest

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// title is the window's title, with the stack of CSI 22 t.
type title struct {
	text  string
	stack []string
}

const maxStack = 32 // of titles, and of keyboard flags

// colors are those that OSC 4, 10, 11 and 12 changed; "" as a fresh terminal has it.
type colors struct {
	fg, bg, cursor string
	palette        map[int]string
}

// str carries out a string: OSC, DCS, APC.
func (t *Terminal) str(kind byte, s *sequence, text []byte, long bool) {
	known := false
	switch {
	case long:
	case kind == ']':
		known = t.osc(string(text))
	case kind == 'P':
		known = t.dcs(s, string(text))
	case kind == '_' && len(text) > 0 && text[0] == 'G':
		known = !t.opts.KittyImages || t.kittyImage(string(text[1:]))
	}
	if !known {
		t.unknown("%s %.80q", map[byte]string{']': "OSC", 'P': s.text("DCS"), '_': "APC", '^': "PM", 'X': "SOS"}[kind], text)
	}
}

func (t *Terminal) osc(s string) bool {
	command, arg, _ := strings.Cut(s, ";")
	switch command {
	case "0", "2":
		t.title.text = arg
	case "1":
	case "4":
		return t.paletteColor(arg)
	case "104":
		return t.resetPalette(arg)
	case "7":
		t.journal.directory = arg
	case "8":
		return t.link(arg)
	case "9":
		if rest, ok := strings.CutPrefix(arg, "4;"); ok {
			t.journal.progress = strings.TrimPrefix(rest, "0;")
			if strings.HasPrefix(rest, "0") {
				t.journal.progress = ""
			}
			return true
		}
		t.notice(Notice{Kind: "osc9", Body: arg})
	case "777":
		f := strings.SplitN(arg, ";", 3)
		if len(f) < 2 || f[0] != "notify" {
			return false
		}
		t.notice(Notice{"osc777", f[1], strings.Join(f[2:], "")})
	case "99":
		_, body, ok := strings.Cut(arg, ";")
		t.notice(Notice{Kind: "osc99", Body: body})
		return ok
	case "10", "11", "12", "110", "111", "112":
		return t.color(command, arg)
	case "22": // the shape of the pointer
	case "52":
		return t.selection(arg)
	case "133":
		if len(t.journal.marks) < maxJournal {
			t.journal.marks = append(t.journal.marks, arg)
		}
	case "1337":
		return !t.opts.ITermImages || t.itermImage(arg)
	default:
		return false
	}
	return true
}

// link is OSC 8.
func (t *Terminal) link(arg string) bool {
	params, uri, ok := strings.Cut(arg, ";")
	if !ok {
		return false
	}
	t.pen.Link, t.pen.LinkID = uri, ""
	for p := range strings.SplitSeq(params, ":") {
		if id, ok := strings.CutPrefix(p, "id="); ok && uri != "" {
			t.pen.LinkID = id
		}
	}
	return true
}

// selection is OSC 52.
func (t *Terminal) selection(arg string) bool {
	which, data, ok := strings.Cut(arg, ";")
	if which == "" {
		which = "c"
	}
	if !ok {
		return false
	}
	if t.journal.clipboard == nil {
		t.journal.clipboard = make(map[string]string)
	}
	if data == "?" {
		if t.opts.Clipboard {
			t.answer("\x1b]52;%s;%s\x1b\\", which, base64.StdEncoding.EncodeToString([]byte(t.journal.clipboard[which])))
		}
		return true
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return false
	}
	for _, c := range which {
		if strings.ContainsRune("cpqs01234567", c) {
			t.journal.clipboard[string(c)] = string(b)
		}
	}
	return true
}

// color sets, asks for and resets the colours of the text, the ground and the cursor.
func (t *Terminal) color(command, arg string) bool {
	at := map[byte]*string{'0': &t.colors.fg, '1': &t.colors.bg, '2': &t.colors.cursor}[command[len(command)-1]]
	switch {
	case len(command) == 3:
		*at = ""
	case arg != "?":
		*at = arg
	case t.opts.Colors:
		value := *at
		if value == "" {
			value = t.defaultColor(command)
		}
		t.answer("\x1b]%s;%s\x1b\\", command, value)
	}
	return true
}

// defaultColor is the colour of a fresh terminal in the form of its answers.
func (t *Terminal) defaultColor(command string) string {
	if (command == "11") == t.light {
		return "rgb:fafa/fafa/fafa"
	}
	return "rgb:1c1c/1e1e/2626"
}

func (t *Terminal) paletteColor(arg string) bool {
	f := strings.Split(arg, ";")
	if len(f)%2 != 0 {
		return false
	}
	for i := 0; i < len(f); i += 2 {
		n, err := strconv.Atoi(f[i])
		if err != nil || n < 0 || n > 255 {
			return false
		}
		if f[i+1] != "?" {
			if t.colors.palette == nil {
				t.colors.palette = make(map[int]string)
			}
			t.colors.palette[n] = f[i+1]
			continue
		}
		value := t.colors.palette[n]
		if value == "" {
			r, g, b := paletteRGB(n)
			value = fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
		}
		if t.opts.Colors {
			t.answer("\x1b]4;%d;%s\x1b\\", n, value)
		}
	}
	return true
}

func (t *Terminal) resetPalette(arg string) bool {
	if arg == "" {
		t.colors.palette = nil
		return true
	}
	for f := range strings.SplitSeq(arg, ";") {
		n, err := strconv.Atoi(f)
		if err != nil {
			return false
		}
		delete(t.colors.palette, n)
	}
	return true
}

// base16 are the first colours of the palette, those of xterm.
var base16 = [16][3]uint8{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

// paletteRGB is colour n of the palette: 16 named ones, a cube of 6×6×6 and 24 greys.
func paletteRGB(n int) (r, g, b uint8) {
	switch {
	case n < 16:
		return base16[n][0], base16[n][1], base16[n][2]
	case n < 232:
		level := func(v int) uint8 {
			if v == 0 {
				return 0
			}
			return uint8(55 + 40*v)
		}
		n -= 16
		return level(n / 36), level(n / 6 % 6), level(n % 6)
	}
	grey := uint8(8 + 10*(n-232))
	return grey, grey, grey
}

// dcs carries out the questions that are asked by DCS, and what tmux passes through.
func (t *Terminal) dcs(s *sequence, data string) bool {
	if s.bad {
		return false
	}
	switch s.key() {
	case "+q":
		for name := range strings.SplitSeq(data, ";") {
			t.termcap(name)
		}
	case "$q":
		t.setting(data)
	default:
		return false
	}
	return true
}

// termcap is XTGETTCAP.
func (t *Terminal) termcap(name string) {
	var raw []byte
	if _, err := fmt.Sscanf(name, "%x", &raw); err == nil {
		if value, ok := t.opts.Terminfo[string(raw)]; ok {
			t.answer("\x1bP1+r%s=%X\x1b\\", name, value)
			return
		}
	}
	t.answer("\x1bP0+r%s\x1b\\", name)
}

// setting is DECRQSS.
func (t *Terminal) setting(name string) {
	switch name {
	case " q":
		t.answer("\x1bP1$r%d q\x1b\\", t.shape)
	case "r":
		t.answer("\x1bP1$r%d;%dr\x1b\\", t.on.top+1, t.on.bottom+1)
	case "m":
		t.answer("\x1bP1$r0m\x1b\\")
	default:
		t.answer("\x1bP0$r\x1b\\")
	}
}
