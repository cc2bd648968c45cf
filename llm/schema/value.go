package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep a JSON value may nest, schema or arguments.
const maxDepth = 128

// maxNumber is the longest number that is read, in bytes: comparing digits
// must cost little.
const maxNumber = 1000

// kind is a JSON type, as a bit, so that a schema's types are a set.
type kind uint8

const (
	null kind = 1 << iota
	boolean
	number
	text
	array
	object
)

// String names the kind as JSON Schema does.
func (k kind) String() string {
	switch k {
	case null:
		return "null"
	case boolean:
		return "boolean"
	case number:
		return "number"
	case text:
		return "string"
	case array:
		return "array"
	}
	return "object"
}

// value is parsed JSON that keeps the bytes of its scalars: digits of large
// numbers and odd escapes come out as they went in.
type value struct {
	kind    kind
	raw     []byte // of scalars
	items   []value
	members []member
}

type member struct {
	name  string
	raw   []byte // the name as it was written, quotes included
	value value
}

// parse reads one JSON value. Of members with the same name the last wins, at
// the place of the first.
func parse(data []byte) (value, error) {
	v, _, err := scan(data)
	return v, err
}

// scan is parse, and returns the first name that an object says twice as well,
// if there is one.
func scan(data []byte) (v value, twice *string, err error) {
	if !json.Valid(data) {
		var probe json.RawMessage
		err := json.Unmarshal(data, &probe)
		if err == nil {
			err = errors.New("invalid JSON")
		}
		return value{}, nil, err
	}
	s := scanner{data: data}
	v = s.value(0)
	return v, s.twice, s.err
}

// scanner walks JSON that is known to be valid, which is why it looks so
// carefree: every bracket has its partner, every string its end.
type scanner struct {
	data []byte
	pos  int
	// err is a bound that was met; the walk ends with it.
	err error
	// twice is the first name that an object says twice.
	twice *string
}

// next skips white space and separators, and returns the byte that follows.
func (s *scanner) next() byte {
	for strings.IndexByte(" \t\r\n,:", s.data[s.pos]) >= 0 {
		s.pos++
	}
	return s.data[s.pos]
}

// value reads the value at hand. After a bound was met it returns null and
// moves no further; the loops above it end on err.
func (s *scanner) value(depth int) value {
	if depth > maxDepth {
		s.err = fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if s.err != nil {
		return value{kind: null}
	}
	switch c := s.next(); c {
	case '{':
		return s.object(depth)
	case '[':
		v := value{kind: array}
		for s.pos++; s.next() != ']' && s.err == nil; {
			v.items = append(v.items, s.value(depth+1))
		}
		s.pos++
		return v
	case '"':
		return value{kind: text, raw: s.text()}
	default:
		start := s.pos
		for s.pos < len(s.data) && strings.IndexByte(" \t\r\n,:]}", s.data[s.pos]) < 0 {
			s.pos++
		}
		if s.pos-start > maxNumber {
			s.err = fmt.Errorf("a number of more than %d characters", maxNumber)
		}
		v := value{kind: number, raw: s.data[start:s.pos]}
		switch c {
		case 't', 'f':
			v.kind = boolean
		case 'n':
			v.kind = null
		}
		return v
	}
}

// object keeps the order in which names were first seen, so that problems are
// told in the order that the model wrote.
func (s *scanner) object(depth int) value {
	v := value{kind: object}
	at := map[string]int{}
	for s.pos++; s.next() != '}' && s.err == nil; {
		m := member{raw: s.text()}
		m.name = decode(m.raw)
		m.value = s.value(depth + 1)
		if i, twice := at[m.name]; twice {
			if s.twice == nil {
				s.twice = &m.name
			}
			v.members[i] = m
			continue
		}
		at[m.name] = len(v.members)
		v.members = append(v.members, m)
	}
	s.pos++
	return v
}

// text returns the bytes of the string at hand, quotes included.
func (s *scanner) text() []byte {
	start := s.pos
	for s.pos++; s.data[s.pos] != '"'; s.pos++ {
		if s.data[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
	return s.data[start:s.pos]
}

// decode returns the text of a valid JSON string. Bytes that are no UTF-8 and
// halves of surrogate pairs become U+FFFD there, never in what Repair returns.
func decode(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// encode returns s as a JSON string, without the escapes meant for HTML.
func encode(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always has a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// get returns the member called name. It looks at each member: callers that
// ask for many names pay for it from their budget.
func (v value) get(name string) (value, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// render appends v as compact JSON.
func (v value) render(b []byte) []byte {
	switch v.kind {
	case array:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.render(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, m.raw...), ':')
			b = m.value.render(b)
		}
		return append(b, '}')
	}
	return append(b, v.raw...)
}

// equal compares as JSON Schema does: numbers by value, objects without order.
func (v value) equal(w value) bool {
	if v.kind != w.kind || len(v.items) != len(w.items) || len(v.members) != len(w.members) {
		return false
	}
	switch v.kind {
	case number:
		return compare(string(v.raw), string(w.raw)) == 0
	case text:
		return bytes.Equal(v.raw, w.raw) || decode(v.raw) == decode(w.raw)
	case boolean:
		return v.raw[0] == w.raw[0]
	case array:
		for i := range v.items {
			if !v.items[i].equal(w.items[i]) {
				return false
			}
		}
	case object:
		other := make(map[string]value, len(w.members))
		for _, m := range w.members {
			other[m.name] = m.value
		}
		for _, m := range v.members {
			if o, ok := other[m.name]; !ok || !m.value.equal(o) {
				return false
			}
		}
	}
	return true
}

// maxShown is how much of a scalar a text repeats, in bytes.
const maxShown = 80

// describe says what v is, short and safe to print.
func (v value) describe() string {
	switch v.kind {
	case null:
		return "null"
	case array, object:
		return v.kind.String()
	}
	return v.kind.String() + " " + v.show()
}

// show returns a scalar as JSON, clipped, without anything that could draw on
// a terminal.
func (v value) show() string {
	switch v.kind {
	case text:
		return fmt.Sprintf("%q", clip(decode(v.raw)))
	case array, object:
		return v.kind.String()
	}
	return clip(string(v.raw))
}

// clip cuts s at a whole character and marks the cut.
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

// plain returns a name as it may be printed without quotes.
func plain(s string) string {
	s = clip(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		q := fmt.Sprintf("%q", s)
		return q[1 : len(q)-1]
	}
	return s
}
