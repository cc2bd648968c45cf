package resource

import (
	"errors"
	"fmt"
	"strings"
)

// maxExpanded bounds what comes of a template, in bytes: a placeholder can stand
// there thousands of times.
const maxExpanded = 1 << 20

// Expand puts arguments into the template, as they were typed behind its name.
// $ARGUMENTS is all of them, $1 to $9 are words, split as a shell does: quotes
// group, a backslash takes the next character as it is. A word that was not given is
// empty. Without any placeholder the arguments stand behind the text. What was put
// in is not looked at again. "$$", a number of more digits and a longer name are no
// placeholders.
func (t Template) Expand(args string) (string, error) {
	args = strings.TrimSpace(clean(args))
	words := splitWords(args)
	var b strings.Builder
	found, rest := false, t.body
	for {
		before, after, ok := strings.Cut(rest, "$")
		b.WriteString(before)
		if !ok {
			break
		}
		value, n := placeholder(after, args, words)
		if n > 0 {
			found = true
			b.WriteString(value)
		} else {
			n = copied(after)
			b.WriteString("$" + after[:n])
		}
		rest = after[n:]
		if b.Len() > maxExpanded {
			return "", t.tooLarge()
		}
	}
	if !found && args != "" {
		b.WriteString("\n\n" + args)
	}
	if b.Len() > maxExpanded {
		return "", t.tooLarge()
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

var errTooLarge = errors.New("with these arguments it is larger than 1 MiB")

func (t Template) tooLarge() error {
	return fmt.Errorf("expand template %s: %w", t.Name, errTooLarge)
}

// placeholder returns what stands for the placeholder whose text, behind the
// dollar, s begins with, and how much of s that is; 0 for none.
func placeholder(s, args string, words []string) (value string, n int) {
	const all = "ARGUMENTS"
	switch {
	case strings.HasPrefix(s, all) && !continues(s[len(all):]):
		return args, len(all)
	case s == "" || s[0] < '1' || s[0] > '9' || len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		return "", 0
	}
	if i := int(s[0] - '1'); i < len(words) {
		return words[i], 1
	}
	return "", 1
}

// continues reports whether a name goes on with s.
func continues(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= '0' && s[0] <= '9' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z')
}

// copied is how much behind a dollar that begins no placeholder is taken with it: a
// second one is none either.
func copied(s string) int {
	if strings.HasPrefix(s, "$") {
		return 1
	}
	return 0
}

// splitWords splits as a shell does, without expanding anything. A quote that is
// never closed is an apostrophe.
func splitWords(s string) []string {
	var words []string
	var word []byte
	inWord := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, string(word))
			}
			word, inWord = word[:0], false
			continue
		case c == '\\' && i+1 < len(s):
			i++
			word = append(word, s[i])
		case c == '\'' || c == '"':
			text, n := quoted(s[i:])
			word = append(word, text...)
			i += n - 1
		default:
			word = append(word, c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, string(word))
	}
	return words
}

// quoted returns the text of the quotes that s begins with, and how much of s they
// take. In double quotes a backslash takes a quote or a backslash as it is.
func quoted(s string) (text []byte, n int) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return text, i + 1
		case s[i] == '\\' && s[0] == '"' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		text = append(text, s[i])
	}
	return []byte{s[0]}, 1
}
