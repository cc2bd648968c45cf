package proc

import (
	"strconv"
	"unicode/utf8"
)

// keeper keeps the first headMax bytes and the last tailMax bytes.
type keeper struct {
	headMax, tailMax int
	head             []byte
	tail             []byte // a ring once it is full
	at               int    // where the ring is written next
	total            int64
}

func (k *keeper) write(p []byte) {
	k.total += int64(len(p))
	n := min(len(p), k.headMax-len(k.head))
	k.head = append(k.head, p[:n]...)
	p = p[n:]
	n = min(len(p), k.tailMax-len(k.tail))
	k.tail = append(k.tail, p[:n]...)
	p = p[n:]
	if len(p) > k.tailMax {
		p = p[len(p)-k.tailMax:]
	}
	for len(p) > 0 {
		n := copy(k.tail[k.at:], p)
		k.at = (k.at + n) % k.tailMax
		p = p[n:]
	}
}

// text joins what was kept. A cut is made between characters and marked.
func (k *keeper) text() (string, int64) {
	tail := append(k.tail[k.at:len(k.tail):len(k.tail)], k.tail[:k.at]...)
	if k.total == int64(len(k.head)+len(tail)) {
		return string(k.head) + string(tail), 0
	}
	head := k.head
	for i := 1; i <= min(utf8.UTFMax, len(head)); i++ {
		if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	tail = fromRune(tail)
	dropped := k.total - int64(len(head)+len(tail))
	mark := "\n[" + strconv.FormatInt(dropped, 10) + " bytes left out]\n"
	return string(head) + mark + string(tail), dropped
}

// fromRune returns valid UTF-8 that was cut at its start from its first whole
// character on.
func fromRune(p []byte) []byte {
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}
