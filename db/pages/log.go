package pages

import (
	"encoding/binary"
	"io"
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

// logReader goes through the frames of a log.
type logReader struct {
	log   io.ReaderAt
	head  [logHeader]byte
	sum   sums
	frame []byte
	// next is the number of the frame behind the one in frame.
	next int64
}

// newLogReader returns nil where there is no log.
func newLogReader(log io.ReaderAt) *logReader {
	r := &logReader{log: log}
	if log == nil {
		return nil
	}
	if n, _ := log.ReadAt(r.head[:], 0); n < logHeader {
		return nil
	}
	kind := binary.BigEndian.Uint32(r.head[:])
	size := int64(binary.BigEndian.Uint32(r.head[8:]))
	r.sum.order = binary.LittleEndian
	if kind&1 != 0 {
		r.sum.order = binary.BigEndian
	}
	r.sum.add(r.head[:checkedLen])
	if kind&^1 != logMagic || size < leastPage || size > largestPage || bits.OnesCount64(uint64(size)) != 1 || !r.sum.match(r.head[checkedLen:]) {
		return nil
	}
	r.frame = make([]byte, frameHead+size)
	return r
}

// headless reads a log whose header is lost: the size of its pages is that with which
// most frames have the salts of the one before, which are the log's then. It returns
// nil where no two have; no sum can be told from it.
func headless(log io.ReaderAt, length int64) (best *logReader) {
	const places = 64
	most := 0
	for size := int64(leastPage); size <= largestPage; size *= 2 {
		r := &logReader{log: log, frame: make([]byte, frameHead+size)}
		pairs := 0
		var last, salts [8]byte
		for range min(places, (length-logHeader)/(frameHead+size)) {
			r.read()
			now := [8]byte(r.frame[8:])
			if now == last && now != ([8]byte{}) {
				pairs, salts = pairs+1, now
			}
			last = now
		}
		if pairs == 0 && length == r.at() && last != ([8]byte{}) {
			pairs, salts = 1, last // of one frame alone
		}
		if pairs > most {
			most, best = pairs, &logReader{log: log, frame: r.frame}
			copy(best.head[16:], salts[:])
		}
	}
	return best
}

// read reads the next frame and reports whether there is one of this log: one with
// its salts.
func (r *logReader) read() bool {
	if r.next >= maxFrames {
		return false
	}
	n, _ := r.log.ReadAt(r.frame, r.at())
	r.next++
	return n == len(r.frame) && string(r.frame[8:16]) == string(r.head[16:24])
}

// at is where the next frame begins, in bytes.
func (r *logReader) at() int64 { return logHeader + r.next*int64(len(r.frame)) }

// sound reports whether the frame, and all before it, are as they were written.
func (r *logReader) sound() bool {
	r.sum.add(r.frame[:8])
	r.sum.add(r.frame[frameHead:])
	return r.sum.match(r.frame[16:])
}

// commits is how many pages the database has with this frame, zero where it is not
// the last of its transaction.
func (r *logReader) commits() uint32 { return binary.BigEndian.Uint32(r.frame[4:]) }

// lostCommits counts the commits of a log of so many bytes from the first frame on
// that is not sound, which is each frame where the header is not. Damaged it is also
// where none can be counted any more.
func lostCommits(log io.ReaderAt, length int64) (lost int, damaged bool) {
	if length < logHeader+frameHead+leastPage {
		return 0, false // it never had a page
	}
	r := newLogReader(log)
	damaged = r == nil
	if damaged {
		if r = headless(log, length); r == nil {
			return 0, true
		}
	}
	ours, end := false, uint32(0)
	for !damaged {
		if ours = r.read(); !ours || !r.sound() {
			end = r.commits()
			break
		}
	}
	for r.at()+int64(len(r.frame)) <= length && r.next < maxFrames {
		if r.read() && r.commits() != 0 {
			lost++
		}
	}
	// A frame with other salts belongs to the log only if it goes on behind that; one
	// that is not there whole was never written.
	if end != 0 && (ours || lost > 0) {
		lost++
	}
	return lost, damaged || lost > 0
}

// readLog notes where the log has the pages that were committed last, and
// returns how many pages the database then had. The log ends, as for SQLite, with
// the first frame whose checksum is wrong; what was not committed does not count.
// Page size and frames stay unset where there is nothing.
func (f *File) readLog() (committed uint32) {
	r := newLogReader(f.log)
	if r == nil {
		return 0
	}
	all := map[uint32]int64{}
	open := map[uint32]int64{}
	for at := r.at(); r.read() && r.sound(); at = r.at() {
		open[binary.BigEndian.Uint32(r.frame)] = at + frameHead
		if n := r.commits(); n != 0 {
			committed = n
			for page, at := range open {
				all[page] = at
			}
			clear(open)
		}
	}
	if committed != 0 {
		f.frames, f.size = all, len(r.frame)-frameHead
	}
	return committed
}
