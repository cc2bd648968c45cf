package tools

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

const (
	// maxPlaces is how many places are counted before an edit that is not unique
	// is refused, maxReplaced how many replaceAll takes.
	maxPlaces   = 1000
	maxReplaced = 1_000_000
)

// edit replaces text in the bytes of a file. Bytes beside the replaced ones stay
// as they are: encoding, byte order mark, line ends, final newline. It refuses
// what it could not do without touching others, and what is not certain.
//
// A model writes line ends as LF. So the text is searched in a copy with LF
// alone, what is found is taken back to the places in the file, and new lines
// end as the lines end where they are put:
//
//	file → text → LF copy → places → back to the text → line ends → file
//
// Of the call it needs how a file may be shown, for the lines that an error quotes.
func edit(c *plug.Call, old []byte, a editArgs) (change, error) {
	head := old[:min(len(old), headSize)] // as read_file decides
	if kind := cmp.Or(llm.ImageType(head), binaryKind(head)); kind != "" {
		return change{}, fmt.Errorf("the file is binary (%s, %s), not text; use a program", kind, bytesText(int64(len(old))))
	}
	text, e, lossless := decode(old)
	if !lossless {
		return change{}, fmt.Errorf("the file is marked as %s, but parts of it are not valid, and an edit would change these too; use a program", e)
	}
	if e == otherText && (!isASCII(a.OldText) || !isASCII(a.NewText)) {
		return change{}, errors.New("the file is not UTF-8 (perhaps Latin-1, Shift-JIS or another old encoding): text that is not ASCII would leave two encodings in it; edit ASCII parts only, or convert the file with a program first")
	}
	find := lf([]byte(strings.TrimPrefix(a.OldText, "\uFEFF")))
	put := lf([]byte(strings.TrimPrefix(a.NewText, "\uFEFF")))
	if bytes.Equal(find, put) {
		return change{}, errors.New("oldText and newText are the same (line ends are kept as the file has them)")
	}
	if len(find) == 0 {
		return change{}, errors.New("oldText is empty")
	}
	flat := lf(text)
	at, find, put := places(flat, find, put, a.ReplaceAll)
	if len(at) == 0 {
		// The lines that the error shows are cut to size.
		masked := make([]byte, len(flat))
		n, _ := shown(c, bytes.NewReader(flat)).ReadAt(masked, 0) // Memory has no errors.
		flat = masked[:n]
	}
	if err := checkPlaces(flat, find, put, at, a.ReplaceAll, e); err != nil {
		return change{}, err
	}
	if size := len(text) + len(at)*(len(put)-len(find)); size > maxFile {
		return change{}, fmt.Errorf("the file would grow to more than %s", bytesText(maxFile))
	}
	after := replace(text, at, find, put)
	return change{
		data: e.encode(after), before: text, after: after,
		what: "edited " + count(len(at), "place") + ", " + lineList(flat, at),
	}, nil
}

// lf is b with CRLF turned to LF; b itself when there is none.
func lf(b []byte) []byte {
	if !bytes.Contains(b, []byte("\r\n")) {
		return b
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte{'\n'})
}

// places finds where find begins in flat. When one place is wanted, overlapping
// ones are found too, since these are as ambiguous as others. A last line
// without a newline is found with one, and stays without.
func places(flat, find, put []byte, all bool) (at []int, f, p []byte) {
	step, most := 1, maxPlaces
	if all {
		step, most = len(find), maxReplaced
	}
	for i := 0; len(at) <= most; {
		n := bytes.Index(flat[i:], find)
		if n < 0 {
			break
		}
		at = append(at, i+n)
		i += n + step
	}
	last := len(find) - 1
	if len(at) == 0 && last > 0 && find[last] == '\n' && bytes.HasSuffix(flat, find[:last]) {
		return []int{len(flat) - last}, find[:last], bytes.TrimSuffix(put, []byte{'\n'})
	}
	return at, find, put
}

