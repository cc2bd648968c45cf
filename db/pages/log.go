package pages

import (
	"encoding/binary"
	"math/bits"
)

// Sizes of the write-ahead log (fileformat2.html, "The Write-Ahead Log"), in
// bytes. The last bit of the magic number tells the byte order of checksums.
const (
	logMagic   = 0x377f0682
	logHeader  = 32
	frameHead  = 24
	maxFrames  = 1 << 24
	checkedLen = 24
)

// sums are a log's running checksum.
type sums struct {
	a, b  uint32
	order binary.ByteOrder
}

// add takes in bytes, whose number is a multiple of eight.
func (s *sums) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		s.a += s.order.Uint32(data) + s.b
		s.b += s.order.Uint32(data[4:]) + s.a
	}
}

// match reports whether eight bytes hold the sum.
func (s *sums) match(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.a && binary.BigEndian.Uint32(b[4:]) == s.b
}

// readLog notes where the log has the pages that were committed last, and
// returns how many pages the database then had. The log ends, as for SQLite, with
// the first frame whose checksum is wrong; what was not committed does not count.
// Page size and frames stay unset where there is nothing.
func (f *File) readLog() (committed uint32) {
	if f.log == nil {
		return 0
	}
	var head [logHeader]byte
	if n, _ := f.log.ReadAt(head[:], 0); n < logHeader {
		return 0
	}
	kind := binary.BigEndian.Uint32(head[:])
	size := int64(binary.BigEndian.Uint32(head[8:]))
	sum := sums{order: binary.LittleEndian}
	if kind&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(head[:checkedLen])
	if kind&^1 != logMagic || size < leastPage || size > largestPage || bits.OnesCount64(uint64(size)) != 1 || !sum.match(head[checkedLen:]) {
		return 0
	}
	all := map[uint32]int64{}
	open := map[uint32]int64{}
	frame := make([]byte, frameHead+size)
	for i := range int64(maxFrames) {
		at := logHeader + i*int64(len(frame))
		if n, _ := f.log.ReadAt(frame, at); n < len(frame) || string(frame[8:16]) != string(head[16:24]) {
			break
		}
		sum.add(frame[:8])
		sum.add(frame[frameHead:])
		if !sum.match(frame[16:]) {
			break
		}
		open[binary.BigEndian.Uint32(frame)] = at + frameHead
		if n := binary.BigEndian.Uint32(frame[4:]); n != 0 {
			committed = n
			for page, at := range open {
				all[page] = at
			}
			clear(open)
		}
	}
	if committed != 0 {
		f.frames, f.size = all, int(size)
	}
	return committed
}
