// Package prefix says how much of a request's bytes were those of the request before it
// in its session, and why not all of them (spec runner.md, "Stable prefix"). It reads
// bodies and keeps what the next one is compared with; it stores nothing and tells
// nobody.
package prefix

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"iter"
	"slices"
	"strings"

	"alisio/llm"
	"alisio/plug"
)

const (
	// mostParts bounds the parts of a body before its messages, mostSums the steps of
	// these, and leastStep is the shortest of them, in bytes.
	mostParts = 4
	mostSums  = 32
	leastStep = 256
	// wordBytes is how much of a hash stands in a key.
	wordBytes = 8
)

// causes are those of a key's words, in their order: one that comes first brings the
// others with it.
var causes = [...]plug.PrefixCause{plug.PrefixModel, plug.PrefixAgent, plug.PrefixTools, plug.PrefixInstructions}

// Key stands for what a request is made from beside the messages, a word each. The
// server, its provider and the model are one.
func Key(model, agent, instructions []string, tools []llm.Tool) string {
	var told []string
	for _, t := range tools {
		told = append(told, t.Name, t.Description, string(t.Schema))
	}
	return strings.Join([]string{word(model), word(agent), word(told), word(instructions)}, " ")
}

func word(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:wordBytes])
}

// changed is the first word in which two keys differ; empty: none, or one of the keys is
// not known.
func changed(was, now string) plug.PrefixCause {
	a, b := strings.Fields(was), strings.Fields(now)
	if len(a) != len(causes) || len(b) != len(causes) {
		return ""
	}
	for i, cause := range causes {
		if a[i] != b[i] {
			return cause
		}
	}
	return ""
}

// mark is what another process can compare the next request with: where the parts of
// this one begin and its stored messages end, and the sums of all bytes up to each of
// these places and to each step between the messages' begin and end.
type mark struct {
	parts     []int
	end, step int
	sums      []uint32
}

// markOf makes the mark of a body whose last messages, alone of them, were told with it only.
func markOf(body []byte, alone int) mark {
	m := mark{step: leastStep}
	if m.parts, m.end = layout(body, alone); m.end == 0 {
		return mark{}
	}
	for (m.end-last(m.parts))/m.step >= mostSums {
		m.step *= 2
	}
	for _, sum := range m.over(body) {
		m.sums = append(m.sums, sum)
	}
	return m
}

// over ranges over the places of a mark, as far as a body has them, and the sums of the
// body's bytes up to each.
func (m mark) over(body []byte) iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		table, sum := crc32.MakeTable(crc32.Castagnoli), uint32(0)
		for i, from := 0, 0; from < m.end; i++ {
			to := min(from+m.step, m.end)
			if i < len(m.parts) {
				to = min(m.parts[i], m.end)
			}
			if to > len(body) {
				return
			}
			sum = crc32.Update(sum, table, body[from:to])
			if from = to; !yield(to, sum) {
				return
			}
		}
	}
}

// same is how many bytes of a body are those that the mark was made of, at least; all: as
// many as there were.
func (m mark) same(body []byte) (n int, all bool) {
	i := 0
	for at, sum := range m.over(body) {
		if i == len(m.sums) || sum != m.sums[i] {
			return n, false
		}
		n = at
		i++
	}
	return n, n == m.end
}

// known reports whether the mark is one of a body.
func (m mark) known() bool { return m.end > 0 }

// String is the mark as it is stored.
func (m mark) String() string {
	if !m.known() {
		return ""
	}
	var b []byte
	for _, n := range append([]int{m.end, m.step, len(m.parts)}, m.parts...) {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, s := range m.sums {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return base64.RawStdEncoding.EncodeToString(b)
}

// parseMark reads a stored mark. One that is none is not known: another program wrote it,
// or a person.
func parseMark(s string) mark {
	const most, size = (3+mostParts)*binary.MaxVarintLen64 + 4*(mostParts+mostSums), 1 << 30
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || len(b) > most {
		return mark{}
	}
	next := func(low, high int) int {
		v, n := binary.Uvarint(b)
		if n <= 0 || v < uint64(low) || v > uint64(high) {
			return -1
		}
		b = b[n:]
		return int(v)
	}
	m := mark{end: next(1, size), step: next(leastStep, size)}
	count := next(1, mostParts)
	for range count {
		m.parts = append(m.parts, next(1+last(m.parts), m.end))
	}
	if m.end < 0 || m.step < 0 || count < 0 || slices.Contains(m.parts, -1) {
		return mark{}
	}
	steps := (m.end - last(m.parts) + m.step - 1) / m.step
	if len(b) != 4*(count+steps) {
		return mark{}
	}
	for ; len(b) > 0; b = b[4:] {
		m.sums = append(m.sums, binary.LittleEndian.Uint32(b))
	}
	return m
}

func last(parts []int) int {
	if len(parts) == 0 {
		return 0
	}
	return parts[len(parts)-1]
}
