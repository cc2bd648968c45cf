package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
)

// MaxKeys is how many keys an object may have that is taken apart and kept.
const MaxKeys = 64

// Split cuts an array or object into its entries, of an object with their keys.
// The entries are pieces of raw, so that a list of many small ones costs little
// more than its text; who keeps one copies it. Past limit entries it stops and
// reports false. raw is valid JSON.
func Split(raw []byte, limit int) (entries []json.RawMessage, ok bool) {
	depth, from := 0, 1
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = PastString(raw, i) - 1
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

// Elements returns the entries of an array, none for anything else.
func Elements(raw []byte, limit int) (entries []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, true
	}
	return Split(raw, limit)
}

// Fields returns the keys and values of an object as pieces of raw. It reports
// false for what is none, and for one with more than MaxKeys keys.
func Fields(raw []byte) (map[string]json.RawMessage, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	entries, ok := Split(raw, MaxKeys)
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
		keys[Text(e[:end+1])] = bytes.TrimSpace(value)
	}
	return keys, true
}

// Kept copies raw JSON that will go back to a server. Escapes of lone surrogates
// become \ufffd, since servers refuse bodies with them; nothing else changes.
func Kept(raw json.RawMessage) json.RawMessage {
	b := bytes.Clone(raw)
	s := Scanner{b: b}
	for i := 0; i < len(b); i++ {
		next := bytes.IndexByte(b[i:], '\\')
		if next < 0 || i+next+1 == len(b) {
			break
		}
		if i += next + 1; b[i] != 'u' {
			continue
		}
		s.i, s.scratch = i+1, s.scratch[:0]
		if r, ok := s.hex4(); !ok || !utf16.IsSurrogate(r) {
			continue
		}
		if s.i = i + 1; s.unicode() {
			i += 10 // a pair
			continue
		}
		copy(b[i+1:], "fffd")
	}
	return b
}
