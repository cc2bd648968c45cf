package screen

import (
	"math"
	"testing"

	"alisio/agent/text"
	"alisio/tui/term"
)

// luminance is the relative luminance of WCAG 2.
func luminance(rgb uint32) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb>>(16-8*i)&255) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b uint32) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// bits is a colour of the 256 in 24 bits.
func bits(c color, instead uint32) uint32 {
	switch {
	case c.kind == direct:
		return c.rgb
	case c.kind == indexed && c.rgb >= 232:
		v := 8 + 10*(c.rgb-232)
		return v<<16 | v<<8 | v
	case c.kind == indexed:
		levels := [...]uint32{0, 95, 135, 175, 215, 255}
		n := c.rgb - 16
		return levels[n/36]<<16 | levels[n/6%6]<<8 | levels[n%6]
	}
	return instead
}

// C104. Symptom: the only palette assumes a dark terminal; on light ones the text cannot
// be read.
// Trigger: run with a light background, and with NO_COLOR=1. Each role can be read on the
// ground of the terminal and on each ground of ours.
func TestC104Contrast(t *testing.T) {
	for _, c := range []struct {
		theme      Theme
		ground, fg uint32
	}{
		{dark(), 0x1E1E1E, 0xD4D4D4}, {dark(), 0x000000, 0xCCCCCC}, {light(), 0xFFFFFF, 0x1F2328}, {light(), 0xFAF8F5, 0x333333},
	} {
		for _, colors := range []term.Colors{term.Palette, term.TrueColor} {
			p := c.theme.at(colors)
			for role := range text.Role(text.Roles) {
				fg := bits(p.fg[role], c.fg)
				if got := contrast(fg, c.ground); got < 4.5 {
					t.Errorf("%s, %d: role %d has the contrast %.1f on %06x", c.theme.Name, colors, role, got, c.ground)
				}
				for on := text.Added; on <= text.Quiet; on++ {
					if got := contrast(fg, bits(p.bg[on], c.ground)); got < 3 {
						t.Errorf("%s, %d: role %d has the contrast %.1f on the ground %d", c.theme.Name, colors, role, got, on)
					}
				}
			}
		}
	}
}

// Without colours, and with the person's own sixteen, what is chosen, found and changed
// is told otherwise.
func TestC104WithoutColours(t *testing.T) {
	for _, name := range Themes() {
		theme, ok := Pick(name, term.Features{})
		if !ok {
			t.Fatalf("no theme %s", name)
		}
		for _, colors := range []term.Colors{term.NoColors, term.Sixteen} {
			p := theme.at(colors)
			for _, on := range []text.Role{text.Chosen, text.Found, text.AddedWord, text.RemovedWord} {
				if got := p.look(text.Style{On: on}); got.attr == 0 || got.fg.kind > ansi || got.bg.kind > ansi {
					t.Errorf("%s with %d colours: the ground %d is drawn as %+v", name, colors, on, got)
				}
			}
			if colors == term.NoColors && p.fg != (palette{}).fg {
				t.Errorf("%s has colours without any", name)
			}
		}
	}
	if theme, _ := Pick("auto", term.Features{Light: true}); theme.Name != "light" {
		t.Errorf("on a light background: %s", theme.Name)
	}
	if _, ok := Pick("mauve", term.Features{}); ok {
		t.Error("there is a theme mauve")
	}
}

// Where a terminal shows ASCII alone each glyph of ours has its like, as wide.
func TestPlainGlyphs(t *testing.T) {
	for in, want := range map[string]string{
		"›": ">", "✓": "v", "✗": "x", "─": "-", "┌": "+", "▓": "#", "é": "e", "e\u0301": "e", "日": "??", "👍": "??", "…": ".", "⠋": "|", "ω": "?",
	} {
		if got := plainGlyph(in, text.ClusterWidth(in)); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
