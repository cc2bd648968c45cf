package chatapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"alisio/llm"
	"alisio/llm/wire"
)

const (
	// maxCalls is how many calls one answer may hold.
	maxCalls = 1024
	// maxArguments bounds the arguments of all calls of an answer, in bytes, with
	// their names, ids and unknown keys.
	maxArguments = 64 << 20
	// maxName is the longest id or name of a call, in bytes.
	maxName = 256
)

// assembly puts tool calls together from fragments. A fragment belongs to a call
// by its id first, then by its index, then because that call was the last one
// opened:
//
//	id known                    → that call, unless both have an index and they differ
//	id new, slot has no id yet  → that call
//	id new                      → a new call, also at an index in use
//	no id, index known          → that call
//	no id, index new            → a new call
//	no id, no index             → the last call
//
// A fragment that names a tool and brings arguments for a call whose arguments
// are one whole object already opens a new call: no text can go on behind it.
// The place in a chunk's list is no index.
type assembly struct {
	slots []*slot // in order of arrival
	size  int     // bytes of all calls
}

// slot is one call in the making.
type slot struct {
	index *int
	id    string
	name  string
	args  []byte
	end   wire.Ending
	// cut: the arguments ended too early. The call does not go back.
	cut bool
	// extra are the keys of the call that this client does not know, verbatim;
	// servers want them back (Gemini's thought signatures).
	extra map[string]json.RawMessage
}

// fragment is one entry of a delta's tool_calls.
type fragment struct {
	index *int
	id    string
	name  string
	args  []byte
	extra map[string]json.RawMessage
	// later: it stands behind another one in the same chunk.
	later bool
}

// add takes a fragment. It reports whether the model got further by it: servers can
// repeat a call, or send nothing of it, for ever.
func (a *assembly) add(f fragment) (grown bool, err error) {
	f.trim()
	s := a.find(f)
	if s == nil {
		if f.id == "" && f.name == "" && len(f.args) == 0 {
			return false, nil // an empty entry opens nothing
		}
		if len(a.slots) == maxCalls {
			return false, wire.ErrCalls
		}
		s, grown = &slot{index: f.index}, true
		a.slots = append(a.slots, s)
	}
	a.size += len(f.args)
	for k, v := range f.extra {
		a.size += len(k) + len(v)
	}
	if a.size > maxArguments {
		return false, wire.ErrCalls
	}
	before := len(s.name) + len(s.args)
	a.size -= len(s.id) + len(s.name)
	s.take(f)
	a.size += len(s.id) + len(s.name)
	return grown || len(s.name)+len(s.args) > before, nil
}

// trim drops an id that is too long, as if none had come, and cuts a name. No
// tool has such a name.
func (f *fragment) trim() {
	if len(f.id) > maxName {
		f.id = ""
	}
	f.name = cutName(f.name)
}

// cutName copies what it keeps: the rest may be large.
func cutName(name string) string {
	if len(name) > maxName {
		return strings.Clone(name[:maxName])
	}
	return name
}

// find returns the call that f goes on with, or nil for a new one.
func (a *assembly) find(f fragment) *slot {
	byID, byIndex := a.lookup(f)
	s := byID
	switch {
	case f.id != "" && byID != nil:
		if f.index != nil && byID.index != nil && *f.index != *byID.index {
			s = byIndex // one id for several calls: the index tells them apart
			if s != nil && s.id != f.id {
				return nil
			}
		}
	case f.id != "":
		// A new id opens a call. A fragment without a name can not: some
		// servers make up an id for each fragment.
		if s = byIndex; s != nil && s.id != "" && (f.name != "" || s.end.Closed()) {
			return nil
		}
	case f.index != nil:
		if s = byIndex; s == nil && f.name == "" {
			s = a.lastWithoutIndex()
		}
	default:
		s = a.last()
		if s != nil && f.name != "" && (f.later || s.name != "" && s.name != f.name) {
			return nil
		}
	}
	if s != nil && s.end.Closed() && f.name != "" && len(bytes.TrimSpace(f.args)) > 0 && !f.repeats(s) {
		return nil
	}
	return s
}

// repeats reports whether f is the whole call s once more.
func (f *fragment) repeats(s *slot) bool {
	return f.id != "" && f.id == s.id && f.name == s.name && bytes.Equal(f.args, s.args)
}

// lookup finds the newest calls with the fragment's id and index.
func (a *assembly) lookup(f fragment) (byID, byIndex *slot) {
	for _, s := range a.slots {
		if f.id != "" && s.id == f.id {
			byID = s
		}
		if f.index != nil && s.index != nil && *s.index == *f.index {
			byIndex = s
		}
	}
	return byID, byIndex
}

