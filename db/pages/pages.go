// Package pages reads rows straight from the pages of an SQLite database file
// (https://www.sqlite.org/fileformat2.html) whose header, schema or interior
// pages are broken, so that SQLite itself does not find them any more.
//
// It writes nothing but to a copy (Wipe, Mend) and knows no table: it gives each
// leaf page's records with the root that still leads to it, and the caller says
// what they are. Whatever the file says is hostile: every length, offset and page
// number is checked, a page belongs to one row at most, and a whole file is read a
// few times over at the worst. It refuses what it can not prove whole: a record whose lengths do
// not add up, one whose overflow pages are in the freelist or belong to another,
// and one whose header does not fit on its page.
package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

const (
	// magic begins each database file.
	magic = "SQLite format 3\x00"
	// headerSize is what page one has before its b-tree header, in bytes.
	headerSize = 100
	// The least and the largest page, in bytes.
	leastPage, largestPage = 512, 65536
	// leastUsable is the least that reserved bytes leave of a page.
	leastUsable = 480
	// maxPages bounds the memory, at nine bytes a page.
	maxPages = 1 << 24
	// lockAt is the offset of the byte whose page SQLite never uses (os.h,
	// PENDING_BYTE).
	lockAt = 0x40000000
	// maxDepth is more than any tree has (btreeInt.h, BTCURSOR_MAX_DEPTH).
	maxDepth = 20
)

// The types of b-tree pages, the first byte of each.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// ErrNone tells that a file has no page of a database.
var ErrNone = errors.New("no page of a database")

// File is a database file with its write-ahead log.
type File struct {
	data io.ReaderAt
	log  io.ReaderAt
	// frames are the offsets, in the log, of the pages that were committed last.
	frames map[uint32]int64
	size   int
	usable int
	count  uint32
	// inFile is how many pages the file has, without the log.
	inFile int64
	// By page number: the type of a b-tree page, or zero; the interior page that
	// leads to it; whether the freelist has it; whether a row's overflow is there.
	kinds  []byte
	parent []uint32
	free   []bool
	used   []bool
	// whole: the freelist was followed to its end, and no tree speaks against it.
	whole bool
	// budget is how many overflow pages may still be read.
	budget int64
}

// Open looks through a file of so many bytes, and the log beside it, which may be
// nil.
func Open(data io.ReaderAt, length int64, log io.ReaderAt) (*File, error) {
	f := &File{data: data, log: log}
	committed := f.readLog()
	if f.size == 0 {
		f.guess(length)
	}
	f.usable = f.size - f.reserved()
	n := (length + int64(f.size) - 1) / int64(f.size)
	f.inFile = n
	if committed > 0 {
		// The log's last commit says how long the database is, also where the file
		// was cut off; what neither has is not looked for.
		for page := range f.frames {
			n = max(n, int64(page))
		}
		n = min(int64(committed), n)
	}
	if n > maxPages {
		return nil, fmt.Errorf("read pages: %d are too many", n)
	}
	f.count = uint32(n)
	f.kinds = make([]byte, n+1)
	f.parent = make([]uint32, n+1)
	f.free = make([]bool, n+1)
	f.used = make([]bool, n+1)
	f.budget = 2*n + 1000
	if !f.classify() {
		return nil, ErrNone
	}
	f.freelist()
	f.families()
	return f, nil
}

// Count is how many pages there are.
func (f *File) Count() int { return int(f.count) }

// Size is the size of a page, in bytes.
func (f *File) Size() int { return f.size }

// reserved is how many bytes at each page's end are not SQLite's.
func (f *File) reserved() int {
	const at = 20
	head := f.page(1)
	if len(head) < headerSize || string(head[:len(magic)]) != magic || f.size-int(head[at]) < leastUsable {
		return 0
	}
	return int(head[at])
}

// page returns a page, or what the file has of it.
func (f *File) page(n uint32) []byte {
	at, logged := f.frames[n]
	if !logged && int64(n) > f.inFile {
		return nil
	}
	b := make([]byte, f.size)
	if logged {
		got, _ := f.log.ReadAt(b, at)
		return b[:got]
	}
	got, _ := f.data.ReadAt(b, int64(n-1)*int64(f.size))
	return b[:max(got, 0)]
}

