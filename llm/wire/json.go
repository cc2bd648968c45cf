package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"

	"alisio/llm"
)

// Present reports whether a field was sent and is not null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Text decodes a JSON string; anything else is "".
func Text(raw json.RawMessage) string {
	if len(raw) > 1 && raw[0] == '"' && special(raw, 1) == len(raw)-1 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]) // nearly all are so plain
	}
	var s string
	if !Present(raw) || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Integer decodes a whole number, also one written as a string.
func Integer(raw json.RawMessage) *int {
	var n int
	if !Present(raw) {
		return nil
	}
	if json.Unmarshal(raw, &n) != nil && json.Unmarshal([]byte(Text(raw)), &n) != nil {
		return nil
	}
	return &n
}

// Count is a number of tokens, whatever a server writes for it: never negative,
// and zero when it is no number.
type Count int32

// UnmarshalJSON takes any JSON value.
func (n *Count) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) != nil && json.Unmarshal([]byte(Text(b)), &f) != nil {
		f = 0
	}
	*n = Count(max(0, min(f, math.MaxInt32/4)))
	return nil
}

// Usage makes a report what llm.Usage says that it is, whose cached tokens are part
// of the input and whose reasoning is part of the output; nil when it counts nothing.
func Usage(u llm.Usage) *llm.Usage {
	if u == (llm.Usage{}) {
		return nil
	}
	if u.Reasoning > u.Output {
		u.Output += u.Reasoning // a server that counts reasoning apart
	}
	u.CachedInput = min(u.CachedInput, u.Input)
	return &u
}

// Members ranges over the members of a JSON object in their order.
func Members(raw json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return
		}
		for d.More() {
			t, err := d.Token()
			key, ok := t.(string)
			var value json.RawMessage
			if err != nil || !ok || d.Decode(&value) != nil || !yield(key, value) {
				return
			}
		}
	}
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Invalid UTF-8, lone surrogates with
// it, becomes U+FFFD: servers refuse such bodies.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = append(b, s[from:i]...)
		b = appendEscape(b, r)
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendEscape appends one character that can not stand as it is.
func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case utf8.RuneError:
		return append(b, "\uFFFD"...)
	}
	return append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
}
