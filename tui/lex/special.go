package lex

import (
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
)

// directive takes "#include" and its like at the start of a line.
func directive(s *scan) {
	s.to(len(s.s)-len(strings.TrimLeft(s.s, " \t")), text.Normal)
	if s.peek(0) != '#' {
		return
	}
	end := s.i + 1
	for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == ' ' && s.s[end-1] == '#') {
		end++
	}
	included := strings.HasSuffix(s.s[:end], "include")
	s.to(end, text.Keyword)
	if i := strings.IndexByte(s.s[s.i:], '>'); included && i >= 0 && strings.HasPrefix(strings.TrimLeft(s.s[s.i:], " "), "<") {
		s.to(s.i+i+1, text.String)
	}
}

// cplus takes the raw strings of C++: R"x( … )x".
func cplus(s *scan) bool {
	if !s.at(`R"`) {
		return false
	}
	n := strings.IndexByte(s.s[s.i+2:], '(')
	if n < 0 || n > 16 {
		return false
	}
	s.begin(n+3, ")"+s.s[s.i+2:s.i+2+n]+`"`)
	return true
}

// rust takes raw strings, lifetimes and attributes.
func rust(s *scan) bool {
	switch c := s.s[s.i]; {
	case c == 'r' || c == 'b' && s.peek(1) == 'r':
		n := 1
		if c == 'b' {
			n = 2
		}
		hashes := 0
		for s.peek(n+hashes) == '#' && hashes < 200 {
			hashes++
		}
		if s.peek(n+hashes) != '"' {
			return false
		}
		s.begin(n+hashes+1, `"`+strings.Repeat("#", hashes))
	case c == '\'':
		end := charEnd(s.s[s.i:])
		if end == 0 { // a lifetime
			end = 1
			for s.i+end < len(s.s) && isWord(s.s[s.i+end]) {
				end++
			}
			s.to(s.i+end, text.Name)
			return true
		}
		s.to(s.i+end, text.String)
	case c == '#' && (s.peek(1) == '[' || s.peek(1) == '!' && s.peek(2) == '['):
		end := strings.IndexByte(s.s[s.i:], ']')
		if end < 0 {
			end = len(s.s) - s.i - 1
		}
		s.to(s.i+end+1, text.Mark)
	default:
		return false
	}
	return true
}

// charEnd is the length of the character literal at the start of t, 0 where there is
// none.
func charEnd(t string) int {
	if len(t) < 3 {
		return 0
	}
	if t[1] == '\\' {
		if i := strings.IndexByte(t[3:min(len(t), 14)], '\''); i >= 0 {
			return i + 4
		}
		return 0
	}
	_, n := utf8.DecodeRuneInString(t[1:])
	if 1+n < len(t) && t[1+n] == '\'' {
		return n + 2
	}
	return 0
}

// python takes the letters before a string, and decorators.
func python(s *scan) bool {
	if s.s[s.i] == '@' && s.last == 0 {
		end := s.i + 1
		for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == '.') {
			end++
		}
		s.to(end, text.Name)
		return true
	}
	n := 0
	for n < 2 && s.i+n < len(s.s) && strings.IndexByte("rRbBfFuU", s.s[s.i+n]) >= 0 {
		n++
	}
	if c := s.peek(n); n == 0 || c != '"' && c != '\'' {
		return false
	}
	s.to(s.i+n, text.String)
	return s.quotes()
}

// annotation takes @Name of Java, Kotlin, Swift, TypeScript.
func annotation(s *scan) bool {
	if s.s[s.i] != '@' || !isWord(s.peek(1)) {
		return false
	}
	end := s.i + 1
	for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == '.') {
		end++
	}
	s.to(end, text.Name)
	return true
}

// script takes what JavaScript has beside: regular expressions where no value precedes
// (there "/" divides), and decorators.
func script(s *scan) bool {
	if s.s[s.i] != '/' {
		return annotation(s)
	}
	value := s.last == 'a' || s.last == '"' || s.last == ')' || s.last == ']' || s.last == '}' || isDigit(s.last)
	if s.last == 'a' && has(" return typeof case in of delete void throw new else do await yield ", s.word) {
		value = false
	}
	if value || s.last == '<' {
		return false
	}
	class := false
	for i := s.i + 1; i < len(s.s); i++ {
		switch c := s.s[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(s.s) && s.s[i] >= 'a' && s.s[i] <= 'z'; i++ {
			}
			s.to(i, text.String)
			return true
		}
	}
	return false
}

