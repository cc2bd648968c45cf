package sse

import (
	"bytes"
	"encoding/json"
	"io"
)

const (
	// firstBuffer is the size of the line buffer at the start; it grows for
	// long lines alone.
	firstBuffer = 16 << 10
	// keepBuffer is the largest buffer that is kept when its content is used up; a
	// larger one stays only behind a line that needed it, since servers send
	// several such lines in a row.
	keepBuffer = 1 << 20
	// emptyReads is how often a source may return nothing and no error.
	emptyReads = 100
)

// lines cuts a byte stream into lines that end in LF, CRLF or CR. Lines are
// given out as offsets into buf, so that no line is copied.
//
//	buf:  … | held data | pos … unread … end | free
//
// Searches for line ends remember how far they came: the work is linear in the
// bytes, also for streams of CR alone and for lines that arrive in pieces.
type lines struct {
	src io.Reader
	max int
	err error // of src, or *TooLongError; stays

	buf      []byte
	pos, end int
	lf, cr   int  // no LF in buf[pos:lf], no CR in buf[pos:cr]
	skipLF   bool // the last line ended in CR: an LF that follows belongs to it

	long     bool // a line that a small buffer would not hold has come since all was used up
	from, to int  // bytes to keep over a fill, when holds
	holds    bool
}

// next takes the next whole line of the buffer. A CR ends a line at once:
// waiting for an LF behind it would delay the event.
func (l *lines) next() (lo, hi int, ok bool) {
	if _, failed := l.err.(*TooLongError); failed {
		return 0, 0, false
	}
	if l.skipLF && l.pos < l.end {
		l.skipLF = false
		if l.buf[l.pos] == '\n' {
			l.pos++
		}
	}
	l.lf = l.find('\n', max(l.lf, l.pos), l.end)
	l.cr = l.find('\r', max(l.cr, l.pos), l.lf)
	hi = l.cr
	if l.cr == l.lf {
		if l.lf == l.end {
			l.limit(l.end)
			return 0, 0, false
		}
	} else {
		l.skipLF = true
	}
	if !l.limit(hi) {
		return 0, 0, false
	}
	lo, l.pos = l.pos, hi+1
	l.long = l.long || hi-lo > keepBuffer/2
	return lo, hi, true
}

// find returns the index of c in buf[from:to], or to.
func (l *lines) find(c byte, from, to int) int {
	if i := bytes.IndexByte(l.buf[from:to], c); i >= 0 {
		return from + i
	}
	return to
}

// limit fails the stream when the line up to hi is too long.
func (l *lines) limit(hi int) bool {
	if hi-l.pos <= l.max {
		return true
	}
	l.fail(&TooLongError{What: "line", Max: l.max})
	return false
}

func (l *lines) fail(err error) { l.err = err }

// last takes an unfinished line at the end of the stream.
func (l *lines) last() (lo, hi int, ok bool) {
	lo, hi = l.pos, l.end
	l.pos = l.end
	return lo, hi, lo < hi
}

// hold keeps buf[lo:hi] over fills until release.
func (l *lines) hold(lo, hi int) { l.from, l.to, l.holds = lo, hi, true }

func (l *lines) release() { l.holds = false }

func (l *lines) held() []byte { return l.buf[l.from:l.to] }

// fill reads once, after making room. What earlier events pointed to may be
// overwritten.
func (l *lines) fill() {
	l.makeRoom()
	for range emptyReads {
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

func (l *lines) makeRoom() {
	keep := l.pos
	if l.holds {
		keep = l.from
	}
	if keep == l.end && len(l.buf) > keepBuffer {
		if !l.long {
			l.buf = nil
		}
		l.long = false
	}
	used := l.end - keep
	switch {
	case len(l.buf) == 0:
		l.buf = make([]byte, firstBuffer)
	case l.end < len(l.buf) && used > 0:
		return
	case used > len(l.buf)/2:
		bigger := make([]byte, 2*len(l.buf))
		copy(bigger, l.buf[keep:l.end])
		l.buf = bigger
	default:
		copy(l.buf, l.buf[keep:l.end])
	}
	l.lf, l.cr = max(l.lf, l.pos)-keep, max(l.cr, l.pos)-keep
	l.pos, l.end = l.pos-keep, used
	l.from, l.to = l.from-keep, l.to-keep
}

// whole reports whether data is the end mark of model APIs, or one JSON object
// or array.
func whole(data []byte) bool {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		return true
	}
	return len(data) > 0 && (data[0] == '{' || data[0] == '[') && json.Valid(data)
}
