package lex

import (
	"strings"

	"alisio/agent/text"
)

// scan reads one line. Everything before i is in out.
type scan struct {
	lang *language
	find func(string) *language // for languages in others; a field, as the tables name who needs it
	s    string
	i    int
	st   State
	out  text.Styled

	last    byte // the last character of code that was no blank, 0 at the start
	defines bool // the word before names what comes next: func, class, def
	word    string
}

// to takes the text up to end into out. Neighbours in one role become one span.
func (s *scan) to(end int, role text.Role) {
	if end <= s.i {
		return
	}
	if n := len(s.out); n > 0 && s.out[n-1].Role == role {
		s.out[n-1].Text = s.s[s.i-len(s.out[n-1].Text) : end]
	} else {
		s.out = append(s.out, text.Span{Text: s.s[s.i:end], Style: text.Style{Role: role}})
	}
	s.i = end
}

// at reports whether the rest of the line begins with prefix.
func (s *scan) at(prefix string) bool { return strings.HasPrefix(s.s[s.i:], prefix) }

// peek is the byte n after the current one, 0 behind the end.
func (s *scan) peek(n int) byte {
	if i := s.i + n; i >= 0 && i < len(s.s) {
		return s.s[i]
	}
	return 0
}

// code reads the line as the tables say.
func (s *scan) code() {
	s.resume()
	if s.st.in == 0 && s.i == 0 && s.lang.start != nil {
		s.lang.start(s)
	}
	for s.i < len(s.s) && s.st.in == 0 {
		s.token()
	}
}

// resume goes on with what the line before left open.
func (s *scan) resume() {
	switch in := s.st.in; {
	case in == 0:
	case in == inComment:
		s.comment()
	case in == inHeredoc:
		if strings.TrimLeft(s.s, "\t ") == s.st.word {
			s.st.in, s.st.word = 0, ""
			s.to(len(s.s), text.Keyword)
			return
		}
		s.to(len(s.s), text.String)
	case in == inRaw:
		s.raw()
	case int(in) <= len(s.lang.quotes):
		s.quoted(&s.lang.quotes[in-1])
	default:
		s.st.in = 0
	}
}

// token reads one token of code. What is tried first wins: comments before operators that
// begin alike, what a language has of its own before strings with letters in front,
// which are words otherwise. Of a quote or a comment it takes what is on this line.
func (s *scan) token() {
	l, c := s.lang, s.s[s.i]
	switch {
	case c == ' ' || c == '\t':
		s.to(s.i+1, text.Normal)
		return
	case s.comments():
		return
	case l.special != nil && l.special(s):
		s.last = s.s[s.i-1]
		return
	case s.quotes():
		s.last = '"'
		return
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		s.number()
	case isWord(c) || strings.IndexByte(l.letters, c) >= 0:
		s.name()
		return
	case c == '{' && s.st.level > 0:
		s.st.tpl[s.st.level-1]++
		s.to(s.i+1, text.Normal)
	case c == '}' && s.st.level > 0:
		s.closeBrace()
	case strings.IndexByte("+-*/%=<>!&|^~?:@", c) >= 0:
		s.to(s.i+1, text.Mark)
	default:
		s.to(s.i+1, text.Normal)
	}
	s.last, s.defines = c, false
}

// comments takes a comment that begins here.
func (s *scan) comments() bool {
	for _, open := range s.lang.comments {
		// "#" is a comment at the start of a word only: $#, a#b, #{.
		if s.at(open) && (open != "#" || s.i == 0 || strings.IndexByte(" \t;()", s.s[s.i-1]) >= 0 || !s.lang.words) {
			s.to(len(s.s), text.Comment)
			return true
		}
	}
	if open := s.lang.block[0]; open != "" && s.at(open) {
		s.st.in, s.st.depth = inComment, 1
		s.to(s.i+len(open), text.Comment)
		s.comment()
		return true
	}
	return false
}

