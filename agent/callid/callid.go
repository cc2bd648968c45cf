// Package callid has the ids of calls be ones that the journal, a message and every server
// hold as they are, and that a session never used before (spec runner.md, "Ids").
package callid

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/llm"
)

// random is nine random alphanumerics, the form that every known server
// takes back.
func random() string { return rand.Text()[:9] }

// MaxChars bounds a call's id; the longest that is known has 64 characters.
const MaxChars = 128

// Fits reports whether an id comes back from the journal, from the message and
// from a server as it is.
func Fits(id string) bool {
	return id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= MaxChars && !strings.ContainsFunc(id, unicode.IsControl)
}

// Claim gives a fresh id to every call of an answer that has none that is fit
// or one that the session used already, in the provider's data too, before
// anything is stored. Those that it takes are in used then.
func Claim(m *llm.Message, used map[string]bool) {
	for i := range m.Calls {
		c := &m.Calls[i]
		if Fits(c.ID) && !used[c.ID] {
			used[c.ID] = true
			continue
		}
		old, fresh := c.ID, random()
		for used[fresh] {
			fresh = random()
		}
		c.ID, used[fresh] = fresh, true
		if len(m.ProviderData) == 0 {
			continue
		}
		if old == "" || !utf8.ValidString(old) || strings.ContainsAny(old, `"\`) || sharesID(m.Calls, i, old) {
			// Nothing tells this call from others in the provider's data.
			m.ProviderData = nil
			continue
		}
		for j, item := range m.ProviderData {
			m.ProviderData[j] = renameID(item, old, fresh)
		}
	}
}

// sharesID reports whether an earlier call of the same answer has the id.
func sharesID(calls []llm.ToolCall, i int, id string) bool {
	for _, c := range calls[:i] {
		if c.ID == id {
			return true
		}
	}
	return false
}

// renameID replaces the string old where it is the value of a key that holds a
// call's id, and leaves every other byte as it was.
func renameID(item json.RawMessage, old, fresh string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(item))
	var out []byte
	done := 0
	var key string
	k := keys{}
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		s, isString := t.(string)
		isKey := k.step(t)
		switch {
		case isKey:
			key = s
		case isString && s == old && isIDKey(key):
			end := int(d.InputOffset())
			start := bytes.LastIndexByte(item[:end-1], '"')
			quoted, err := json.Marshal(fresh)
			if err != nil || start < done {
				continue
			}
			out = append(append(out, item[done:start]...), quoted...)
			done = end
		}
	}
	return append(out, item[done:]...)
}

func isIDKey(key string) bool {
	switch key {
	case "id", "call_id", "tool_call_id", "tool_use_id":
		return true
	}
	return false
}

// keys tells keys from values in a stream of JSON tokens: in an object they
// take turns.
type keys struct {
	stack []byte // '{' with a key next, ':' with a value next, '['
}

// step takes the next token and reports whether it is a key.
func (k *keys) step(t json.Token) bool {
	top := len(k.stack) - 1
	if d, ok := t.(json.Delim); ok {
		switch d {
		case '{', '[':
			k.value()
			k.stack = append(k.stack, byte(d))
		default:
			k.stack = k.stack[:top]
		}
		return false
	}
	if top >= 0 && k.stack[top] == '{' {
		k.stack[top] = ':'
		return true
	}
	k.value()
	return false
}

// value notes that a value stands where one was due.
func (k *keys) value() {
	if top := len(k.stack) - 1; top >= 0 && k.stack[top] == ':' {
		k.stack[top] = '{'
	}
}
