package llm

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// keyPart is how many bytes of a key's beginning are too many to be shown at the
// end of a text, which may have been cut there.
const keyPart = 8

// redacted stands where a key was.
const redacted = "[redacted]"

// RedactPart is Redact for a text that was cut out of a longer one: of a key that
// a cut went through, no more than a few bytes stay.
func RedactPart(text string, keys ...string) string {
	for _, key := range secrets(keys) {
		text = redactPart(text, key)
	}
	return text
}

func redactPart(text, key string) string {
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

// secrets are the keys that are looked for, the longest first: what is left of a
// long one would not be found when a short one that it holds were gone.
func secrets(keys []string) []string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return len(key) < minSecret })
	slices.SortStableFunc(keys, func(a, b string) int { return len(b) - len(a) })
	return keys
}

// Masked is r with a mask over each key, of the same length, so that positions
// stay: neither where a read begins nor where it ends brings out a part of one.
func Masked(r io.ReaderAt, keys ...string) io.ReaderAt {
	if keys = secrets(keys); len(keys) == 0 {
		return r
	}
	return masked{r, keys}
}

type masked struct {
	r    io.ReaderAt
	keys []string // the longest first
}

// ReadAt looks as far around what is asked for as a key can reach.
func (m masked) ReadAt(p []byte, off int64) (int, error) {
	reach := len(m.keys[0]) - 1
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
	type place struct{ at, key int }
	var found []place // Masking the first could hide the next, which overlaps with it.
	for k, key := range m.keys {
		for from := 0; ; from++ {
			n := bytes.Index(b[from:], []byte(key))
			if n < 0 {
				break
			}
			from += n
			found = append(found, place{from, k})
		}
	}
	for _, p := range found {
		key := m.keys[p.key]
		copy(b[p.at:p.at+len(key)], redacted+strings.Repeat("*", len(key)))
	}
}

// Redaction takes keys out of a text that arrives in pieces.
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
func NewRedaction(keys ...string) Redaction {
	if keys = secrets(keys); len(keys) == 0 {
		return nil
	}
	return func(text []byte, gone int, last bool) ([]byte, int, int) {
		held := MayBegin(text, keys...)
		end := len(text) - held
		// What is whole in the held bytes may be a part of a longer key: it waits.
		wait := end
		if last && held < keyPart {
			wait = len(text)
		}
		out, gone := without(text, gone, wait, keys)
		if out == nil && gone == 0 && (!last || held < keyPart) {
			return text[:wait], len(text) - wait, 0
		}
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

// without takes out the keys that begin before wait; gone is how much of the
// text is in out, or was in a key, and the same on return.
func without(text []byte, gone, wait int, keys []string) (out []byte, _ int) {
	find := finder{text: text, keys: keys}
	for at, size := find.next(0); at >= 0 && at < wait; at, size = find.next(at + 1) {
		if at >= gone {
			out = append(append(out, text[gone:at]...), redacted...)
		}
		gone = max(gone, at+size)
	}
	return out, gone
}

// finder looks for several keys in one text, and passes over it once for each.
type finder struct {
	text []byte
	keys []string // the longest first
	// ahead is where each key is met next, the text's length for nowhere; nil
	// before the first look.
	ahead []int
}

// next returns where a key begins at or behind from, and its length, that of the
// longest which begins there; -1 when there is none. From never falls.
func (f *finder) next(from int) (at, size int) {
	if f.ahead == nil {
		f.ahead = make([]int, len(f.keys))
		for k := range f.ahead {
			f.ahead[k] = -1
		}
	}
	at = -1
	for k, key := range f.keys {
		if f.ahead[k] < from {
			f.ahead[k] = len(f.text)
			if n := bytes.Index(f.text[min(from, len(f.text)):], []byte(key)); n >= 0 {
				f.ahead[k] = from + n
			}
		}
		if n := f.ahead[k]; n < len(f.text) && (at < 0 || n < at) {
			at, size = n, len(key)
		}
	}
	return at, size
}
