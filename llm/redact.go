package llm

import (
	"bytes"
	"io"
	"strings"
)

// keyPart is how many bytes of a key's beginning are too many to be shown at the
// end of a text, which may have been cut there.
const keyPart = 8

// redacted stands where a key was.
const redacted = "[redacted]"

// RedactPart is Redact for a text that was cut out of a longer one: of a key that
// a cut went through, no more than a few bytes stay.
func RedactPart(text, key string) string {
	if len(key) < minSecret || len(text) < keyPart {
		return Redact(text, key)
	}
	if strings.Contains(key, text) {
		return redacted
	}
	// What is missing of such a key is put back, and the key is whole.
	if n := MayBegin([]byte(text), key); n >= keyPart {
		text += key[n:]
	}
	for n := min(len(text), len(key)-1); n >= keyPart; n-- {
		if strings.HasSuffix(key, text[:n]) {
			text = key[:len(key)-n] + text
			break
		}
	}
	return Redact(text, key)
}

// Masked is r with a mask over each key, of the same length, so that positions
// stay: neither where a read begins nor where it ends brings out a part of one.
func Masked(r io.ReaderAt, key string) io.ReaderAt {
	if len(key) < minSecret {
		return r
	}
	return masked{r, []byte(key)}
}

type masked struct {
	r   io.ReaderAt
	key []byte
}

// ReadAt looks as far around what is asked for as a key can reach.
func (m masked) ReadAt(p []byte, off int64) (int, error) {
	reach := len(m.key) - 1
	before := int(min(max(off, 0), int64(reach)))
	buf := make([]byte, before+len(p)+reach)
	n, err := m.r.ReadAt(buf, off-int64(before))
	m.mask(buf[:n])
	n = copy(p, buf[min(before, n):n])
	if n == len(p) {
		err = nil // It was met behind what is asked for.
	}
	return n, err
}

func (m masked) mask(b []byte) {
	var at []int // Masking the first could hide the next, which overlaps with it.
	for from := 0; ; from = at[len(at)-1] + 1 {
		n := bytes.Index(b[from:], m.key)
		if n < 0 {
			break
		}
		at = append(at, from+n)
	}
	for _, i := range at {
		copy(b[i:i+len(m.key)], redacted+strings.Repeat("*", len(m.key)))
	}
}

// Redaction takes a key out of a text that arrives in pieces.
//
// It returns what of text is certain: without the key, and without the held
// bytes at its end that may be the beginning of one. The next text has to begin
// with these, and is given gone: how many of them belonged to a key that was
// taken out already, since a key can begin in another one ("aXaXa"). With last
// nothing is held. The first call has gone zero.
//
// What is returned may be a part of text. It does not depend on how the text was
// cut, and it only grows: what a longer text gives begins with it.
type Redaction func(text []byte, gone int, last bool) (out []byte, held, still int)

// NewRedaction returns nil for what is no secret but a placeholder, as Redact
// leaves it alone.
func NewRedaction(key string) Redaction {
	if len(key) < minSecret {
		return nil
	}
	find := []byte(key)
	return func(text []byte, gone int, last bool) ([]byte, int, int) {
		held := MayBegin(text, key)
		if gone == 0 && !bytes.Contains(text, find) && (!last || held < keyPart) {
			if last {
				held = 0
			}
			return text[:len(text)-held], held, 0
		}
		var out []byte
		for from := 0; ; from++ {
			n := bytes.Index(text[from:], find)
			if n < 0 {
				break
			}
			if from += n; from >= gone {
				out = append(append(out, text[gone:from]...), redacted...)
			}
			gone = from + len(find)
		}
		end := len(text) - held
		if end > gone {
			out = append(out, text[gone:end]...)
			gone = end
		}
		switch {
		case !last:
			return out, held, gone - end
		case held < keyPart:
			out = append(out, text[gone:]...)
		case gone == end:
			out = append(out, redacted...)
		}
		return out, 0, 0
	}
}
