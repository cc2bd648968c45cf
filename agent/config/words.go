package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// position returns line and column of a byte offset, both from 1; the column
// counts characters.
func (s *source) position(offset int) (line, column int) {
	before := s.data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// origin names a place for people: "/path/config.json:12", or the label.
func (s *source) origin(offset int) string {
	if s.file == "" {
		return s.label
	}
	line, _ := s.position(offset)
	return fmt.Sprintf("%s:%d", s.file, line)
}

const wantValue = "a value"

// wanted is what encoding/json wants where it says, of another character, what
// an error ends in.
func wanted(says string) string {
	for _, w := range [...]struct{ end, want string }{
		{"looking for beginning of object key string", `a key in double quotes or "}"`},
		{"after object key", `":"`},
		{"after object key:value pair", `"," or "}"`},
		{"after array element", `"," or "]"`},
		{"after top-level value", "the end of the file"},
	} {
		if strings.HasSuffix(says, w.end) {
			return w.want
		}
	}
	return wantValue
}

// wrong says what encoding/json does not take of a text, and where. start is that
// of the token in which, or before which, it gave up.
func wrong(text []byte, start int) (offset int, what string) {
	var bad *json.SyntaxError
	// Behind the NUL, which fits nowhere, the end is a character like any other.
	if !errors.As(json.Unmarshal(append(text[:len(text):len(text)], 0), new(json.RawMessage)), &bad) {
		return start, "found no JSON"
	}
	at, says := int(bad.Offset)-1, bad.Error()
	inString := strings.HasSuffix(says, "in string literal")
	inEscape := strings.HasSuffix(says, " escape") || strings.HasSuffix(says, " escape code")
	switch {
	case (inString || inEscape) && at == len(text):
		return start, "found a string without an end"
	case inString:
		return at, fmt.Sprintf("found a control character in a string, write it as \\u%04x", text[at])
	case inEscape:
		return start, "found a string with an unknown escape after \\"
	}
	want := wanted(says)
	from, rest := len(bytes.TrimRightFunc(text[:at], inWord)), bytes.TrimLeftFunc(text[at:], inWord)
	word := text[from : len(text)-len(rest)]
	if len(word) > 0 && (from < at || want == wantValue) && !json.Valid(word) {
		return from, fmt.Sprintf("found %s, expected %s", quote(string(word)), wantValue)
	}
	return at, unexpected(text[at:], want)
}

// unexpected says what a text begins with in place of what was wanted.
func unexpected(text []byte, want string) string {
	if len(text) == 0 {
		return "found the end of the file, expected " + want
	}
	r, _ := utf8.DecodeRune(text)
	return fmt.Sprintf("found %q, expected %s", string(r), want)
}

// inWord: numbers, true, false, null and what somebody takes for one are made of it.
func inWord(r rune) bool { return strings.ContainsRune("+-.", r) || r < 0x80 && alphanumeric(byte(r)) }

// describe says what was found, short and safe to print.
func (n node) describe() string {
	switch n.kind {
	case isString:
		return quote(n.text)
	case isArray:
		return "a list"
	case isObject:
		return "an object"
	}
	return clip(n.text)
}

// maxShown is how much of a found value an error repeats, in bytes.
const maxShown = 60

// quote quotes text for an error; nothing that could draw on a terminal
// stays in it.
func quote(s string) string { return fmt.Sprintf("%q", clip(s)) }

func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// meant ends an error about an unknown key with the nearest of its level (C166),
// else with the place where a key of this name belongs.
func (w *walker) meant(path, name string, level []string) string {
	parent := strings.TrimSuffix(path, name)
	if near, ok := Nearest(name, level); ok {
		return fmt.Sprintf(", did you mean %s?", quote(parent+near))
	}
	if i := slices.IndexFunc(w.rows, func(r row) bool { return strings.HasSuffix(r.key, "."+name) }); i >= 0 {
		return fmt.Sprintf(", did you mean %s?", quote(w.rows[i].key))
	}
	return ""
}

// Wrong is the error of who checks the value of a dotted key after Load, and like those
// of Load: with the file and the line where the key stands, or the nearest one above it
// that stands somewhere.
func (c Config) Wrong(key, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	for at := key; at != ""; at = at[:max(strings.LastIndexByte(at, '.'), 0)] {
		if n, ok := c.root.find(at); ok && n.src != nil {
			return n.src.errorf(n.start, "%w", err)
		}
	}
	return fmt.Errorf("read config: %w", err)
}

// suggest ends an error with the nearest known word.
func suggest(word string, known []string) string {
	if near, ok := Nearest(word, known); ok {
		return fmt.Sprintf(", did you mean %s?", quote(near))
	}
	return ""
}