// shell takes variables, options and the start of here-documents.
func shell(s *scan) bool {
	switch c := s.s[s.i]; {
	case c == '$':
		return s.variable()
	case c == '\\' && s.i+1 < len(s.s):
		_, n := utf8.DecodeRuneInString(s.s[s.i+1:])
		s.to(s.i+1+n, text.Normal)
		return true
	case s.at("<<<"):
		s.to(s.i+3, text.Mark)
		return true
	case s.at("<<"):
		return s.heredoc()
	case c == '-' && (s.i == 0 || s.s[s.i-1] == ' '):
		end := s.i + 1
		for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == '-') {
			end++
		}
		s.to(end, text.Mark)
		return true
	}
	return false
}

// heredoc takes "<<EOF"; the lines up to EOF are a string.
func (s *scan) heredoc() bool {
	end := s.i + 2
	for end < len(s.s) && strings.IndexByte("-~ ", s.s[end]) >= 0 {
		end++
	}
	start := end
	for end < len(s.s) && (isWord(s.s[end]) || strings.IndexByte(`"'\`, s.s[end]) >= 0) {
		end++
	}
	word := strings.Trim(s.s[start:end], `"'\`)
	if word == "" || isDigit(word[0]) || len(word) > 60 {
		return false
	}
	s.to(start, text.Mark)
	s.to(end, text.Keyword)
	// The rest of this line is still code.
	for s.i < len(s.s) && s.st.in == 0 {
		s.token()
	}
	if s.st.in == 0 {
		s.st.in, s.st.word = inHeredoc, word
	}
	return true
}

// session colours what people copy from a terminal: a prompt and a command, else output.
func session(s *scan) {
	if s.st.in == 0 && !strings.HasPrefix(s.s, "$ ") && !strings.HasPrefix(s.s, "> ") && !strings.HasPrefix(s.s, "# ") && !strings.HasPrefix(s.s, "% ") {
		return
	}
	if s.st.in == 0 {
		s.to(2, text.Mark)
	}
	s.code()
}

// sigil takes $name, @name and %name.
func sigil(s *scan) bool {
	c := s.s[s.i]
	if strings.IndexByte("$@%", c) < 0 || !isWord(s.peek(1)) && s.peek(1) != '{' || c == '%' && s.last == 'a' {
		return false
	}
	end := s.i + 1
	for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == ':' && end+1 < len(s.s) && isWord(s.s[end+1])) {
		end++
	}
	s.to(max(end, s.i+1), text.Name)
	return true
}

// ruby takes sigils and symbols.
func ruby(s *scan) bool {
	if s.s[s.i] == ':' && isWord(s.peek(1)) && s.last != ':' && s.last != 'a' {
		end := s.i + 1
		for end < len(s.s) && isWord(s.s[end]) {
			end++
		}
		s.to(end, text.String)
		return true
	}
	if s.at("<<~") || s.at("<<-") {
		return s.heredoc()
	}
	return s.s[s.i] != '%' && sigil(s)
}

// style takes colours and at-rules of CSS.
func style(s *scan) bool {
	switch c := s.s[s.i]; {
	case c == '#' && isWord(s.peek(1)), c == '@' && isWord(s.peek(1)), c == '.' && isWord(s.peek(1)) && !isDigit(s.peek(1)):
		end := s.i + 1
		for end < len(s.s) && (isWord(s.s[end]) || s.s[end] == '-') {
			end++
		}
		role := text.Name
		if c == '@' {
			role = text.Keyword
		} else if n := end - s.i - 1; c == '#' && (n == 3 || n == 4 || n == 6 || n == 8) && strings.Trim(s.s[s.i+1:end], "0123456789abcdefABCDEF") == "" {
			role = text.Number
		}
		s.to(end, role)
		return true
	}
	return false
}
