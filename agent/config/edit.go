package config

// What is in this file writes text and decides nothing: rewrite compares what
// came of it with what was there.

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// steps splits a dotted key. A name that the file chooses may hold dots, so that
// the table says where it ends: before the known key that the whole ends in.
func steps(key string) []string {
	for _, r := range keys() {
		before, after, chosen := strings.Cut(r.key, "*")
		name, ok := strings.CutPrefix(key, before)
		if !chosen || !ok {
			continue
		}
		if after == "" { // a plugin: the rest is its own, but for this
			after = ".enabled"
		}
		if id, ok := strings.CutSuffix(name, after); ok {
			return append(append(strings.Split(strings.TrimSuffix(before, "."), "."), id), strings.Split(after[1:], ".")...)
		}
	}
	return strings.Split(key, ".")
}

// style is how a file is written.
type style struct {
	eol, unit, colon string
	// lines: objects that are made get a line for each member.
	lines bool
}

func styleOf(root node) style {
	data, s := root.src.data, style{eol: "\n", unit: "  ", colon: ": "}
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		s.eol = "\r\n"
	}
	s.lines = len(root.fields) == 0 || bytes.IndexByte(data[root.start:root.end], '\n') >= 0
	if len(root.fields) > 0 {
		first := root.fields[0]
		if space, alone := indent(data, first.start); alone && space != "" {
			s.unit = space
		}
		if data[first.value.start-1] == ':' {
			s.colon = ":"
		}
	}
	return s
}

// indent returns the white space that a line begins with, and whether nothing
// else stands before pos in it.
func indent(data []byte, pos int) (space string, alone bool) {
	line := data[bytes.LastIndexByte(data[:pos], '\n')+1 : pos]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// member renders a member, in as many objects as path has names, for a line with
// this indent.
func (s style) member(path []string, value []byte, indent string) string {
	name := string(jsonString(path[0])) + s.colon
	inner := indent + s.unit
	switch {
	case len(path) == 1:
		return name + s.value(value, indent)
	case s.lines:
		return name + "{" + s.eol + inner + s.member(path[1:], value, inner) + s.eol + indent + "}"
	}
	return name + "{" + s.member(path[1:], value, inner) + "}"
}

func (s style) value(value []byte, indent string) string {
	var b bytes.Buffer
	if value[0] == '{' && s.lines {
		json.Indent(&b, value, indent, s.unit) // valid, as Set has seen
		return strings.ReplaceAll(b.String(), "\n", s.eol)
	}
	json.Compact(&b, value)
	return b.String()
}

// put writes value at path, over what is there or as a new member.
func put(root node, path []string, value []byte) ([]byte, error) {
	data, s, n := root.src.data, styleOf(root), root
	for i, name := range path {
		v, ok := n.get(name)
		switch {
		case !ok:
			return s.insert(n, path[i:], value), nil
		case i == len(path)-1:
			space, _ := indent(data, v.start)
			return splice(data, v.start, v.end, s.value(value, space)), nil
		case v.kind != isObject:
			return nil, v.src.errorf(v.start, "%s: found %s, allowed: an object", quote(strings.Join(path[:i+1], ".")), v.describe())
		}
		n = v
	}
	return nil, errors.New("found no key")
}

// insert adds a member to the object n, after its last one and the comments on
// that one's line.
func (s style) insert(n node, path []string, value []byte) []byte {
	data := n.src.data
	space, _ := indent(data, n.start)
	if len(n.fields) == 0 {
		at, line := comments(data, n.start+1, false)
		if !s.lines && !line {
			return splice(data, at, at, s.member(path, value, space))
		}
		text := s.eol + space + s.unit + s.member(path, value, space+s.unit)
		if bytes.IndexByte(data[at:n.end], '\n') < 0 {
			text += s.eol + space
		}
		return splice(data, at, at, text)
	}
	last := n.fields[len(n.fields)-1]
	end, comma := last.value.end, ""
	if p := next(data, end); data[p] == ',' {
		end, comma = p+1, ","
	}
	at, line := comments(data, end, true)
	inner, alone := indent(data, last.start)
	if !alone {
		inner = space + s.unit
	}
	text := " "
	switch {
	case alone || line:
		text = s.eol + inner
	case s.colon == ":" && at == end:
		text = ""
	}
	out := splice(data, at, at, text+s.member(path, value, inner)+comma)
	if comma == "" {
		return splice(out, end, end, ",")
	}
	return out
}

// remove takes the member at path out: with its comma, and with its line where
// nothing else stands in that. It returns nil when there is none.
func remove(root node, path []string) []byte {
	data, n, i := root.src.data, root, 0
	for depth, name := range path {
		for i = 0; i < len(n.fields) && n.fields[i].name != name; i++ {
		}
		if i == len(n.fields) {
			return nil
		}
		if depth < len(path)-1 {
			n = n.fields[i].value
		}
	}
	from, to := n.fields[i].start, n.fields[i].value.end
	space, alone := indent(data, from)
	p := next(data, to)
	if data[p] == ',' {
		data = splice(data, p, p+1, "")
	}
	blank := len(data[to:]) - len(bytes.TrimLeft(data[to:], " \t"))
	rest := data[to+blank:]
	switch eol := bytes.IndexByte(rest, '\n'); {
	case alone && eol >= 0 && len(bytes.TrimRight(rest[:eol], "\r")) == 0:
		from, to = from-len(space), to+blank+eol+1
	case !alone && p < len(root.src.data) && root.src.data[p] == ',':
		to += blank
	case !alone:
		from -= len(data[:from]) - len(bytes.TrimRight(data[:from], " \t"))
	}
	data = splice(data, from, to, "")
	if i > 0 && root.src.data[p] != ',' {
		q := next(data, n.fields[i-1].value.end)
		if data[q] == ',' {
			data = splice(data, q, q+1, "")
		}
	}
	return data
}

// splice returns data with other text between from and to.
func splice(data []byte, from, to int, text string) []byte {
	return bytes.Join([][]byte{data[:from], []byte(text), data[to:]}, nil)
}

// next is where the next token begins, in a text that was parsed.
func next(data []byte, from int) int {
	at, _ := comments(data, from, false)
	return len(data) - len(bytes.TrimLeft(data[at:], blanks))
}

// comments is where the last comment after from ends, from itself without one;
// sameLine: the last that begins in this line. line tells that it ends with its
// line.
func comments(data []byte, from int, sameLine bool) (at int, line bool) {
	cutset := blanks
	if sameLine {
		cutset = " \t"
	}
	for at = from; ; {
		rest := bytes.TrimLeft(data[at:], cutset)
		start := len(data) - len(rest)
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			text, _, _ := bytes.Cut(rest, []byte("\n"))
			at, line = start+len(bytes.TrimRight(text, "\r")), true
			if sameLine {
				return at, line
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			at, line = start+bytes.Index(rest[2:], []byte("*/"))+4, false
		default:
			return at, line
		}
	}
}
