package text

import "strings"

// ShellWord writes a word so that a POSIX shell takes it for one, and a reader too.
// It hides nothing and shows nothing that is hidden: what is printed goes through
// Line or Visible besides.
func ShellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:=,@%", r)
	}
	// A first "=" means a program's path to zsh.
	if s != "" && s[0] != '=' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
