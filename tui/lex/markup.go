package lex

import (
	"strings"

	"alisio/agent/text"
)

// What is open in markup, in State.sub.
const (
	inTag uint8 = iota + 1
	inDouble
	inSingle
	inRemark
	inScript
	inStyle
	scriptTag // the opening tag of a script
	styleTag
)

// markup reads HTML and XML. Script and style elements are read by their lexers, whose
// state is the rest of State.
func markup(s *scan) {
	for s.i < len(s.s) {
		switch s.st.sub {
		case 0:
			s.content()
		case inRemark:
			s.until("-->", text.Comment, 0)
		case inScript:
			s.embedded("js", "</script")
		case inStyle:
			s.embedded("css", "</style")
		case inDouble, inSingle:
			s.value()
		default:
			s.tag()
		}
	}
}

// until takes the text to end, which leads to the state next.
func (s *scan) until(end string, role text.Role, next uint8) {
	i := strings.Index(s.s[s.i:], end)
	if i < 0 {
		s.to(len(s.s), role)
		return
	}
	s.to(s.i+i+len(end), role)
	s.st.sub = next
}

// content is text up to the next tag, with entities.
func (s *scan) content() {
	n := strings.IndexAny(s.s[s.i:], "<&")
	if n < 0 {
		s.to(len(s.s), text.Normal)
		return
	}
	s.to(s.i+n, text.Normal)
	if s.at("<!--") {
		s.st.sub = inRemark
		s.to(s.i+4, text.Comment)
		return
	}
	if s.s[s.i] == '&' {
		end := strings.IndexByte(s.s[s.i:min(len(s.s), s.i+32)], ';')
		if end > 1 && strings.IndexFunc(s.s[s.i+1:s.i+end], func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) && r != '#' }) < 0 {
			s.to(s.i+end+1, text.Number)
			return
		}
		s.to(s.i+1, text.Normal)
		return
	}
	end := s.i + 1
	if c := s.peek(1); c == '/' || c == '!' || c == '?' {
		end++
	}
	start := end
	for end < len(s.s) && (isWord(s.s[end]) || strings.IndexByte("-:.", s.s[end]) >= 0) {
		end++
	}
	if start == end && s.peek(1) != '>' {
		s.to(s.i+1, text.Normal)
		return
	}
	s.st.sub = inTag
	if start == s.i+1 {
		switch strings.ToLower(s.s[start:end]) {
		case "script":
			s.st.sub = scriptTag
		case "style":
			s.st.sub = styleTag
		}
	}
	s.to(end, text.Keyword)
}

// tag reads attributes up to ">".
func (s *scan) tag() {
	switch c := s.s[s.i]; {
	case c == '>':
		self := s.i > 0 && s.s[s.i-1] == '/'
		s.to(s.i+1, text.Keyword)
		switch {
		case s.st.sub == scriptTag && !self:
			s.st = State{sub: inScript}
		case s.st.sub == styleTag && !self:
			s.st = State{sub: inStyle}
		default:
			s.st.sub = 0
		}
	case c == '"' || c == '\'':
		// What kind of tag it is comes back after the value.
		s.st.level = s.st.sub
		s.st.sub = inDouble
		if c == '\'' {
			s.st.sub = inSingle
		}
		s.to(s.i+1, text.String)
	case c == '/' || c == '?':
		s.to(s.i+1, text.Keyword)
	case c == '=':
		s.to(s.i+1, text.Mark)
	case isWord(c) || c == '@' || c == ':' || c == '#':
		end := s.i + 1
		for end < len(s.s) && (isWord(s.s[end]) || strings.IndexByte("-:.@", s.s[end]) >= 0) {
			end++
		}
		role := text.Name
		if s.i > 0 && s.s[s.i-1] == '=' {
			role = text.String
		}
		s.to(end, role)
	default:
		s.to(s.i+1, text.Normal)
	}
}

// value reads the value of an attribute to its quote.
func (s *scan) value() {
	end := `"`
	if s.st.sub == inSingle {
		end = "'"
	}
	s.until(end, text.String, s.st.level)
	if s.st.sub == 0 || s.st.sub == s.st.level {
		s.st.level = 0
	}
}

// embedded hands the text up to the closing tag to another lexer.
func (s *scan) embedded(lang, end string) {
	stop := len(s.s)
	if i := strings.Index(text.Fold(s.s[s.i:]), end); i >= 0 {
		stop = s.i + i
	}
	sub := s.st.sub
	inner := scan{lang: s.find(lang), find: s.find, s: s.s[s.i:stop], st: s.st}
	inner.st.sub = 0
	inner.code()
	inner.to(len(inner.s), text.Normal)
	for _, span := range inner.out {
		s.to(s.i+len(span.Text), span.Role)
	}
	s.st = inner.st
	s.st.sub = sub
	if stop < len(s.s) {
		s.st = State{}
		s.st.sub = inTag
		s.to(stop+len(end), text.Keyword)
	}
}
