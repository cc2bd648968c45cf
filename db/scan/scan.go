// Package scan reads just as much of SQL as tells one kind of statement from
// another. It checks nothing: what is not SQL gives tokens too.
package scan

import "strings"

// At returns the i-th of the tokens, in capitals, or nothing.
func At(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// Scanner splits SQL into statements as SQLite's own tokeniser does (tokenize.c):
// by semicolons outside of quotes and comments.
type Scanner struct {
	// Text is the SQL.
	Text string
	pos  int
}

// Statement returns the first four tokens of the next statement that has any,
// in capitals, without the EXPLAIN before it; nil at the end.
func (s *Scanner) Statement() []string {
	const wanted = 4
	var words []string
	for {
		token := s.token()
		switch {
		case token == "" || token == ";":
			if len(words) > 0 {
				return words
			}
			if token == "" {
				return nil
			}
		case len(words) == 0 && (token == "EXPLAIN" || token == "QUERY" || token == "PLAN"):
		case len(words) < wanted:
			words = append(words, token)
		}
	}
}

// token returns the next token: a word in capitals, a quoted text without its
// quotes behind an apostrophe so that no keyword equals it, or one byte of
// anything else; empty at the end.
func (s *Scanner) token() string {
	s.blanks()
	if s.pos >= len(s.Text) {
		return ""
	}
	begin := s.pos
	switch c := s.Text[s.pos]; {
	case c == '\'' || c == '"' || c == '`':
		return "'" + s.quoted(c)
	case c == '[':
		return "'" + s.quoted(']')
	case wordByte(c):
		for s.pos < len(s.Text) && wordByte(s.Text[s.pos]) {
			s.pos++
		}
		return strings.ToUpper(s.Text[begin:s.pos])
	default:
		s.pos++
		return s.Text[begin:s.pos]
	}
}

// quoted passes a quoted text, in which a doubled quote is one of its own. One that
// does not end goes to the end of all.
func (s *Scanner) quoted(end byte) string {
	begin := s.pos + 1
	for i := begin; ; i++ {
		n := strings.IndexByte(s.Text[i:], end)
		if n < 0 {
			s.pos = len(s.Text)
			return s.Text[begin:]
		}
		i += n + 1
		if end == ']' || i == len(s.Text) || s.Text[i] != end {
			s.pos = i
			return s.Text[begin : i-1]
		}
	}
}

// blanks passes white space, to which a byte order mark belongs, and comments.
func (s *Scanner) blanks() {
	for s.pos < len(s.Text) {
		rest := s.Text[s.pos:]
		switch {
		case strings.IndexByte(" \t\n\f\r", rest[0]) >= 0:
			s.pos++
		case strings.HasPrefix(rest, "\ufeff"):
			s.pos += len("\ufeff")
		case strings.HasPrefix(rest, "--"):
			s.skip(rest, 2, "\n")
		case strings.HasPrefix(rest, "/*"):
			s.skip(rest, 2, "*/")
		default:
			return
		}
	}
}

func (s *Scanner) skip(rest string, from int, end string) {
	i := strings.Index(rest[from:], end)
	if i < 0 {
		s.pos = len(s.Text)
		return
	}
	s.pos += from + i + len(end)
}

// wordByte knows SQLite's identifier characters, which include all of UTF-8
// beyond ASCII.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
