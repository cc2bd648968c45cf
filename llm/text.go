package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// minSecret is the shortest key that is looked for in texts, in bytes: what is
// shorter is no secret but a placeholder that would tear words apart.
const minSecret = 4

// Redact takes a key out of a text by its value, wherever it came from.
func Redact(text, key string) string {
	if len(key) < minSecret || !strings.Contains(text, key) {
		return text
	}
	out, held, gone := NewRedaction(key)([]byte(text), 0, false)
	return string(out) + text[len(text)-held+gone:]
}

// MayBegin returns how many bytes at the end of a text could be the beginning
// of a key: a text that arrives in pieces is shown without them until more of
// it is there.
func MayBegin(text []byte, key string) int {
	if len(key) < minSecret {
		return 0
	}
	for n := min(len(text), len(key)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == key[:n] {
			return n
		}
	}
	return 0
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
