package pages

import (
	"encoding/binary"
	"iter"
)

// Free gives the pages that are known to hold what was deleted.
func (f *File) Free() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for n := uint32(1); n <= f.count; n++ {
			if f.free[n] && !yield(n) {
				return
			}
		}
	}
}

// FreeKnown reports whether Free gives all of them: the list has as many pages as
// the header says.
func (f *File) FreeKnown() bool { return f.whole }

// freelist notes the pages that hold nothing any more but what was deleted. Where
// the list can not be followed from the header to its end, every page that can
// only be a part of it counts.
func (f *File) freelist() {
	const pages, first, number = 28, 32, 36
	head := f.page(1)
	if len(head) >= headerSize && string(head[:len(magic)]) == magic {
		// A file that was cut off has lost pages that the list names.
		last := max(f.count, binary.BigEndian.Uint32(head[pages:]))
		if f.chain(binary.BigEndian.Uint32(head[first:]), last) == binary.BigEndian.Uint32(head[number:]) {
			f.whole = true
			return
		}
	}
	for n := uint32(2); n <= f.count; n++ {
		if f.kinds[n] == 0 {
			if all, _, ok := f.trunk(n, f.count); ok && len(all) > 0 {
				f.freed(n, all)
			}
		}
	}
}

// chain follows the freelist, which names no page behind the last, and returns how
// many pages it has.
func (f *File) chain(n, last uint32) (number uint32) {
	for n != 0 && n <= f.count && !f.free[n] {
		all, next, ok := f.trunk(n, last)
		if !ok {
			break
		}
		f.freed(n, all)
		number += 1 + uint32(len(all))
		n = next
	}
	return number
}

func (f *File) freed(trunk uint32, leaves []uint32) {
	f.free[trunk] = true
	for _, n := range leaves {
		if n <= f.count {
			f.free[n] = true
		}
	}
}

// trunk reads a page of the freelist: the next such page, how many pages it
// names, and these, each once.
func (f *File) trunk(n, last uint32) (leaves []uint32, next uint32, ok bool) {
	page := f.page(n)
	if len(page) < f.usable {
		return nil, 0, false
	}
	next = binary.BigEndian.Uint32(page)
	number := binary.BigEndian.Uint32(page[4:])
	if next > last || next == n || next == 1 || int64(number) > int64(f.usable/4-2) {
		return nil, 0, false
	}
	seen := make(map[uint32]bool, number)
	for i := range number {
		leaf := binary.BigEndian.Uint32(page[8+4*i:])
		if leaf < 2 || leaf > last || leaf == n || seen[leaf] {
			return nil, 0, false
		}
		seen[leaf] = true
		leaves = append(leaves, leaf)
	}
	return leaves, next, true
}
