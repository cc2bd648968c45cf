package screen

import "strings"

// plainGlyph is a cluster for a terminal that shows ASCII alone: our own glyphs by what
// means the same, letters without their marks, anything else ?; as wide as it was.
func plainGlyph(cluster string, width int) string {
	for _, g := range glyphs {
		if i := strings.Index(g.from, cluster); i >= 0 {
			return padTo(g.to, width)
		}
	}
	if b := base(cluster); b != 0 {
		return padTo(string(b), width)
	}
	return strings.Repeat("?", width)
}

func padTo(s string, width int) string {
	return s + strings.Repeat(" ", max(width-len(s), 0))
}

// base is the letter of a cluster that is a letter and marks, or 0.
func base(cluster string) byte {
	if cluster[0] >= ' ' && cluster[0] < 0x7F {
		return cluster[0]
	}
	letters := [...]struct {
		to   byte
		from string
	}{
		{'A', "ÀÁÂÃÄÅĀĂĄ"}, {'a', "àáâãäåāăą"}, {'C', "ÇĆĈĊČ"}, {'c', "çćĉċč"}, {'D', "ĎĐ"}, {'d', "ďđ"}, {'E', "ÈÉÊËĒĔĖĘĚ"}, {'e', "èéêëēĕėęě"},
		{'G', "ĜĞĠĢ"}, {'g', "ĝğġģ"}, {'I', "ÌÍÎÏĨĪĬĮİ"}, {'i', "ìíîïĩīĭįı"}, {'L', "ĹĻĽŁ"}, {'l', "ĺļľł"}, {'N', "ÑŃŅŇ"}, {'n', "ñńņň"},
		{'O', "ÒÓÔÕÖØŌŎŐ"}, {'o', "òóôõöøōŏő"}, {'R', "ŔŖŘ"}, {'r', "ŕŗř"}, {'S', "ŚŜŞŠ"}, {'s', "śŝşšß"}, {'T', "ŢŤŦ"}, {'t', "ţťŧ"},
		{'U', "ÙÚÛÜŨŪŬŮŰŲ"}, {'u', "ùúûüũūŭůűų"}, {'Y', "ÝŸŶ"}, {'y', "ýÿŷ"}, {'Z', "ŹŻŽ"}, {'z', "źżž"},
	}
	for _, l := range letters {
		if strings.Contains(l.from, cluster) {
			return l.to
		}
	}
	return 0
}

// glyphs are what our screens are drawn with, and a few that prose uses.
var glyphs = [...]struct{ to, from string }{
	{"-", "─━┄┅‐‑‒–—―−╴╶"}, {"|", "│┃┆▏▎▍▌┊"}, {"+", "┌┐└┘├┤┬┴┼╭╮╯╰╔╗╚╝"}, {"=", "═"}, {">", "›▸▶→»⟩❯"}, {"<", "‹◀←«⟨"}, {"v", "▾▼↓✓✔"},
	{"^", "▴▲↑"}, {"x", "✗✘×☒"}, {"*", "•◆●★⚡◦▪"}, {"o", "○◇☐"}, {"#", "▓█■"}, {".", "░·…⋯"}, {"%", "▒"}, {"'", "‘’‚′"}, {"\"", "“”„″"},
	{"|", "⠋⠸⠇"}, {"/", "⠙⠼⠏"}, {"-", "⠹⠴"}, {"\\", "⠦⠧"}, {"$", "⏎"}, {"Y", "⎇"}, {"!", "⚠"}, {" ", "\u00a0\u2007\u202f\u2002\u2003\u2009"},
	{"X", "☑"}, {"@", "©®"}, {"~", "≈≋"},
}
