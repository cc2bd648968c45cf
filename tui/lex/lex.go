// Package lex colours source text, one line after the other, for code in messages and
// for diffs. It knows words, strings, numbers and comments of the languages that turn up
// there, not their grammars: a wrong program is coloured as well as a right one, and no
// input makes it fail.
//
//	state, spans := lexer.Line(state, line)
//
// What one line leaves open (a comment, a string, a here-document) is in the state, so
// that streamed code is read once and a view may begin at any line whose state it kept.
// The spans joined are the line. Time is linear in the line; of a line longer than
// maxLine only the start is coloured.
package lex

import (
	"strings"

	"alisio/agent/text"
)

// maxLine bounds, in bytes, what of one line is looked at: longer ones are generated or
// minified, and colours in them help nobody.
const maxLine = 4096

// State is what the lines so far left open. The zero value is the start of a text.
// States are compared with ==.
type State struct {
	in    uint8    // 1 + the index of the open quote of the language, or one of the modes
	sub   uint8    // of markup: what is open around in; of diffs: the header
	depth uint16   // nested comments, hashes of a raw string, indentation of a block
	level uint8    // open template literals around this place
	tpl   [6]uint8 // braces open in each of them
	old   int32    // lines of the hunk of a diff still to come, old side
	new   int32    // and new side
	word  string   // what ends a here-document or a raw string
}

// Modes of State.in beside open quotes.
const (
	inComment uint8 = 200 + iota
	inHeredoc
	inRaw   // a string that State.word ends
	inBlock // a block scalar of YAML, by indentation
)

// Lexer colours the lines of one language.
type Lexer struct{ lang *language }

// Lookup finds the lexer for a name as it stands behind a code fence: of a language, an
// alias, a file name or its extension, also with more behind it ("go title=x.go",
// "12:20:src/main.rs").
func Lookup(name string) (Lexer, bool) {
	if len(name) > 200 {
		return Lexer{}, false
	}
	fields := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == ' ' || r == ',' || r == ':' || r == '{' || r == '}' || r == '=' || r == '"'
	})
	for _, f := range fields {
		if l := find(f); l != nil {
			return Lexer{l}, l.names != plainNames
		}
	}
	return Lexer{}, false
}

// find is the language of one word.
func find(word string) *language {
	word = word[strings.LastIndexByte(word, '/')+1:]
	word = strings.TrimPrefix(word, "language-")
	for word != "" {
		for i := range languages {
			if has(languages[i].names, word) {
				return &languages[i]
			}
		}
		_, after, found := strings.Cut(word, ".")
		if !found {
			return nil
		}
		word = after
	}
	return nil
}

// Name is the language's first name.
func (l Lexer) Name() string {
	if l.lang == nil {
		return ""
	}
	return strings.Fields(l.lang.names)[0]
}

// Line colours one line, which has no newline, and gives the state for the next one.
// The zero Lexer leaves text plain.
func (l Lexer) Line(st State, line string) (State, text.Styled) {
	if l.lang == nil {
		return st, text.Unstyled(line)
	}
	head := text.Prefix(line, maxLine)
	s := scan{lang: l.lang, find: find, s: head, st: st, out: make(text.Styled, 0, 4+len(head)/5)}
	if l.lang.line != nil {
		l.lang.line(&s)
	} else {
		s.code()
	}
	s.to(len(head), text.Normal)
	if len(head) < len(line) {
		s.s = line
		s.to(len(line), text.Normal)
	}
	return s.st, s.out
}

// has reports whether a list of words, with blanks around each of them, has word. One
// search for the word with its blanks takes a tenth of the time that looking at each
// place takes where a short word begins.
func has(list, word string) bool {
	var key [32]byte
	if word == "" || len(word) > len(key)-2 || list == "" {
		return false
	}
	key[0] = ' '
	n := copy(key[1:], word) + 1
	key[n] = ' '
	return strings.Contains(list, string(key[:n+1]))
}
