package host

import (
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// Styles of the default screen: one accent, and dim for what is secondary.
const (
	accent = "\x1b[36m"
	dim    = "\x1b[2m"
)

// ali draws Ali, a cloud spirit of the trade winds; in one line where there is
// little room.
func ali(t plug.Terminal) string {
	const short, narrow = ".( ^ ^ ).~~", 40
	cloud := []string{
		`    .-~~-.`,
		`  .( ^  ^ ).  ~`,
		` (   ~~~~   ) ~~`,
		"  `-..__..-' ~",
		`    ' ' ' '`,
	}
	if t.Columns < narrow {
		cloud = []string{short}
	}
	for i, line := range cloud {
		cloud[i] = styled(t, accent, line)
	}
	return strings.Join(cloud, "\n")
}

func styled(t plug.Terminal, style, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return style + s + reset
}

func defaultTips() []string {
	return []string{"@file attaches a file", "/help lists the commands"}
}

const greeting = "Fair winds. What shall we work on?"

// defaultScreen draws the mascot with what there is to know beside it, or below
// it where the terminal is narrow.
func defaultScreen(c plug.ScreenContext) string {
	const gap, leastColumns, leastText = 3, 60, 30
	var mascot []string
	width := 0
	if c.Mascot != "" {
		mascot = strings.Split(c.Mascot, "\n")
	}
	for _, line := range mascot {
		width = max(width, cells(line))
	}
	room := c.Terminal.Columns - width - gap
	if len(mascot) == 0 || c.Terminal.Columns < leastColumns || room < leastText {
		body := facts(c, c.Terminal.Columns)
		if len(mascot) > 0 {
			body = append(append(mascot, ""), body...)
		}
		return strings.Join(body, "\n")
	}
	body := facts(c, room)
	var b strings.Builder
	for i := range max(len(body), len(mascot)) {
		used := 0
		if i < len(mascot) {
			b.WriteString(mascot[i])
			used = cells(mascot[i])
		}
		if i < len(body) && body[i] != "" {
			b.WriteString(strings.Repeat(" ", width+gap-used) + body[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// facts draws the text of the default screen within so many columns.
func facts(c plug.ScreenContext, columns int) []string {
	lines := append(fit(c.Terminal, greeting, columns), "")
	rows := []plug.Fact{
		{Label: "alisio", Text: c.Version}, {Label: "model", Text: c.Model}, {Label: "server", Text: c.Server},
		{Label: "directory", Text: c.Directory}, {Label: "access", Text: c.Access},
	}
	rows = append(rows, c.Facts...)
	rows = append(rows, plug.Fact{Label: "plugins", Text: strings.Join(c.Plugins, ", ")})
	for _, r := range rows {
		lines = append(lines, labelled(c.Terminal, r, columns)...)
	}
	const tips = 2
	lines = append(lines, "")
	for _, tip := range c.Tips[:min(len(c.Tips), tips)] {
		lines = append(lines, labelled(c.Terminal, plug.Fact{Label: "tip", Text: tip}, columns)...)
	}
	return lines
}

// labelled draws one row: the label, and what it says in at most two lines. A row
// that says nothing is left out.
func labelled(t plug.Terminal, f plug.Fact, columns int) []string {
	const label = maxFactLabel + 1
	said := words(t, f.Text)
	if said == "" {
		return nil
	}
	lines := fit(t, said, max(columns-label, 1))
	for i, line := range lines {
		name := ""
		if i == 0 {
			name = words(t, f.Label)
		}
		pad := strings.Repeat(" ", max(label-text.Width(name), 1))
		lines[i] = styled(t, dim, name) + pad + line
	}
	return lines
}

// fit wraps a text into at most two lines.
func fit(t plug.Terminal, s string, columns int) []string {
	const dots = 2 // by which "..." is wider than "…"
	lines := text.Wrap(s, columns)
	if len(lines) <= 2 {
		return lines
	}
	rest := strings.Join(lines[1:], " ")
	if !t.Unicode {
		columns -= dots
	}
	return []string{lines[0], words(t, text.Clip(rest, columns))}
}

// words writes the signs of this program's own texts in ASCII where the terminal
// has no more.
func words(t plug.Terminal, s string) string {
	if t.Unicode {
		return s
	}
	return strings.NewReplacer("·", "-", "–", "-", "—", "-", "…", "...", "“", `"`, "”", `"`, "‘", "'", "’", "'", "→", "->", "›", ">").Replace(s)
}
