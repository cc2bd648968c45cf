package chatapi

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
)

const (
	// maxNarrow is the longest chunk that encoding/json takes apart alone, in
	// bytes: its choices can cost a hundred times as much.
	maxNarrow = 64 << 10
	// maxChoices is how many choices of a longer one are looked at; one was asked
	// for.
	maxChoices = 128
	// maxParts is how many parts of content, or pieces of reasoning_details, one
	// chunk may hold.
	maxParts = 1 << 16
	// maxKeys is how many keys a call or a reasoning item may have.
	maxKeys = 64
)

// split cuts an array or object into its entries, of an object with their keys.
// The entries are pieces of raw, so that a list of many small ones costs little
// more than its text; who keeps one copies it. Past limit entries it stops and
// reports false. raw is valid JSON.
func split(raw []byte, limit int) (entries []json.RawMessage, ok bool) {
	depth, from, quoted := 0, 1, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			quoted = !quoted
			continue
		case quoted:
			continue
		case c == '[' || c == '{':
			depth++
			continue
		case c == ']' || c == '}':
			depth--
		}
		if depth == 0 || depth == 1 && raw[i] == ',' {
			entry := bytes.TrimSpace(raw[from:i])
			from = i + 1
			if len(entries) == limit && len(entry) > 0 {
				return entries, false
			}
			if len(entry) > 0 {
				entries = append(entries, entry)
			}
		}
		if depth == 0 {
			break
		}
	}
	return entries, true
}

// elements returns the entries of an array, none for anything else.
func elements(raw []byte, limit int) (entries []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, true
	}
	return split(raw, limit)
}

// fields returns the keys and values of an object as pieces of raw. It reports
// false for what is none, and for one with more than maxKeys keys.
func fields(raw []byte) (map[string]json.RawMessage, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	entries, ok := split(raw, maxKeys)
	if !ok {
		return nil, false
	}
	keys := make(map[string]json.RawMessage, len(entries))
	for _, e := range entries {
		end := 1
		for ; e[end] != '"'; end++ {
			if e[end] == '\\' {
				end++
			}
		}
		_, value, _ := bytes.Cut(e[end:], []byte(":"))
		keys[text(e[:end+1])] = bytes.TrimSpace(value)
	}
	return keys, true
}

// kept copies raw JSON that will go back to a server. Escapes of lone surrogates
// become \ufffd, since servers refuse bodies with them; nothing else changes.
func kept(raw json.RawMessage) json.RawMessage {
	b := bytes.Clone(raw)
	w := walker{b: b}
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if i++; b[i] != 'u' {
			continue
		}
		w.i, w.scratch = i+1, w.scratch[:0]
		if r, ok := w.hex4(); !ok || !utf16.IsSurrogate(r) {
			continue
		}
		if w.i = i + 1; w.unicode() {
			i += 10 // a pair
			continue
		}
		copy(b[i+1:], "fffd")
	}
	return b
}
