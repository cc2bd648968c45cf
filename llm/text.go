package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// minSecret is the shortest key that is looked for in texts, in bytes: what is
// shorter is no secret but a placeholder that would tear words apart.
const minSecret = 4

// Redact takes keys out of a text by their values, wherever they came from.
func Redact(text string, keys ...string) string {
	holds := func(key string) bool { return len(key) >= minSecret && strings.Contains(text, key) }
	if !slices.ContainsFunc(keys, holds) {
		return text
	}
	out, gone := without([]byte(text), 0, len(text), secrets(keys))
	return string(out) + text[gone:]
}

// MayBegin returns how many bytes at the end of a text could be the beginning
// of a key: a text that arrives in pieces is shown without them until more of
// it is there.
func MayBegin(text []byte, keys ...string) int {
	most := 0
	for _, key := range keys {
		if len(key) < minSecret {
			continue
		}
		for n := min(len(text), len(key)-1); n > most; n-- {
			if string(text[len(text)-n:]) == key[:n] {
				most = n
			}
		}
	}
	return most
}

// DecodeStrict reads exactly one JSON value: an unknown key, and anything that
// follows the value, are errors.
func DecodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text follows the JSON value")
	}
	return nil
}
