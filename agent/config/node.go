package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// kind is the JSON type of a node.
type kind uint8

const (
	isNull kind = iota
	isBool
	isNumber
	isString
	isArray
	isObject
)

// node is a JSON value that knows where it stands. A value from the
// environment or a flag is a node too, so that every value is checked by the
// same rules.
type node struct {
	kind kind
	src  *source
	// start and end are the byte offsets of the value in src.data. A rewrite
	// that keeps comments replaces exactly these bytes.
	start, end int
	// text is the decoded string, or the literal of a number or a word.
	text   string
	fields []field
	items  []node
	// adds: an array whose items join those of the layer below.
	adds bool
}

// field is a member of an object.
type field struct {
	name string
	// start is the byte offset of the name.
	start int
	value node
}

// get returns the member called name.
func (n node) get(name string) (node, bool) {
	for _, f := range n.fields {
		if f.name == name {
			return f.value, true
		}
	}
	return node{}, false
}

// find returns the value of a dotted key. A name may hold dots itself
// ("models.gpt-4.1.effort"), so every member that the key starts with is tried.
func (n node) find(key string) (node, bool) {
	for _, f := range n.fields {
		if f.name == key {
			return f.value, true
		}
		rest, ok := strings.CutPrefix(key, f.name+".")
		if !ok {
			continue
		}
		if v, ok := f.value.find(rest); ok {
			return v, true
		}
	}
	return node{}, false
}

// json renders the value without comments and trailing commas. What stands in a
// file is JSON already.
func (n node) json() []byte {
	switch {
	case n.kind == isArray:
		items := make([][]byte, len(n.items))
		for i, v := range n.items {
			items[i] = v.json()
		}
		return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	case n.kind == isObject:
		members := make([][]byte, len(n.fields))
		for i, f := range n.fields {
			members[i] = slices.Concat(jsonString(f.name), []byte(":"), f.value.json())
		}
		return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
	case n.end > 0:
		return n.src.data[n.start:n.end]
	case n.kind == isString:
		return jsonString(n.text)
	}
	return []byte(n.text)
}

// jsonString is s as a JSON string.
func jsonString(s string) []byte {
	q, _ := json.Marshal(s) // a string always has a JSON form
	return q
}

// resolved is the path in a string, which is relative to where it stands.
func (n node) resolved() string {
	if filepath.IsAbs(n.text) {
		return filepath.Clean(n.text)
	}
	return filepath.Join(n.src.dir, n.text)
}

// nest puts v into objects, one in the other.
func nest(v node, path ...string) node {
	for _, name := range slices.Backward(path) {
		v = node{kind: isObject, src: v.src, fields: []field{{name: name, value: v}}}
	}
	return v
}

// merge lays b over a: objects merge key by key, everything else is replaced.
func merge(a, b node) node {
	switch {
	case b.adds && a.kind == isArray && len(a.items) > 0:
		a.items = append(a.items[:len(a.items):len(a.items)], b.items...)
		return a
	case a.kind != isObject || b.kind != isObject:
		return b
	}
	out := a
	out.fields = append([]field(nil), a.fields...)
next:
	for _, f := range b.fields {
		for i := range out.fields {
			if out.fields[i].name == f.name {
				out.fields[i] = field{f.name, f.start, merge(out.fields[i].value, f.value)}
				continue next
			}
		}
		out.fields = append(out.fields, f)
	}
	return out
}

// leaves calls visit for every value that is no object with members.
func (n node) leaves(key string, visit func(key string, v node)) {
	for _, f := range n.fields {
		if sub := join(key, f.name); f.value.kind == isObject && len(f.value.fields) > 0 {
			f.value.leaves(sub, visit)
		} else {
			visit(sub, f.value)
		}
	}
}
