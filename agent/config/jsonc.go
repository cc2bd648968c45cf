package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth is how deep objects and lists may nest.
	maxDepth = 64
	// maxMembers is how many keys one object may hold: they are compared with
	// each other when layers merge.
	maxMembers = 4096

	blanks = " \t\r\n"
)

// parser builds nodes of what encoding/json reads in the text of a source, which
// is JSON with comments and trailing commas.
type parser struct {
	src *source
	// text is that of src after plain: each value is where it was.
	text []byte
	dec  *json.Decoder
	// dups are duplicate keys: worth an error, no reason to stop.
	dups []error
}

// parse reads a whole file whose value must be an object. Several errors can
// come back: all duplicate keys, and the first thing that is no JSON.
func parse(src *source) (node, []error) {
	for i, r := range string(src.data) {
		if r == utf8.RuneError && !bytes.HasPrefix(src.data[i:], []byte("\ufffd")) {
			return node{}, []error{src.errorf(i, "found a byte that is no UTF-8")}
		}
	}
	text, err := plain(src)
	if err != nil {
		return node{}, []error{err}
	}
	p := &parser{src: src, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	if first := bytes.TrimLeft(text, blanks); !bytes.HasPrefix(first, []byte("{")) {
		return node{}, []error{src.fail(len(text)-len(first), "%s", unexpected(first, `"{"`))}
	}
	n, err := p.value()
	if err == nil && len(bytes.TrimLeft(text[n.end:], blanks)) > 0 {
		err = p.refuse(n.end)
	}
	if err != nil {
		return node{}, append(p.dups, err)
	}
	return n, p.dups
}

// plain puts spaces in the place of comments, of trailing commas and of the mark
// that some editors begin a file with, and leaves strings as they are. Nothing in
// it nests deeper than maxDepth.
func plain(src *source) ([]byte, error) {
	text := bytes.Clone(src.data)
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		copy(text, "   ")
	}
	last, comma, depth := byte(0), -1, 0 // comma: of one that ends a member, and nothing came since
	for i, end := 0, 0; i < len(text); i = end {
		end = i + length(text[i:])
		switch c := text[i]; {
		case end == i:
			return nil, src.fail(i, "found a comment without an end")
		case c == '/' && end > i+1:
			copy(text[i:end], bytes.Repeat([]byte(" "), end-i))
			continue
		case strings.IndexByte(blanks, c) >= 0:
			continue
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return nil, src.fail(i, "nested deeper than %d", maxDepth)
			}
		case c == ']' || c == '}':
			if depth--; comma >= 0 {
				text[comma] = ' '
			}
		}
		comma = -1
		if text[i] == ',' && strings.IndexByte("\x00[{:,", last) < 0 {
			comma = i
		}
		last = text[i]
	}
	return text, nil
}

// length is that of the comment or string that a text begins with, 0 of a comment
// without an end. Anything else is taken byte by byte.
func length(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return len(line)
	case bytes.HasPrefix(text, []byte("/*")):
		_, rest, ended := bytes.Cut(text[2:], []byte("*/"))
		if !ended {
			return 0
		}
		return len(text) - len(rest)
	case text[0] == '"':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(text)
	}
	return 1
}

func (p *parser) value() (node, error) {
	n := node{src: p.src, start: p.next()}
	token, err := p.dec.Token()
	if err != nil {
		return n, p.refuse(n.start)
	}
	n.end = int(p.dec.InputOffset())
	n.text = string(p.text[n.start:n.end])
	switch t := token.(type) {
	case json.Delim:
		n.kind, n.text = isArray, ""
		if t == '{' {
			n.kind = isObject
		}
		return p.members(n)
	case string:
		n.kind, n.text = isString, t
	case json.Number:
		n.kind = isNumber
	case bool:
		n.kind = isBool
	}
	return n, nil
}

// members reads what stands between the brackets of a list or an object, and the
// second bracket.
func (p *parser) members(n node) (node, error) {
	seen := map[string]bool{}
	for p.dec.More() {
		var name node
		var err error
		if n.kind == isObject {
			if name, err = p.value(); err != nil {
				return n, err
			}
		}
		v, err := p.value()
		switch {
		case err != nil:
			return n, err
		case n.kind == isArray:
			n.items = append(n.items, v)
			continue
		case len(n.fields) == maxMembers:
			return n, p.src.fail(name.start, "more than %d keys in one object", maxMembers)
		case seen[name.text] && len(p.dups) <= maxErrors:
			p.dups = append(p.dups, p.src.errorf(name.start, "key %s stands twice in one object", quote(name.text)))
		}
		seen[name.text] = true
		n.fields = append(n.fields, field{name.text, name.start, v})
	}
	start := p.next()
	if _, err := p.dec.Token(); err != nil {
		return n, p.refuse(start)
	}
	n.end = start + 1
	return n, nil
}

// next is where the next token begins.
func (p *parser) next() int {
	return len(p.text) - len(bytes.TrimLeft(p.text[p.dec.InputOffset():], blanks+",:"))
}

// refuse tells of a text that encoding/json does not take from start on.
func (p *parser) refuse(start int) error {
	offset, what := wrong(p.text, start)
	return p.src.fail(offset, "%s", what)
}
