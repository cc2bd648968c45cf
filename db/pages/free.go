package pages

import (
	"encoding/binary"
	"iter"
	"slices"
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
// the header says, each once, and what is neither in it nor a tree's is a row's.
func (f *File) FreeKnown() bool { return f.whole }

// account looks for pages that nothing accounts for: a part of the list may have been
// lost with its number. Only a list has pages that look like it.
func (f *File) account() {
	reached := make([]bool, f.count+1)
	for leaf := range f.Leaves(func(uint32, uint32) bool { return true }) {
		for _, c := range leaf.Cells {
			for n := c.next; n > 1 && n <= f.count && f.kinds[n] == 0 && !reached[n]; {
				reached[n] = true
				page := f.page(n)
				if len(page) < 4 {
					break
				}
				n = binary.BigEndian.Uint32(page)
			}
		}
	}
	for n := uint32(2); n <= f.count && f.whole; n++ {
		if f.kinds[n] != 0 || f.free[n] || int64(n) == lockAt/int64(f.size)+1 {
			continue
		}
		all, _, ok := f.trunk(n, f.count)
		f.whole = reached[n] && !(ok && len(all) > 0)
	}
}

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
			if f.account(); f.whole {
				return
			}
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
		if !ok || slices.ContainsFunc(all, func(n uint32) bool { return n <= f.count && f.free[n] }) {
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
