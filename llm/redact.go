package llm

import "bytes"

// keyPart is how many bytes of a key's beginning are too many to be shown at the
// end of a text, which may have been cut there.
const keyPart = 8

// redacted stands where a key was.
const redacted = "[redacted]"

// Stream takes a key out of a text that arrives in pieces.
//
// It returns what of text is certain: without the key, and without the held
// bytes at its end that may be the beginning of one. The next text has to begin
// with these, and is given gone: how many of them belonged to a key that was
// taken out already, since a key can begin in another one ("aXaXa"). With last
// nothing is held. The first call has gone zero.
//
// What is returned may be a part of text. It does not depend on how the text was
// cut, and it only grows: what a longer text gives begins with it.
type Stream func(text []byte, gone int, last bool) (out []byte, held, still int)

// NewStream returns nil for what is no secret but a placeholder, as Redact leaves
// it alone.
func NewStream(key string) Stream {
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
