package lex

import (
	"strings"

	"alisio/agent/text"
)

// makefile reads targets and variables; recipes are read as shell.
func makefile(s *scan) {
	if s.s != "" && (s.s[0] == '\t' || s.s[0] == ' ' || s.st.in != 0) {
		recipe := scan{lang: s.find("sh"), find: s.find, s: s.s, st: s.st}
		recipe.code()
		recipe.to(len(recipe.s), text.Normal)
		s.st, s.out, s.i = recipe.st, recipe.out, recipe.i
		return
	}
	if n := strings.IndexAny(s.s, ":=#$ "); n > 0 && strings.IndexByte("#$", s.s[n]) < 0 && !has(s.lang.keywords, s.s[:n]) {
		if rest := strings.TrimLeft(s.s[n:], " ?+:"); s.s[n] == ':' || strings.HasPrefix(rest, "=") {
			s.to(n, text.Name)
		}
	}
	s.code()
}

// section takes "[name]" at the start of a line of TOML or INI.
func section(s *scan) {
	if strings.HasPrefix(s.s, "[") {
		if i := strings.LastIndexByte(s.s, ']'); i > 0 {
			s.to(i+1, text.Keyword)
		}
	}
}

// instruction takes the first word of a line of a Dockerfile.
func instruction(s *scan) {
	word, _, _ := strings.Cut(s.s, " ")
	if has(s.lang.defining, strings.ToLower(word)) {
		s.to(len(word), text.Keyword)
	}
}

// markdown marks headings and quotes in source that is shown as source.
func markdown(s *scan) {
	switch {
	case strings.HasPrefix(s.s, "#"):
		s.to(len(s.s), text.Heading)
	case strings.HasPrefix(s.s, ">"):
		s.to(len(s.s), text.Quote)
	}
}
