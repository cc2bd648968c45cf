package text

import "unicode/utf8"

// span is a closed range of code points.
type span struct{ lo, hi rune }

// removed are the code points above U+009F that never reach a screen or a
// model: they change the order of what stands around them, or carry text that
// no one sees.
var removed = [...]span{
	{0x061C, 0x061C},   // Arabic letter mark (bidi)
	{0x200E, 0x200F},   // left-to-right and right-to-left mark
	{0x202A, 0x202E},   // bidi embeddings and overrides
	{0x2066, 0x206F},   // bidi isolates, deprecated format characters
	{0xFFF9, 0xFFFB},   // interlinear annotation
	{0xE0000, 0xE0FFF}, // tags and further variation selectors: hidden text
}

// unseen are the code points above U+009F that a reader does not see or takes
// for a plain space: Default_Ignorable_Code_Point, the spaces (Zs) and line
// separators, and the blank Braille pattern.
var unseen = [...]span{
	{0x00A0, 0x00A0}, {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C},
	{0x115F, 0x1160}, {0x1680, 0x1680}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
	{0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800},
	{0x3000, 0x3000}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
	{0xE0000, 0xE0FFF},
}

// within reports whether r lies in one of the spans, which are in order.
func within(spans []span, r rune) bool {
	for _, s := range spans {
		if r <= s.hi {
			return r >= s.lo
		}
	}
	return false
}

// isControl reports a C0 or C1 control or DEL.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7F && r <= 0x9F }

// isRemoved reports whether r, which is no control, is dropped.
func isRemoved(r rune) bool {
	if r < 0x061C || r > 0x206F && r < 0xFFF9 {
		return false // most of the text of this world
	}
	return within(removed[:], r)
}

// Acts reports whether a character does something to the screen or to the order
// of the text around it, or ends a line for some readers: controls, newline and
// tab included, and what the Stripper drops.
func Acts(r rune) bool {
	return isControl(r) || r == '\u2028' || r == '\u2029' || isRemoved(r)
}

// isHidden reports whether a reader could overlook r, controls included.
func isHidden(r rune) bool {
	return isControl(r) || r >= unseen[0].lo && within(unseen[:], r)
}

// decode returns the first character of p and its length in bytes. Bytes that
// are no UTF-8 give utf8.RuneError and the length of the maximal subpart (The
// Unicode Standard 3.9, U+FFFD substitution): a character that was cut off
// counts once and never swallows or frees the byte after it. p is not empty.
func decode(p []byte) (r rune, size int, ok bool) {
	r, size = utf8.DecodeRune(p)
	if r != utf8.RuneError || size != 1 {
		return r, size, true
	}
	for size < len(p) && size < utf8.UTFMax && !utf8.FullRune(p[:size+1]) {
		size++
	}
	return r, size, false
}
