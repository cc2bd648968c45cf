package term

import (
	"strconv"
	"strings"
)

// asked is what the terminal was asked.
type asked struct {
	questions string
	// keys tells that the kitty keyboard protocol was answered for; fenced that the last
	// question was.
	keys, fenced bool
}

// questions are the queries of terminal.md, section 5, with DA1 as a fence behind them:
// nearly every terminal answers that, so what has no answer before it is not known.
// Terminals that print what they do not know are not asked.
func questions(getenv func(string) string) string {
	switch kind := getenv("TERM"); {
	case kind == "", kind == "linux", kind == "cons25", strings.HasPrefix(kind, "vt"):
		return ""
	}
	q := "\x1b[?u\x1b[>q\x1b]11;?\x1b\\\x1b[16t"
	for _, mode := range []string{"2026", "2027", "2031", "2048"} {
		q += "\x1b[?" + mode + "$p"
	}
	if !multiplexed(getenv) {
		q += "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
	}
	return q + "\x1b[c"
}

// answered takes in what the terminal said, and tells of features that changed by it.
func (t *Terminal) answered(a answer) {
	t.mu.Lock()
	before := t.features
	reply := t.learn(a)
	after := t.features
	idle := t.away || t.closed
	t.mu.Unlock()
	if reply != "" && !idle {
		t.out.write([]byte(reply), writePatience)
	}
	if after != before {
		t.emit(Changed{after})
	}
}

// learn changes the features by an answer, and gives what is to be asked of the terminal
// for it. t.mu is held.
func (t *Terminal) learn(a answer) (reply string) {
	at := func(i int) int {
		if i < len(a.n) {
			return a.n[i]
		}
		return 0
	}
	switch {
	case a.kind == 'u' && a.sign == '?':
		t.asked.keys, t.features.Keys = true, true
	case a.kind == 'c' && a.sign == '?' && !t.asked.fenced:
		t.asked.fenced = true
		if !t.asked.keys {
			t.modes.otherKey = true
			return otherKeys
		}
	case a.kind == 'y':
		return t.mode(at(0), at(1) >= 1 && at(1) <= 3)
	case a.kind == 'n' && at(0) == 997 && (at(1) == 1 || at(1) == 2):
		t.features.Light = at(1) == 2
	case a.kind == 't' && at(0) == 6 && at(1) > 0 && at(2) > 0 && at(1) < 1000 && at(2) < 1000:
		t.features.CellHeight, t.features.CellWidth = at(1), at(2)
	case a.kind == ']':
		if light, ok := background(a.text); ok {
			t.features.Light = light
		}
	case a.kind == '_' && strings.HasPrefix(a.text, "Gi=31;OK"):
		t.features.Images = KittyImages
	case a.kind == 'P' && strings.HasPrefix(a.text, ">|"):
		t.named(strings.ToLower(a.text[2:]))
	}
	return ""
}

// mode takes in whether the terminal has a mode, and turns it on.
func (t *Terminal) mode(mode int, has bool) (reply string) {
	if !has {
		return ""
	}
	switch mode {
	case 2026:
		t.features.Sync = true
		return ""
	case 2027:
		t.features.Clusters, t.modes.clusters = true, true
	case 2031:
		t.modes.scheme = true
	case 2048:
		t.modes.inband = true
	default:
		return ""
	}
	return "\x1b[?" + strconv.Itoa(mode) + "h"
}

// named takes in what a terminal calls itself (XTVERSION): variables may be those of
// another one.
func (t *Terminal) named(name string) {
	for _, known := range []struct {
		name    string
		notices Notices
	}{
		{"kitty", OSC9}, {"ghostty", OSC9}, {"wezterm", OSC9}, {"iterm2", OSC9}, {"foot", OSC777}, {"vte", OSC777}, {"konsole", Bell},
	} {
		if !strings.HasPrefix(name, known.name) {
			continue
		}
		t.features.Links, t.features.Notices = true, known.notices
		if t.features.Colors != NoColors {
			t.features.Colors = TrueColor
		}
	}
}

// background reads the answer to OSC 11, "11;rgb:R/G/B" with one to four hex digits
// each, and says whether that is light: relative luminance of a half or more.
func background(s string) (light, ok bool) {
	s, found := strings.CutPrefix(s, "11;rgb")
	if !found {
		return false, false
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "a"), ":")
	parts := strings.Split(s, "/")
	if len(parts) < 3 {
		return false, false
	}
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		p := parts[i]
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return false, false
		}
		luminance += weight * float64(n) / float64(uint64(1)<<(4*len(p))-1)
	}
	return luminance >= 0.5, true
}
