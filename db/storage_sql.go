package db

import (
	"errors"
	"fmt"
	"strings"
)

// maxText bounds the text of one call, in bytes.
const maxText = 1 << 20

// refuse returns an error for a text that a storage does not run: statements
// that reach beyond its file, change how it is opened, or begin and end
// transactions behind its back.
func refuse(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("statement of %d bytes: at most %d are taken", len(text), maxText)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("statement with a NUL byte")
	}
	s := scanner{text: text}
	trigger := false
	for {
		words := s.statement()
		if words == nil {
			return nil
		}
		if err := refuseStatement(words, trigger); err != nil {
			return err
		}
		switch {
		case words[0] == "CREATE" && (at(words, 1) == "TRIGGER" || at(words, 2) == "TRIGGER"):
			trigger = true
		case words[0] == "END":
			trigger = false
		}
	}
}

// refuseStatement judges a statement by its first words. Inside a trigger, END
// ends its body; elsewhere it is COMMIT.
func refuseStatement(words []string, trigger bool) error {
	switch words[0] {
	case "ATTACH", "DETACH", "VACUUM":
		return fmt.Errorf("%s is not allowed in a storage", words[0])
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return fmt.Errorf("%s is not allowed: use a transaction of the storage", words[0])
	case "END":
		if !trigger {
			return errors.New("END is not allowed: use a transaction of the storage")
		}
	case "PRAGMA":
		name := at(words, 1)
		if at(words, 2) == "." {
			name = at(words, 3)
		}
		if !harmlessPragma(name) {
			return fmt.Errorf("PRAGMA %s is not allowed in a storage", strings.ToLower(name))
		}
	}
	return nil
}

// harmlessPragma knows what reads, what numbers the schema and what tidies up.
func harmlessPragma(name string) bool {
	switch name {
	case "USER_VERSION", "APPLICATION_ID", "TABLE_INFO", "TABLE_XINFO", "TABLE_LIST", "INDEX_LIST", "INDEX_INFO",
		"INDEX_XINFO", "FOREIGN_KEY_LIST", "FOREIGN_KEY_CHECK", "FOREIGN_KEYS", "DEFER_FOREIGN_KEYS",
		"RECURSIVE_TRIGGERS", "INTEGRITY_CHECK", "QUICK_CHECK", "OPTIMIZE", "PAGE_COUNT", "PAGE_SIZE",
		"FREELIST_COUNT", "DATA_VERSION", "COMPILE_OPTIONS", "COLLATION_LIST", "FUNCTION_LIST", "ENCODING":
		return true
	}
	return false
}

func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// scanner splits SQL into statements as SQLite's own tokeniser does (tokenize.c):
// by semicolons outside of quotes and comments.
type scanner struct {
	text string
	pos  int
}

// statement returns the first four tokens of the next statement that has any,
// in capitals, without the EXPLAIN before it; nil at the end.
func (s *scanner) statement() []string {
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
func (s *scanner) token() string {
	s.blanks()
	if s.pos >= len(s.text) {
		return ""
	}
	begin := s.pos
	switch c := s.text[s.pos]; {
	case c == '\'' || c == '"' || c == '`':
		return "'" + s.quoted(c)
	case c == '[':
		return "'" + s.quoted(']')
	case wordByte(c):
		for s.pos < len(s.text) && wordByte(s.text[s.pos]) {
			s.pos++
		}
		return strings.ToUpper(s.text[begin:s.pos])
	default:
		s.pos++
		return s.text[begin:s.pos]
	}
}

// quoted passes a quoted text; a doubled quote in it is two texts to us, which
// ends at the same place. One that does not end goes to the end of all.
func (s *scanner) quoted(end byte) string {
	begin := s.pos + 1
	i := strings.IndexByte(s.text[begin:], end)
	if i < 0 {
		s.pos = len(s.text)
		return s.text[begin:]
	}
	s.pos = begin + i + 1
	return s.text[begin : begin+i]
}

// blanks passes white space, to which a byte order mark belongs, and comments.
func (s *scanner) blanks() {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
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

func (s *scanner) skip(rest string, from int, end string) {
	i := strings.Index(rest[from:], end)
	if i < 0 {
		s.pos = len(s.text)
		return
	}
	s.pos += from + i + len(end)
}

// wordByte knows SQLite's identifier characters, which include all of UTF-8
// beyond ASCII.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
