package term

import "testing"

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Features
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}, Features{Colors: Palette, Unicode: true}},
		{map[string]string{"TERM": "xterm"}, Features{Colors: Sixteen}},
		{map[string]string{"TERM": "xterm", "COLORTERM": "truecolor", "NO_COLOR": "1"}, Features{}},
		{map[string]string{"TERM": "xterm", "CLICOLOR": "0"}, Features{}},
		{map[string]string{"TERM": "xterm", "COLORTERM": "24bit", "COLORFGBG": "0;15"}, Features{Colors: TrueColor, Light: true}},
		{map[string]string{"TERM": "xterm", "COLORFGBG": "15;default;0"}, Features{Colors: Sixteen}},
		{map[string]string{"TERM": "xterm", "COLORFGBG": "0;8"}, Features{Colors: Sixteen}},
		{map[string]string{"TERM": "xterm-kitty"}, Features{Colors: TrueColor, Links: true, Notices: OSC9}},
		{map[string]string{"TERM": "foot"}, Features{Colors: TrueColor, Links: true, Notices: OSC777}},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Features{Colors: TrueColor, Links: true, Notices: OSC9, Images: ITermImages}},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, Features{Colors: Palette}},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, Features{Colors: Palette, Links: true, Notices: OSC777}},
		{map[string]string{"WT_SESSION": "x", "TERM": "xterm"}, Features{Colors: TrueColor, Links: true, Notices: OSC9}},
		{map[string]string{"TERM": "tmux-256color", "TMUX": "/x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"}, Features{Colors: Palette}},
		{map[string]string{"TERM": "tmux-256color", "TMUX": "/x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"}, Features{Colors: Palette, Links: true}},
		{map[string]string{"TERM": "screen", "KITTY_WINDOW_ID": "1", "LC_TERMINAL": "iTerm2"}, Features{Colors: Sixteen}},
		{map[string]string{"TERM": "vt100"}, Features{}},
	} {
		if got := detect(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.env, got, c.want)
		}
	}
}

func TestVersionAtLeast(t *testing.T) {
	for s, want := range map[string]bool{"3.4": true, "3.3a": false, "next-3.5": true, "4": true, "4.0": true, "3": false, "": false, "3.10": true} {
		if got := versionAtLeast(s, 3, 4); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func TestBackground(t *testing.T) {
	for s, want := range map[string]string{
		"11;rgb:ffff/ffff/ffff": "light", "11;rgb:0/0/0": "dark", "11;rgb:1c1c/1e1e/2626": "dark", "11;rgba:ff/ff/e0/80": "light",
		"11;rgb:fdf6/e3e3/d5d5": "light", "10;rgb:ffff/ffff/ffff": "", "11;rgb:ff/ff": "", "11;rgb:fffff/0/0": "", "11;rgb:x/y/z": "", "11;?": "",
	} {
		got := ""
		if light, ok := background(s); ok && light {
			got = "light"
		} else if ok {
			got = "dark"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	for kind, asks := range map[string]bool{"": false, "linux": false, "vt220": false, "xterm": true} {
		if got := questions(func(k string) string { return map[string]string{"TERM": kind}[k] }) != ""; got != asks {
			t.Errorf("TERM=%s: asked %v", kind, got)
		}
	}
}

func TestClipboard(t *testing.T) {
	if got := Clipboard("a\x1bb"); got != "\x1b]52;c;YRti\x1b\\" {
		t.Errorf("got %q", got)
	}
	if got := Clipboard(string(make([]byte, 60_000))); got != "" {
		t.Errorf("a long text gives %d bytes", len(got))
	}
}