func (a *assembly) last() *slot {
	if len(a.slots) == 0 {
		return nil
	}
	return a.slots[len(a.slots)-1]
}

func (a *assembly) lastWithoutIndex() *slot {
	if s := a.last(); s != nil && s.index == nil {
		return s
	}
	return nil
}

func (s *slot) take(f fragment) {
	if s.end.Closed() && f.repeats(s) {
		return
	}
	if s.index == nil {
		s.index = f.index
	}
	if s.id == "" {
		s.id = f.id
	}
	switch {
	case f.name == "" || f.name == s.name:
	case strings.HasPrefix(f.name, s.name):
		s.name = f.name // the whole name, or the name so far
	case len(s.args) == 0:
		s.name = cutName(s.name + f.name)
	}
	s.args = append(s.args, f.args...)
	s.end.Feed(f.args)
	for k, v := range f.extra {
		if s.extra == nil {
			s.extra = map[string]json.RawMessage{}
		}
		if _, known := s.extra[k]; known || len(s.extra) < wire.MaxKeys {
			s.extra[k] = wire.Kept(v)
		}
	}
}

// arguments is what the model sent. Nothing counts as no arguments, but not in an
// answer that was cut: it may have been cut before the first byte of them.
func (s *slot) arguments(truncated bool) string {
	if len(bytes.TrimSpace(s.args)) == 0 && !truncated {
		return "{}"
	}
	return strings.ToValidUTF8(string(s.args), "\uFFFD")
}

// whole reports whether all calls have a name and arguments that are one JSON
// value, which nothing is not.
func (a *assembly) whole() bool {
	for _, s := range a.slots {
		if s.name == "" || !json.Valid(s.args) {
			return false
		}
	}
	return true
}

// calls returns the calls. From here on each has an id that is its own within
// the answer, and is known to be cut or not.
func (a *assembly) calls(truncated bool) []llm.ToolCall {
	var calls []llm.ToolCall
	used := map[string]bool{}
	for _, s := range a.slots {
		for used[s.id] || !wire.FitID(s.id) {
			s.id = wire.NewID()
		}
		used[s.id] = true
		c := llm.ToolCall{ID: s.id, Name: strings.ToValidUTF8(s.name, "\uFFFD"), Arguments: s.arguments(truncated)}
		s.cut = wire.CutOff(c.Arguments, truncated)
		calls = append(calls, c)
	}
	return calls
}

// appendCalls appends tool_calls as they go back to the server, if there are any.
// Call calls first.
func (a *assembly) appendCalls(b []byte) []byte {
	next := `,"tool_calls":[`
	for _, s := range a.slots {
		if s.cut {
			continue
		}
		b = append(b, next...)
		next = ","
		b = append(b, `{"id":`...)
		b = wire.AppendString(b, s.id)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = wire.AppendString(b, s.name)
		b = append(b, `,"arguments":`...)
		b = wire.AppendString(b, s.arguments(false))
		b = append(b, '}')
		for _, k := range slices.Sorted(maps.Keys(s.extra)) {
			b = append(b, ',')
			b = wire.AppendString(b, k)
			b = append(b, ':')
			b = append(b, s.extra[k]...)
		}
		b = append(b, '}')
	}
	if next == "," {
		b = append(b, ']')
	}
	return b
}

// hasExtra reports whether a call that goes back has more than every server knows.
func (a *assembly) hasExtra() bool {
	return slices.ContainsFunc(a.slots, func(s *slot) bool { return len(s.extra) > 0 && !s.cut })
}

// readFragment decodes an entry of tool_calls, or a legacy function_call.
func readFragment(raw json.RawMessage) (fragment, bool) {
	keys, ok := wire.Fields(raw)
	if !ok {
		return fragment{}, false
	}
	f := fragment{id: wire.Text(keys["id"]), index: wire.Integer(keys["index"])}
	function := struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{keys["name"], keys["arguments"]}
	if inner := keys["function"]; wire.Present(inner) {
		if json.Unmarshal(inner, &function) != nil {
			return fragment{}, false
		}
	}
	f.name = wire.Text(function.Name)
	f.args = arguments(function.Arguments)
	for _, known := range []string{"id", "index", "type", "function", "name", "arguments"} {
		delete(keys, known)
	}
	f.extra = keys
	return f, true
}

// arguments takes a JSON string, or the arguments themselves as JSON.
func arguments(raw json.RawMessage) []byte {
	switch {
	case !wire.Present(raw):
		return nil
	case raw[0] == '"':
		return []byte(wire.Text(raw))
	}
	return raw
}
