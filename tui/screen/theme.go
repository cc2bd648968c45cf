package screen

import (
	"alisio/agent/text"
	"alisio/tui/term"
)

// Theme is the colours of text by what it is. Every state is told by a glyph or a word,
// too: the plain theme has no colours at all.
type Theme struct {
	Name string
	inks *[text.Roles]ink
}

// ink is the colour of a role: as 24 bits, from which that of the 256 is derived, and as
// one of the person's own sixteen; and its attributes, of which Faint is for terminals with
// fewer colours. As a ground it has the colour of ground.
type ink struct {
	rgb    uint32 // 0: the terminal's own
	ansi   int8   // of the sixteen and one more; 0: the terminal's own
	attr   text.Attr
	ground uint32
	// What makes a ground where there are sixteen colours, and where there is none.
	few, none text.Attr
}

// Themes are the names that Pick knows, "auto" first.
func Themes() []string { return []string{"auto", "dark", "light", "plain"} }

// Pick is the theme of a name: auto and "" choose by the background of the terminal.
// false: there is none of that name.
func Pick(name string, f term.Features) (Theme, bool) {
	switch name {
	case "", "auto":
		if f.Light {
			return light(), true
		}
		return dark(), true
	case "dark":
		return dark(), true
	case "light":
		return light(), true
	case "plain":
		return Theme{Name: "plain", inks: &plainInks}, true
	}
	return Theme{}, false
}

func dark() Theme  { return Theme{Name: "dark", inks: &darkInks} }
func light() Theme { return Theme{Name: "light", inks: &lightInks} }

// The numbers of ink.ansi.
const (
	black int8 = iota + 1
	red
	green
	yellow
	blue
	magenta
	cyan
)

var darkInks = [text.Roles]ink{
	text.Dim:         {rgb: 0x8B939E, attr: text.Faint},
	text.Accent:      {rgb: 0x6CB6FF, ansi: cyan},
	text.Good:        {rgb: 0x6BC46D, ansi: green},
	text.Warn:        {rgb: 0xE0B455, ansi: yellow},
	text.Bad:         {rgb: 0xFF8078, ansi: red, attr: text.Bold},
	text.Heading:     {rgb: 0x8CC8FF, ansi: cyan, attr: text.Bold},
	text.Quote:       {rgb: 0xA5AEBA, attr: text.Italic},
	text.Code:        {rgb: 0xE3B78F, ansi: yellow},
	text.Link:        {rgb: 0x6CB6FF, ansi: cyan, attr: text.Underline},
	text.Keyword:     {rgb: 0xD59BF6, ansi: magenta},
	text.String:      {rgb: 0x9ECE8A, ansi: green},
	text.Number:      {rgb: 0xE5A87C, ansi: yellow},
	text.Comment:     {rgb: 0x96A0AC, attr: text.Faint},
	text.Name:        {rgb: 0x85BEFF, ansi: cyan},
	text.Mark:        {rgb: 0xB4BDC9},
	text.Added:       {rgb: 0x7BD58A, ansi: green, ground: 0x12261A},
	text.Removed:     {rgb: 0xFF9A94, ansi: red, ground: 0x2E171A},
	text.AddedWord:   {rgb: 0x7BD58A, ansi: green, ground: 0x1B4028, few: text.Underline, none: text.Underline},
	text.RemovedWord: {rgb: 0xFF9A94, ansi: red, ground: 0x4B2226, few: text.Underline, none: text.Underline},
	text.Chosen:      {ground: 0x24344A, few: text.Reverse, none: text.Reverse},
	text.Found:       {ground: 0x4A2560, few: text.Bold | text.Underline, none: text.Bold | text.Underline},
	text.Quiet:       {ground: 0x1D2127},
}

