package chatapi

import (
	"encoding/json"
	"maps"
	"slices"
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
// person can read.
func (d *details) add(raw json.RawMessage) (shown string, ok bool) {
	var list []map[string]json.RawMessage
	if !present(raw) || json.Unmarshal(raw, &list) != nil {
		return "", true
	}
	d.size += len(raw)
	for _, keys := range list {
		piece, summary := text(keys["text"]), text(keys["summary"])
		shown += piece + summary
		item := d.last()
		if item == nil || !item.goesOn(keys) {
			item = &detail{keys: map[string]json.RawMessage{}}
			d.items = append(d.items, item)
		}
		item.text = append(item.text, piece...)
		item.summary = append(item.summary, summary...)
		for k, v := range keys {
			if old, known := item.keys[k]; !known || present(v) && string(v) != string(old) {
				item.keys[k] = v
			}
		}
	}
	return shown, len(d.items) <= maxDetails
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
	if present(keys["id"]) && present(i.keys["id"]) && string(keys["id"]) != string(i.keys["id"]) {
		return false
	}
	return !present(keys["data"])
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
			b = appendString(b, k)
			b = append(b, ':')
			switch {
			case k == "text" && len(item.text) > 0:
				b = appendString(b, string(item.text))
			case k == "summary" && len(item.summary) > 0:
				b = appendString(b, string(item.summary))
			default:
				b = append(b, item.keys[k]...)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
