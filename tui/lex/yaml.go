package lex

import (
	"strings"

	"alisio/agent/text"
)

// yaml reads keys, scalars, comments and block scalars.
func yaml(s *scan) {
	indent := len(s.s) - len(strings.TrimLeft(s.s, " "))
	if s.st.in == inBlock {
		if indent >= int(s.st.depth) || indent == len(s.s) {
			s.to(len(s.s), text.String)
			return
		}
		s.st = State{}
	}
	if s.st.in != 0 {
		s.code()
		s.rest(0)
		return
	}
	s.to(indent, text.Normal)
	if s.at("---") || s.at("...") || s.s[s.i:] != "" && s.s[s.i] == '%' {
		s.to(min(len(s.s), s.i+3), text.Mark)
	}
	for s.at("- ") || s.s[s.i:] == "-" || s.at("? ") {
		s.to(s.i+1, text.Mark)
		n := len(s.s[s.i:]) - len(strings.TrimLeft(s.s[s.i:], " "))
		s.to(s.i+n, text.Normal)
	}
	column := s.i
	if end := keyEnd(s.s[s.i:]); end > 0 {
		s.to(s.i+end, text.Name)
		s.to(s.i+1, text.Mark)
	}
	s.rest(column)
}

// keyEnd is where the key at the start of t ends, at its colon; 0 without one.
func keyEnd(t string) int {
	quote := byte(0)
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && i == 0:
			quote = c
		case c == '#' && i > 0 && t[i-1] == ' ', (c == '{' || c == '[') && i == 0:
			return 0
		case c == ':' && (i+1 == len(t) || t[i+1] == ' ' || t[i+1] == '\t'):
			return i
		}
	}
	return 0
}

// rest reads what stands behind the key in column.
func (s *scan) rest(column int) {
	for s.i < len(s.s) && s.st.in == 0 {
		c := s.s[s.i]
		start := s.i == 0 || strings.IndexByte(" \t[{,", s.s[s.i-1]) >= 0
		switch {
		case c == ' ' || c == '\t':
			s.to(s.i+1, text.Normal)
		case c == '#' && start:
			s.to(len(s.s), text.Comment)
		case start && (c == '|' || c == '>') && strings.Trim(strings.SplitN(s.s[s.i+1:], " ", 2)[0], "+-0123456789") == "":
			s.st.in, s.st.depth = inBlock, uint16(min(column, maxLine)+1)
			s.to(s.i+1, text.Mark)
			s.block()
			return
		case start && (c == '&' || c == '*' || c == '!'):
			s.to(s.i+len(s.word1()), text.Keyword)
		case start && (c == '"' || c == '\''):
			s.quotes()
		case strings.IndexByte("[]{},:", c) >= 0:
			s.to(s.i+1, text.Mark)
		default:
			s.scalar()
		}
	}
}

// block takes what may follow "|" on its line.
func (s *scan) block() {
	if i := strings.Index(s.s[s.i:], " #"); i >= 0 {
		s.to(s.i+i, text.Mark)
		s.to(len(s.s), text.Comment)
	}
	s.to(len(s.s), text.Mark)
}

// word1 is the text up to the next blank.
func (s *scan) word1() string {
	w, _, _ := strings.Cut(s.s[s.i:], " ")
	return w
}

// scalar takes one plain scalar, to a comment, or to a mark of a flow.
func (s *scan) scalar() {
	t := s.s[s.i:]
	end := len(t)
	if i := strings.IndexAny(t, ",]}"); i > 0 {
		end = i
	}
	if i := strings.Index(t, " #"); i >= 0 {
		end = min(end, i)
	}
	if i := strings.Index(t, ": "); i > 0 {
		end = min(end, i)
		s.to(s.i+end, text.Name)
		return
	}
	word := strings.TrimSpace(t[:end])
	role := text.Normal
	switch {
	case has(s.lang.consts, strings.ToLower(word)):
		role = text.Keyword
	case word != "" && (isDigit(word[0]) || len(word) > 1 && strings.IndexByte("+-.", word[0]) >= 0 && isDigit(word[1])) && strings.Trim(word, "0123456789.+-eExXabcdefABCDEF_:TZ") == "":
		role = text.Number
	}
	s.to(s.i+max(end, 1), role)
}