// comment goes on in a block comment to its end or that of the line.
func (s *scan) comment() {
	open, end := s.lang.block[0], s.lang.block[1]
	for s.i < len(s.s) {
		switch {
		case s.at(end):
			s.to(s.i+len(end), text.Comment)
			if s.st.depth--; s.st.depth == 0 {
				s.st.in = 0
				return
			}
		case s.lang.nested && s.at(open) && s.st.depth < 1000:
			s.st.depth++
			s.to(s.i+len(open), text.Comment)
		default:
			s.to(s.i+1, text.Comment)
		}
	}
}

// number takes digits of any base, with suffixes and units.
func (s *scan) number() {
	end := s.i + 1
	for ; end < len(s.s); end++ {
		c := s.s[end]
		sign := (c == '+' || c == '-') && (s.s[end-1]|0x20 == 'e' || s.s[end-1]|0x20 == 'p') && !strings.HasPrefix(s.s[s.i:], "0x")
		dot := c == '.' && end+1 < len(s.s) && isDigit(s.s[end+1])
		if !isWord(c) && !sign && !dot && c != '\'' || c == '\'' && (end+1 >= len(s.s) || !isWord(s.s[end+1])) || c >= 0x80 {
			break
		}
	}
	if end < len(s.s) && s.s[end] == '%' && s.lang.units {
		end++
	}
	s.to(end, text.Number)
}

// name takes a word. Only ASCII marks what a word is by its case or its sign behind; a
// word in another script is text, or a name where a keyword before it defines one.
// Else the tables say what it is, and what stands around it.
func (s *scan) name() {
	l, end := s.lang, s.i+1
	for end < len(s.s) && (isWord(s.s[end]) || strings.IndexByte(l.inner, s.s[end]) >= 0) {
		end++
	}
	whole := end
	for end > s.i+1 && s.s[end-1] == '-' { // "--" and "->" are operators
		end--
	}
	if s.s[end-1] == '-' { // nothing else: at once, or each of them would look at the rest
		s.to(whole, text.Mark)
		s.last = '-'
		return
	}
	word := s.s[s.i:end]
	key := word
	if l.fold {
		key = strings.ToLower(word)
	}
	before := s.last
	role := text.Normal
	switch {
	case s.defines && !has(l.keywords, key):
		role = text.Name
	case before == '.' && l.dots:
		if s.s[end:] != "" && s.s[end] == '(' {
			role = text.Name
		}
	case has(l.keywords, key):
		role = text.Keyword
	case has(l.consts, key):
		role = text.Number
	case has(l.types, key):
		role = text.Name
	case s.isName(word, end):
		role = text.Name
	}
	s.defines = has(l.defining, key) && before != '.'
	s.to(end, role)
	s.last, s.word = 'a', word
	if l.words && role == text.Keyword { // "then", "do": a command follows
		s.last = 0
	}
}

// isName tells names of functions, types, keys and, where commands stand, of commands.
func (s *scan) isName(word string, end int) bool {
	l, rest := s.lang, s.s[end:]
	next := strings.TrimLeft(rest, " ")
	switch {
	case l.words:
		return s.last == 0 || strings.IndexByte("|;&({`!", s.last) >= 0 || strings.HasPrefix(rest, "=")
	case l.keys != 0 && next != "" && next[0] == l.keys && !strings.HasPrefix(next, "::") && !strings.HasPrefix(next, "=="):
		return true
	case l.capital && word[0] >= 'A' && word[0] <= 'Z' && strings.ToUpper(word) != word:
		return true
	}
	return strings.HasPrefix(rest, "(") || l.bang && strings.HasPrefix(rest, "!")
}

// closeBrace is a "}" of code in a template literal: the last one ends the code.
func (s *scan) closeBrace() {
	top := s.st.level - 1
	if s.st.tpl[top] > 0 {
		s.st.tpl[top]--
		s.to(s.i+1, text.Normal)
		return
	}
	s.to(s.i+1, text.Mark)
	s.st.level = top
	for i := range s.lang.quotes {
		if s.lang.quotes[i].code != "" {
			s.st.in = uint8(i + 1)
			s.quoted(&s.lang.quotes[i])
			return
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord reports a letter, a digit or an underscore; every character beyond ASCII is a
// letter here.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c >= 0x80
}
