package scripttest

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// word is an argument as written: pieces in which variables count, and quoted
// ones in which they do not.
type word []piece

type piece struct {
	text   string
	quoted bool
}

func (w word) plain() string {
	if len(w) == 1 && !w[0].quoted {
		return w[0].text
	}
	return ""
}

// split takes a line apart. A # where a word could begin starts a comment.
func split(line string) ([]word, error) {
	var words []word
	var w word
	var text strings.Builder
	quoted, inWord := false, false
	piecedUp := func() {
		if text.Len() > 0 || quoted {
			w = append(w, piece{text.String(), quoted})
			text.Reset()
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\'' && quoted && i+1 < len(line) && line[i+1] == '\'':
			text.WriteByte(c)
			i++
		case c == '\'':
			piecedUp()
			quoted, inWord = !quoted, true
		case quoted || c != ' ' && c != '\t' && (c != '#' || inWord):
			text.WriteByte(c)
			inWord = true
		case inWord:
			piecedUp()
			words, w, inWord = append(words, w), nil, false
		}
		if c == '#' && !inWord {
			break
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if piecedUp(); inWord {
		words = append(words, w)
	}
	return words, nil
}

// value replaces variables. In a pattern they stand for themselves.
func (s *script) value(w word, pattern bool) (string, error) {
	var b strings.Builder
	for _, p := range w {
		if p.quoted {
			b.WriteString(p.text)
			continue
		}
		text, err := s.expand(p.text, pattern)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (s *script) expand(text string, pattern bool) (string, error) {
	var err error
	out := os.Expand(text, func(name string) string {
		v, ok := s.env[name]
		if !ok {
			err = fmt.Errorf("no variable %q", name)
		}
		if pattern {
			return regexp.QuoteMeta(v)
		}
		return v
	})
	return out, err
}