// guess finds the size of the pages: that of which most places hold a b-tree
// page. The header is one opinion among others, since it may be what is broken.
func (f *File) guess(length int64) {
	const places = 256
	step := max(length/largestPage/places, 1) * largestPage
	block := make([]byte, largestPage)
	var score [8]int
	for at := int64(0); at < length; at += step {
		got, _ := f.data.ReadAt(block, at)
		for i := range score {
			score[i] += likely(block[:max(got, 0)], leastPage<<i, at == 0)
		}
	}
	best := bits.Len(uint(f.claimed()/leastPage)) - 1
	for i, n := range score {
		if best < 0 || n > score[best] {
			best = i
		}
	}
	f.size = leastPage << best
}

// claimed is the page size that the header gives, or 4096.
func (f *File) claimed() int {
	const at = 16
	var b [18]byte
	_, _ = f.data.ReadAt(b[:], 0)
	size := int(binary.BigEndian.Uint16(b[at:]))
	if size == 1 {
		size = largestPage
	}
	if string(b[:len(magic)]) != magic || size < leastPage || bits.OnesCount(uint(size)) != 1 {
		return 4096
	}
	return size
}

// likely counts the pages of a block that are b-tree pages in every respect.
func likely(block []byte, size int, first bool) (n int) {
	for at := 0; at+size <= len(block); at += size {
		t, ok := treeOf(block[at:at+size], first && at == 0)
		if !ok || t.cells == 0 {
			continue
		}
		fine := true
		for i := range t.cells {
			p := t.pointer(i)
			fine = fine && p >= t.end && p < size
		}
		if fine {
			n++
		}
	}
	return n
}

// tree is the header of a b-tree page.
type tree struct {
	page  []byte
	kind  byte
	cells int
	// begin and end are where the array of pointers does.
	begin int
	end   int
	// right is the last child of an interior page.
	right uint32
}

// treeOf reads a page's header; first tells page one.
func treeOf(page []byte, first bool) (tree, bool) {
	at := 0
	if first {
		at = headerSize
	}
	if len(page) < at+12 {
		return tree{}, false
	}
	h := page[at:]
	t := tree{page: page, kind: h[0], cells: int(binary.BigEndian.Uint16(h[3:])), begin: at + 8}
	switch t.kind {
	case tableInterior, indexInterior:
		t.right = binary.BigEndian.Uint32(h[8:])
		t.begin += 4
	case tableLeaf, indexLeaf:
	default:
		return tree{}, false
	}
	t.end = t.begin + 2*t.cells
	return t, t.end <= len(page)
}

// pointer is the offset of a cell, which may be anything.
func (t *tree) pointer(i int) int { return int(binary.BigEndian.Uint16(t.page[t.begin+2*i:])) }

func (f *File) tree(n uint32) (tree, bool) { return treeOf(f.page(n), n == 1) }

// classify notes which pages are b-tree pages, and reports whether any is.
func (f *File) classify() (any bool) {
	for n := uint32(1); n <= f.count; n++ {
		if int64(n) == lockAt/int64(f.size)+1 {
			continue
		}
		if t, ok := f.tree(n); ok {
			f.kinds[n], any = t.kind, true
		}
	}
	return any
}

// families notes for each page the one that leads to it.
func (f *File) families() {
	for n := uint32(1); n <= f.count; n++ {
		if k := f.kinds[n]; f.free[n] || k != tableInterior && k != indexInterior {
			continue
		}
		t, ok := f.tree(n)
		if !ok {
			continue
		}
		f.adopt(n, t.right)
		for i := range t.cells {
			if p := t.pointer(i); p >= t.end && p+4 <= len(t.page) {
				f.adopt(n, binary.BigEndian.Uint32(t.page[p:]))
			}
		}
	}
}

// adopt makes n the parent of child, if that is a page of the same kind of tree
// that no other leads to. A page that a tree leads to is not free, whatever the
// list says, which is then broken itself.
func (f *File) adopt(n, child uint32) {
	if child < 2 || child > f.count || child == n || f.parent[child] != 0 {
		return
	}
	// A leaf's type is its interior page's with this bit.
	if f.kinds[child]|0x08 != f.kinds[n]|0x08 {
		return
	}
	if f.free[child] {
		f.free[child], f.whole = false, false
	}
	f.parent[child] = n
}

// root is the page from which a page is reached, itself at the least.
func (f *File) root(n uint32) uint32 {
	at := n
	for range maxDepth {
		if f.parent[at] == 0 {
			return at
		}
		at = f.parent[at]
	}
	return n
}
