package responses

import (
	"encoding/json"

	"alisio/llm/wire"
)

// object is a JSON object of which some members are read, and kept raw.
type object interface {
	// member is where the value of a key goes, nil for one that is not read.
	member(key []byte) *json.RawMessage
}

// decode reads an object; text that is none is an error. The values may be pieces
// of data: the events at the end of a stream repeat all of the answer, some of
// them twice, and encoding/json would look at each byte three times and copy it at
// each level. It reads only what the scanner is not sure of.
func decode[O any, P interface {
	*O
	object
}](data []byte, into P) error {
	var s wire.Scanner
	s.Reset(data)
	if s.Members(func(key, value []byte) bool { return keep(into.member(key), value) }) {
		return nil
	}
	*into = *new(O) // encoding/json would write into the pieces
	return json.Unmarshal(data, into)
}

// keep takes a value once: of a key that is used twice the last one counts, which
// is left to encoding/json.
func keep(into *json.RawMessage, value []byte) bool {
	if into == nil {
		return true
	}
	first := *into == nil
	*into = value
	return first
}

func (e *event) member(key []byte) *json.RawMessage {
	switch string(key) {
	case "type":
		return &e.Type
	case "object":
		return &e.Object
	case "output_index":
		return &e.OutputIndex
	case "item_id":
		return &e.ItemID
	case "content_index":
		return &e.ContentIndex
	case "summary_index":
		return &e.SummaryIndex
	case "delta":
		return &e.Delta
	case "text":
		return &e.Text
	case "refusal":
		return &e.Refusal
	case "arguments":
		return &e.Arguments
	case "input":
		return &e.Input
	case "name":
		return &e.Name
	case "item":
		return &e.Item
	case "response":
		return &e.Response
	case "error":
		return &e.Error
	}
	return nil
}

func (r *response) member(key []byte) *json.RawMessage {
	switch string(key) {
	case "status":
		return &r.Status
	case "error":
		return &r.Error
	case "output":
		return &r.Output
	case "usage":
		return &r.Usage
	case "incomplete_details":
		return &r.Incomplete
	}
	return nil
}

func (o *outputItem) member(key []byte) *json.RawMessage {
	switch string(key) {
	case "type":
		return &o.Type
	case "id":
		return &o.ID
	case "status":
		return &o.Status
	case "call_id":
		return &o.CallID
	case "name":
		return &o.Name
	case "arguments":
		return &o.Arguments
	case "input":
		return &o.Input
	case "content":
		return &o.Content
	case "summary":
		return &o.Summary
	}
	return nil
}

func (p *part) member(key []byte) *json.RawMessage {
	switch string(key) {
	case "text":
		return &p.Text
	case "refusal":
		return &p.Refusal
	}
	return nil
}
