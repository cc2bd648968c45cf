package term

import (
	"runtime"
	"strconv"
	"strings"
)

// detect is what the environment says of a terminal (terminal.md, section 9). Variables
// leak through multiplexers and ssh: what can be asked is asked later.
func detect(getenv func(string) string) Features {
	f := Features{Colors: colors(getenv), Unicode: Unicode(getenv), Light: lightByEnv(getenv("COLORFGBG"))}
	name := strings.ToLower(getenv("TERM_PROGRAM"))
	kind := getenv("TERM")
	is := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(kind, w) || strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	windows := getenv("WT_SESSION") != ""
	vte := atLeast(getenv("VTE_VERSION"), 0)
	if multiplexed(getenv) {
		// The program between us and the screen knows links from 3.4 on.
		f.Links = name == "tmux" && versionAtLeast(getenv("TERM_PROGRAM_VERSION"), 3, 4)
		return f
	}
	f.Links = windows || vte >= 5000 || atLeast(getenv("KONSOLE_VERSION"), 0) >= 201200 ||
		is("kitty", "ghostty", "alacritty", "foot", "wezterm", "iterm", "vscode", "hyper", "rio")
	switch {
	case windows, is("kitty", "ghostty", "wezterm", "iterm"):
		f.Notices = OSC9
	case vte > 0, is("foot", "rxvt"):
		f.Notices = OSC777
	}
	if is("iterm", "wezterm") || getenv("LC_TERMINAL") == "iTerm2" {
		f.Images = ITermImages
	}
	return f
}

// multiplexed reports whether tmux or screen is between us and the terminal.
func multiplexed(getenv func(string) string) bool {
	kind := getenv("TERM")
	return getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(kind, "screen") || strings.HasPrefix(kind, "tmux")
}

// colors is how many colours the environment promises.
func colors(getenv func(string) string) Colors {
	kind := strings.ToLower(getenv("TERM"))
	program := getenv("TERM_PROGRAM")
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(kind, w) {
				return true
			}
		}
		return false
	}
	switch {
	case getenv("NO_COLOR") != "", getenv("CLICOLOR") == "0", kind == "dumb", strings.HasPrefix(kind, "vt"):
		return NoColors
	case getenv("COLORTERM") == "truecolor", getenv("COLORTERM") == "24bit", getenv("WT_SESSION") != "",
		has("-direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"),
		program == "iTerm.app", program == "WezTerm", program == "vscode", program == "ghostty":
		return TrueColor
	case has("256color"), program == "Apple_Terminal":
		return Palette
	case kind == "" && runtime.GOOS != "windows":
		return NoColors
	}
	return Sixteen
}

// lightByEnv reads COLORFGBG, "15;0" or "15;default;0": the last is the background.
func lightByEnv(s string) bool {
	n, err := strconv.Atoi(s[strings.LastIndexByte(s, ';')+1:])
	return err == nil && (n == 7 || n > 8)
}

// atLeast is a number that is 1 or more, else another.
func atLeast(s string, instead int) int {
	const most = 1 << 24
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < most {
		return n
	}
	return instead
}

// versionAtLeast reads "3.4", "3.3a", "next-3.5".
func versionAtLeast(s string, major, minor int) bool {
	s = strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyz-")
	first, rest, _ := strings.Cut(s, ".")
	a := atLeast(first, 0)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	return a > major || a == major && atLeast(rest[:end], 0) >= minor
}
