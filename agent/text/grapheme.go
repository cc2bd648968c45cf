package text

import (
	"iter"
	"unicode/utf8"
)

// class is Grapheme_Cluster_Break (UAX 29), with Extended_Pictographic and the
// values of Indic_Conjunct_Break as classes of their own. The generator knows
// this order.
type class uint8

const (
	other class = iota
	cr
	lf
	controlChar
	extend         // Extend, not InCB=Extend (ZWNJ)
	conjunctExtend // Extend and InCB=Extend
	linker         // Extend and InCB=Linker
	zwj
	spacingMark
	prepend
	regional
	hangulL
	hangulV
	hangulT
	hangulLV
	hangulLVT
	pictographic
	consonant // InCB=Consonant
)

// property is one entry of the tables: class | width<<5 | emoji<<7.
type property uint8

func (p property) class() class { return class(p & 0x1F) }
func (p property) width() int   { return int(p >> 5 & 3) }
func (p property) emoji() bool  { return p&0x80 != 0 }

// propertyOf looks r up. r is at most utf8.MaxRune and not negative.
func propertyOf(r rune) property {
	return property(blocks[int(blockIndex[r>>blockBits])<<blockBits|int(r&(1<<blockBits-1))])
}

// breaker finds the end of one cluster: it holds what the rules ask about the
// characters before a possible break.
type breaker struct {
	last   class
	flags  bool // an odd number of regional indicators (GB12, GB13)
	joins  bool // pictographic Extend* ZWJ (GB11)
	pict   bool // pictographic Extend*
	conj   bool // consonant [Extend Linker]* (GB9c)
	linked bool // with a linker in it
}

// add takes c into the cluster.
func (b *breaker) add(c class) {
	extends := c == extend || c == conjunctExtend || c == linker
	b.joins = b.pict && c == zwj
	b.pict = c == pictographic || b.pict && extends
	b.flags = c == regional && !b.flags
	inConjunct := c == conjunctExtend || c == linker || c == zwj
	b.linked = b.conj && inConjunct && (b.linked || c == linker)
	b.conj = c == consonant || b.conj && inConjunct
	b.last = c
}

// breaks reports whether there is a boundary before c (UAX 29, GB3 to GB999).
func (b *breaker) breaks(c class) bool {
	switch {
	case b.last == cr && c == lf: // GB3
		return false
	case b.last == cr || b.last == lf || b.last == controlChar: // GB4
		return true
	case c == cr || c == lf || c == controlChar: // GB5
		return true
	case c == extend || c == conjunctExtend || c == linker || c == zwj || c == spacingMark: // GB9, GB9a
		return false
	case b.last == prepend: // GB9b
		return false
	case c == consonant: // GB9c
		return !b.linked
	case c == pictographic: // GB11
		return !b.joins
	case c == regional: // GB12, GB13
		return !b.flags
	}
	switch b.last { // GB6, GB7, GB8
	case hangulL:
		return c != hangulL && c != hangulV && c != hangulLV && c != hangulLVT
	case hangulV, hangulLV:
		return c != hangulV && c != hangulT
	case hangulT, hangulLVT:
		return c != hangulT
	}
	return true
}

// First gives the length in bytes of the first grapheme cluster of s and its
// width in cells. Of an empty s both are 0. A byte that is no UTF-8 is a
// cluster of its own, one cell wide.
func First(s string) (size, width int) {
	if s == "" {
		return 0, 0
	}
	if isASCII(s[0]) && (len(s) == 1 || isASCII(s[1])) {
		return 1, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	p := propertyOf(r)
	m := measure{base: p, width: p.width()}
	var b breaker
	b.add(p.class())
	for size = n; size < len(s); size += n {
		r, n = utf8.DecodeRuneInString(s[size:])
		p = propertyOf(r)
		if b.breaks(p.class()) {
			break
		}
		b.add(p.class())
		m.add(r, p)
	}
	return size, m.width
}

// isASCII reports a printable ASCII character: one of two in a row is a
// cluster.
func isASCII(b byte) bool { return b >= 0x20 && b < 0x7F }

// Graphemes yields the extended grapheme clusters of s (UAX 29) in order.
// Joined they are s, whatever s holds.
func Graphemes(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			n, _ := First(s)
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}
