package chatapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"alisio/llm/wire"
)

// maxDetails is how many reasoning items one answer may hold.
const maxDetails = 4096

// details puts OpenRouter's reasoning_details together. They come in pieces
// and go back as whole items; signatures are worth nothing when an item is
// changed.
type details struct {
	items []*detail
	size  int // bytes of all pieces
}

// detail is one item: its plain keys, and the two texts that come in pieces.
type detail struct {
	keys          map[string]json.RawMessage
	text, summary []byte
}

// add takes the reasoning_details of a delta and returns the text in it that a
// person can read. It reports false when there is more than an answer may hold.
func (d *details) add(raw json.RawMessage) (shown string, ok bool) {
	if d.size += len(raw); d.size > wire.MaxReasoning {
		return "", false
	}
	entries, ok := wire.Elements(raw, maxParts)
	var all strings.Builder
	for _, e := range entries {
		if e[0] != '{' {
			continue
		}
		keys, fits := wire.Fields(e)
		if !fits {
			return "", false
		}
		piece, summary := wire.Text(keys["text"]), wire.Text(keys["summary"])
		all.WriteString(piece)
		all.WriteString(summary)
		item := d.last()
		if item == nil || !item.goesOn(keys) {
			if len(d.items) == maxDetails {
				return "", false
			}
			item = &detail{keys: map[string]json.RawMessage{}}
			d.items = append(d.items, item)
		}
		item.text = append(item.text, piece...)
		item.summary = append(item.summary, summary...)
		item.merge(keys)
	}
	return all.String(), ok
}

// merge takes the keys of a piece. A key keeps its last value that is not null.
func (i *detail) merge(keys map[string]json.RawMessage) {
	for k, v := range keys {
		old, known := i.keys[k]
		if known && (!wire.Present(v) || string(v) == string(old)) || !known && len(i.keys) == wire.MaxKeys {
			continue
		}
		i.keys[k] = wire.Kept(v)
	}
}

func (d *details) last() *detail {
	if len(d.items) == 0 {
		return nil
	}
	return d.items[len(d.items)-1]
}

// goesOn reports whether a piece belongs to this item: the same type and index,
// no other id, and no second block of encrypted data.
func (i *detail) goesOn(keys map[string]json.RawMessage) bool {
	if string(i.keys["type"]) != string(keys["type"]) || string(i.keys["index"]) != string(keys["index"]) {
		return false
	}
	if wire.Present(keys["id"]) && wire.Present(i.keys["id"]) && string(keys["id"]) != string(i.keys["id"]) {
		return false
	}
	return !wire.Present(keys["data"])
}

// appendTo appends the items as JSON, keys sorted, so that the same answer goes
// back with the same bytes each time.
func (d *details) appendTo(b []byte) []byte {
	b = append(b, '[')
	for i, item := range d.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, k := range slices.Sorted(maps.Keys(item.keys)) {
			if j > 0 {
				b = append(b, ',')
			}
			b = wire.AppendString(b, k)
			b = append(b, ':')
			switch {
			case k == "text" && len(item.text) > 0:
				b = wire.AppendString(b, string(item.text))
			case k == "summary" && len(item.summary) > 0:
				b = wire.AppendString(b, string(item.summary))
			default:
				b = append(b, item.keys[k]...)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
