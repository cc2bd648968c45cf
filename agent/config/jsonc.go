package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists may nest.
const maxDepth = 64

// maxMembers is how many keys one object may hold: they are compared with each
// other when layers merge.
const maxMembers = 4096

// parser reads JSON with comments and trailing commas. It is a scanner that
// knows when it is in a string: nothing is cut out beforehand.
type parser struct {
	src   *source
	pos   int
	depth int
	// dups are duplicate keys: worth an error, no reason to stop.
	dups []error
}

// parse reads a whole file whose value must be an object. Several errors can
// come back: all duplicate keys, and the first thing that is no JSON.
func parse(src *source) (node, []error) {
	p := &parser{src: src}
	if bytes.HasPrefix(src.data, []byte("\xef\xbb\xbf")) {
		p.pos = 3
	}
	for i := p.pos; i < len(src.data); {
		r, n := utf8.DecodeRune(src.data[i:])
		if r == utf8.RuneError && n == 1 {
			return node{}, []error{src.errorf(i, "found a byte that is no UTF-8")}
		}
		i += n
	}
	n, err := p.document()
	if err != nil {
		return node{}, append(p.dups, err)
	}
	return n, p.dups
}

// document reads the one object that a file holds.
func (p *parser) document() (node, error) {
	if err := p.space(); err != nil {
		return node{}, err
	}
	if p.peek() != '{' {
		return node{}, p.unexpected(`"{"`)
	}
	n, err := p.value()
	if err != nil {
		return node{}, err
	}
	if err := p.space(); err != nil {
		return node{}, err
	}
	if p.pos < len(p.src.data) {
		return node{}, p.unexpected("the end of the file")
	}
	return n, nil
}

// peek returns the next byte, zero at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.src.data) {
		return p.src.data[p.pos]
	}
	return 0
}

// fail makes a syntax error at offset.
func (p *parser) fail(offset int, format string, args ...any) error {
	_, column := p.src.position(offset)
	return p.src.errorf(offset, "column %d: "+format, append([]any{column}, args...)...)
}

func (p *parser) unexpected(want string) error {
	if p.pos >= len(p.src.data) {
		return p.fail(p.pos, "found the end of the file, expected %s", want)
	}
	r, _ := utf8.DecodeRune(p.src.data[p.pos:])
	return p.fail(p.pos, "found %q, expected %s", string(r), want)
}

// space skips white space and comments.
func (p *parser) space() error {
	data := p.src.data
	for p.pos < len(data) {
		switch rest := data[p.pos:]; {
		case strings.IndexByte(" \t\r\n", data[p.pos]) >= 0:
			p.pos++
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.pos += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return p.fail(p.pos, "found a comment without an end")
			}
			p.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) value() (node, error) {
	switch p.peek() {
	case '{', '[':
		if p.depth == maxDepth {
			return node{}, p.fail(p.pos, "nested deeper than %d", maxDepth)
		}
		p.depth++
		defer func() { p.depth-- }()
		if p.peek() == '[' {
			return p.array()
		}
		return p.object()
	case '"':
		return p.str()
	}
	return p.literal()
}

func (p *parser) object() (node, error) {
	n := node{kind: isObject, src: p.src, start: p.pos}
	seen := map[string]bool{}
	err := p.members('}', func() error {
		if p.peek() != '"' {
			return p.unexpected(`a key in double quotes or "}"`)
		}
		name, err := p.str()
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.unexpected(`":"`)
		}
		p.pos++
		if err := p.space(); err != nil {
			return err
		}
		v, err := p.value()
		if err != nil {
			return err
		}
		if seen[name.text] && len(p.dups) <= maxErrors {
			p.dups = append(p.dups, p.src.errorf(name.start, "key %s stands twice in one object", quote(name.text)))
		}
		seen[name.text] = true
		if len(n.fields) == maxMembers {
			return p.fail(name.start, "more than %d keys in one object", maxMembers)
		}
		n.fields = append(n.fields, field{name.text, name.start, v})
		return nil
	})
	n.end = p.pos
	return n, err
}

func (p *parser) array() (node, error) {
	n := node{kind: isArray, src: p.src, start: p.pos}
	err := p.members(']', func() error {
		v, err := p.value()
		n.items = append(n.items, v)
		return err
	})
	n.end = p.pos
	return n, err
}

// members reads what stands between brackets: each member by one, commas
// between them and, if wanted, after the last.
func (p *parser) members(closing byte, one func() error) error {
	p.pos++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.pos++
			return nil
		}
		if err := one(); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case closing:
		default:
			return p.unexpected(`"," or ` + quote(string(closing)))
		}
	}
}

// str reads a string. The scan finds its end, the standard library decodes it.
func (p *parser) str() (node, error) {
	start, data := p.pos, p.src.data
	for i := start + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\':
			i++
		case c < ' ':
			return node{}, p.fail(i, "found a control character in a string, write it as \\u%04x", c)
		case c == '"':
			p.pos = i + 1
			n := node{kind: isString, src: p.src, start: start, end: p.pos}
			if json.Unmarshal(data[start:p.pos], &n.text) != nil {
				return node{}, p.fail(start, "found a string with an unknown escape after \\")
			}
			return n, nil
		}
	}
	return node{}, p.fail(start, "found a string without an end")
}

// literal reads a number, true, false or null.
func (p *parser) literal() (node, error) {
	start, data := p.pos, p.src.data
	for p.pos < len(data) && strings.IndexByte("+-.", data[p.pos]) >= 0 || alphanumeric(p.peek()) {
		p.pos++
	}
	n := node{kind: isNumber, src: p.src, start: start, end: p.pos, text: string(data[start:p.pos])}
	switch {
	case n.text == "":
		return node{}, p.unexpected("a value")
	case !json.Valid(data[start:p.pos]):
		return node{}, p.fail(start, "found %s, expected a value", quote(n.text))
	case n.text == "true" || n.text == "false":
		n.kind = isBool
	case n.text == "null":
		n.kind = isNull
	}
	return n, nil
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // a string always has a JSON form
	return append(b, q...)
}
