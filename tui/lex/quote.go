package lex

import (
	"strings"

	"alisio/agent/text"
)

// quote is a kind of string.
type quote struct {
	open, end string
	multi     bool   // goes on over the end of the line
	raw       bool   // a backslash is a character as any
	double    bool   // the end written twice is a character
	code      string // what begins code in it, up to the matching brace
	vars      bool   // $name in it is seen
	name      bool   // a name, not a string
}

// quotes takes a string that begins here.
func (s *scan) quotes() bool {
	for i := range s.lang.quotes {
		q := &s.lang.quotes[i]
		if !s.at(q.open) {
			continue
		}
		s.st.in = uint8(i + 1)
		s.to(s.i+len(q.open), s.role(q))
		s.quoted(q)
		return true
	}
	return false
}

func (s *scan) role(q *quote) text.Role {
	if q.name {
		return text.Name
	}
	return text.String
}

// quoted goes on in a string, to its end or that of the line. A string of one line ends
// there in any case, unless a backslash joins the next line to it.
func (s *scan) quoted(q *quote) {
	role := s.role(q)
	start := len(s.out) - 1
	for s.i < len(s.s) {
		switch {
		case !q.raw && s.s[s.i] == '\\':
			if s.i+1 == len(s.s) {
				s.to(len(s.s), role)
				return
			}
			s.to(s.i+2, role)
		case q.double && s.at(q.end+q.end):
			s.to(s.i+2*len(q.end), role)
		case s.at(q.end):
			s.to(s.i+len(q.end), role)
			s.st.in = 0
			s.key(start)
			return
		case q.code != "" && s.at(q.code) && int(s.st.level) < len(s.st.tpl):
			s.to(s.i+len(q.code), text.Mark)
			s.st.tpl[s.st.level] = 0
			s.st.level++
			s.st.in = 0
			s.last = 0
			return
		case q.vars && s.s[s.i] == '$' && s.variable():
		default:
			s.to(s.i+1, role)
		}
	}
	if !q.multi {
		s.st.in = 0
	}
}

// key makes the string that was just read the name of a value where the language has
// such names and a colon follows.
func (s *scan) key(start int) {
	if s.lang.keys != ':' || !s.lang.quotedKeys || start < 0 || start != len(s.out)-1 {
		return
	}
	if strings.HasPrefix(strings.TrimLeft(s.s[s.i:], " \t"), ":") {
		s.out[start].Role = text.Name
	}
}

// variable takes $name, ${…} or $(… of a shell.
func (s *scan) variable() bool {
	switch c := s.peek(1); {
	case c == '{' || c == '(' && s.lang.parens:
		end := byte('}')
		if c == '(' {
			end = ')'
		}
		n := strings.IndexByte(s.s[s.i:], end)
		if n < 0 || n > 200 {
			return false
		}
		s.to(s.i+n+1, text.Name)
	case isWord(c):
		n := s.i + 2
		for n < len(s.s) && isWord(s.s[n]) && s.s[n] < 0x80 {
			n++
		}
		s.to(n, text.Name)
	case strings.IndexByte("@*#?$!-", c) >= 0 && c != 0:
		s.to(s.i+2, text.Name)
	default:
		return false
	}
	return true
}

// raw goes on in a string that State.word ends.
func (s *scan) raw() {
	i := strings.Index(s.s[s.i:], s.st.word)
	if i < 0 {
		s.to(len(s.s), text.String)
		return
	}
	s.to(s.i+i+len(s.st.word), text.String)
	s.st.in, s.st.word = 0, ""
}

// begin enters a string of n bytes of opening that word ends.
func (s *scan) begin(n int, word string) {
	s.st.in, s.st.word = inRaw, word
	s.to(s.i+n, text.String)
	s.raw()
}