var lightInks = [text.Roles]ink{
	text.Dim:         {rgb: 0x656C76, attr: text.Faint},
	text.Accent:      {rgb: 0x0550AE, ansi: blue},
	text.Good:        {rgb: 0x116329, ansi: green},
	text.Warn:        {rgb: 0x7A4E00, ansi: magenta},
	text.Bad:         {rgb: 0xA40E26, ansi: red, attr: text.Bold},
	text.Heading:     {rgb: 0x0A3069, ansi: blue, attr: text.Bold},
	text.Quote:       {rgb: 0x4A525C, attr: text.Italic},
	text.Code:        {rgb: 0x7A3E00, ansi: magenta},
	text.Link:        {rgb: 0x0550AE, ansi: blue, attr: text.Underline},
	text.Keyword:     {rgb: 0x6639BA, ansi: magenta},
	text.String:      {rgb: 0x0A5A2A, ansi: green},
	text.Number:      {rgb: 0x8A3500, ansi: red},
	text.Comment:     {rgb: 0x59616B, attr: text.Faint},
	text.Name:        {rgb: 0x0A4F9E, ansi: blue},
	text.Mark:        {rgb: 0x444C56},
	text.Added:       {rgb: 0x0B5A25, ansi: green, ground: 0xE2F6E6},
	text.Removed:     {rgb: 0x99091F, ansi: red, ground: 0xFDE7E6},
	text.AddedWord:   {rgb: 0x0B5A25, ansi: green, ground: 0xB9E8C3, few: text.Underline, none: text.Underline},
	text.RemovedWord: {rgb: 0x99091F, ansi: red, ground: 0xF8C6C4, few: text.Underline, none: text.Underline},
	text.Chosen:      {ground: 0xDCE9F9, few: text.Reverse, none: text.Reverse},
	text.Found:       {ground: 0xFBE7A1, few: text.Bold | text.Underline, none: text.Bold | text.Underline},
	text.Quiet:       {ground: 0xF0F2F5},
}

var plainInks = [text.Roles]ink{
	text.Dim:         {attr: text.Faint},
	text.Bad:         {attr: text.Bold},
	text.Heading:     {attr: text.Bold},
	text.Link:        {attr: text.Underline},
	text.AddedWord:   {few: text.Underline, none: text.Underline},
	text.RemovedWord: {few: text.Underline, none: text.Underline},
	text.Chosen:      {few: text.Reverse, none: text.Reverse},
	text.Found:       {few: text.Bold | text.Underline, none: text.Bold | text.Underline},
}

// palette is a theme at a number of colours.
type palette struct {
	fg, bg [text.Roles]color
	attr   [text.Roles]text.Attr
	ground [text.Roles]text.Attr
}

// at is the theme for a terminal with so many colours.
func (t Theme) at(c term.Colors) palette {
	var p palette
	if t.inks == nil {
		t.inks = &plainInks
	}
	for role, k := range t.inks {
		switch c {
		case term.TrueColor:
			p.fg[role], p.bg[role] = rgb(k.rgb, direct), rgb(k.ground, direct)
		case term.Palette:
			p.fg[role], p.bg[role] = rgb(k.rgb, indexed), rgb(k.ground, indexed)
		case term.Sixteen:
			if k.ansi > 0 {
				p.fg[role] = color{ansi, uint32(k.ansi - 1)}
			}
		}
		p.attr[role] = k.attr
		if k.rgb != 0 && c >= term.Palette {
			p.attr[role] &^= text.Faint // the colour says it
		}
		switch {
		case c == term.NoColors:
			p.ground[role] = k.none
		case c == term.Sixteen || k.ground == 0:
			p.ground[role] = k.few
		}
	}
	return p
}

func rgb(v uint32, kind colorKind) color {
	switch {
	case v == 0:
		return color{}
	case kind == indexed:
		return color{indexed, nearest(v)}
	}
	return color{direct, v}
}

// look is how a style is drawn.
func (p *palette) look(s text.Style) look {
	if s.Role >= text.Roles || s.On >= text.Roles {
		return look{}
	}
	return look{fg: p.fg[s.Role], bg: p.bg[s.On], attr: p.attr[s.Role] | p.ground[s.On] | s.Attr}
}