// checkPlaces refuses an edit whose place is not certain.
func checkPlaces(flat, find, put []byte, at []int, all bool, e encoding) error {
	switch {
	case len(at) == 0:
		return errors.New(explainMiss(string(flat), string(find), string(put)))
	case len(at) > 1 && !all:
		return fmt.Errorf("oldText is not unique: it is found %s, %s; add lines around it until it is, or set replaceAll",
			times(len(at)), lineList(flat, at))
	case len(at) > maxReplaced:
		return fmt.Errorf("oldText is found more than %d times; use a program", maxReplaced)
	}
	for _, i := range at {
		// In Shift-JIS, GBK and Big5 an ASCII byte after such a byte can be the
		// second half of a character.
		if e == otherText && i > 0 && flat[i-1] >= utf8.RuneSelf {
			return errors.New("the file is not UTF-8 and oldText begins right behind a byte that is not ASCII, perhaps inside a character: begin it elsewhere")
		}
	}
	return nil
}

// times is a number of places; beyond maxPlaces nobody counted.
func times(n int) string {
	if n > maxPlaces {
		return fmt.Sprintf("more than %d times", maxPlaces)
	}
	return fmt.Sprintf("%d times", n)
}

// lineList names the lines of the first places: "lines 4, 17, 90".
func lineList(flat []byte, at []int) string {
	var b strings.Builder
	b.WriteString("line")
	if len(at) > 1 {
		b.WriteByte('s')
	}
	line, from := 1, 0
	for i, pos := range at {
		if i == 8 {
			b.WriteString(" …")
			break
		}
		line += bytes.Count(flat[from:pos], []byte{'\n'})
		from = pos
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d", line)
	}
	return b.String()
}

// replace puts new text in the places of the LF copy into the text itself. at is
// ascending and no two places overlap. text is not written to.
func replace(text []byte, at []int, find, put []byte) []byte {
	head := commonLines(find, put)
	tail := commonTail(find[head:], put[head:])
	from, put := len(find)-tail, put[head:len(put)-tail]
	bounds := make([]int, 0, 2*len(at))
	for _, i := range at {
		bounds = append(bounds, i+head, i+from)
	}
	bounds = origins(text, bounds)
	ends := lineEnds(text)
	out := make([]byte, 0, len(text)+len(at)*(len(put)+8))
	done := 0
	for i := 0; i < len(bounds); i += 2 {
		start, end := bounds[i], bounds[i+1]
		out = append(out, text[done:start]...)
		out = appendLines(out, put, ends, func() string { return endNear(text, start, end) })
		done = end
	}
	return append(out, text[done:]...)
}

// commonLines is the length of the whole lines with which both begin. Lines that
// an edit does not change are not written anew, so that they keep their ends.
func commonLines(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonTail is the same for the whole lines with which both end. The start of a
// or b counts as the start of a line, since what stands before it is equal too.
func commonTail(a, b []byte) int {
	tail := 0
	for n := 1; n <= len(a) && n <= len(b) && a[len(a)-n] == b[len(b)-n]; n++ {
		if starts(a, len(a)-n) && starts(b, len(b)-n) {
			tail = n
		}
	}
	return tail
}

// starts reports whether a line starts at i.
func starts(b []byte, i int) bool { return i == 0 || b[i-1] == '\n' }

// origins takes ascending offsets in the LF copy back to the text. An offset of
// a newline is that of the CR in front of it.
func origins(text []byte, offsets []int) []int {
	out := make([]int, len(offsets))
	removed, pos, i := 0, 0, 0
	for i < len(offsets) {
		n := bytes.Index(text[pos:], []byte("\r\n"))
		for i < len(offsets) && (n < 0 || offsets[i]+removed <= pos+n) {
			out[i] = offsets[i] + removed
			i++
		}
		pos += n + 2
		removed++
	}
	return out
}

// appendLines appends LF lines to out with the line end of the text, or, where it
// has several kinds and ends is empty, with the one that near finds. A last line
// without an end stays without.
func appendLines(out, put []byte, ends string, near func() string) []byte {
	if bytes.IndexByte(put, '\n') < 0 {
		return append(out, put...)
	}
	if ends == "" {
		ends = near()
	}
	for {
		line, rest, found := bytes.Cut(put, []byte{'\n'})
		out = append(out, line...)
		if !found {
			return out
		}
		out = append(out, ends...)
		put = rest
	}
}

// endNear is the line end of the replaced text, else of the line that it is in,
// else of the line before. It looks no further than 64 KiB.
func endNear(text []byte, start, end int) string {
	const reach = 64 << 10
	i := bytes.IndexByte(text[start:min(len(text), end+reach)], '\n')
	if i >= 0 {
		i += start
	} else {
		i = bytes.LastIndexByte(text[:start], '\n')
	}
	if i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
