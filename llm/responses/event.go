package responses

import (
	"encoding/json"
	"math"

	"alisio/llm"
	"alisio/llm/wire"
)

// event is one event of a stream. Every field is optional. Values are kept raw,
// because their types differ between servers and because lists may be long.
type event struct {
	Type         json.RawMessage `json:"type"`
	Object       json.RawMessage `json:"object"`
	OutputIndex  json.RawMessage `json:"output_index"`
	ItemID       json.RawMessage `json:"item_id"`
	ContentIndex json.RawMessage `json:"content_index"`
	SummaryIndex json.RawMessage `json:"summary_index"`
	Delta        json.RawMessage `json:"delta"`
	Text         json.RawMessage `json:"text"`
	Refusal      json.RawMessage `json:"refusal"`
	Arguments    json.RawMessage `json:"arguments"`
	Input        json.RawMessage `json:"input"`
	Name         json.RawMessage `json:"name"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
	Error        json.RawMessage `json:"error"`
}

// response is the object of terminal events, and of an answer that is no stream.
type response struct {
	Status     json.RawMessage `json:"status"`
	Error      json.RawMessage `json:"error"`
	Output     json.RawMessage `json:"output"`
	Usage      json.RawMessage `json:"usage"`
	Incomplete json.RawMessage `json:"incomplete_details"`
}

// reason is why a response is incomplete, "" when it does not say.
func (r *response) reason() string {
	var details struct {
		Reason json.RawMessage `json:"reason"`
	}
	if wire.Present(r.Incomplete) && json.Unmarshal(r.Incomplete, &details) == nil {
		return wire.Text(details.Reason)
	}
	return ""
}

// usage is a usage report. Cached tokens are part of the input, reasoning tokens
// of the output.
type usage struct {
	Input        wire.Count `json:"input_tokens"`
	Output       wire.Count `json:"output_tokens"`
	InputDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// usage is the report of a response in our words; nil when it counts nothing. A
// field of a type that nobody expects is skipped, as if it were absent.
func (r *response) usage() *llm.Usage {
	var u usage
	if wire.Present(r.Usage) {
		_ = json.Unmarshal(r.Usage, &u)
	}
	return wire.Usage(llm.Usage{
		Input: int(u.Input), Output: int(u.Output),
		CachedInput: int(u.InputDetails.Cached), Reasoning: int(u.OutputDetails.Reasoning),
	})
}

// outputItem is an item of the output. What is not read here is kept in its raw
// text alone.
type outputItem struct {
	Type      json.RawMessage `json:"type"`
	ID        json.RawMessage `json:"id"`
	Status    json.RawMessage `json:"status"`
	CallID    json.RawMessage `json:"call_id"`
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
}

// part is an entry of content, or of a summary.
type part struct {
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

// said is the string that a part says, nil for none.
func (p *part) said() json.RawMessage {
	for _, raw := range []json.RawMessage{p.Text, p.Refusal} {
		if len(raw) > len(`""`) && raw[0] == '"' {
			return raw
		}
	}
	return nil
}

// maxParts is how many parts of one item are read.
const maxParts = 1 << 12

// texts joins the texts of a list of parts. Some servers send a bare string.
func texts(raw json.RawMessage, between string) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return []byte(wire.Text(raw)), nil
	}
	entries, ok := wire.Elements(raw, maxParts)
	if !ok {
		return nil, errParts
	}
	var all []byte
	for _, e := range entries {
		var p part
		_ = decode(e, &p) // what is no part says nothing
		if s := wire.Text(p.said()); s != "" {
			if len(all) > 0 {
				all = append(all, between...)
			}
			all = append(all, s...)
		}
	}
	return all, nil
}

// isText reports whether text is what the parts of a list say, without a copy of
// either; when it is not sure it says no.
func isText[T string | []byte](text T, raw json.RawMessage) bool {
	entries, ok := wire.Elements(raw, maxParts)
	if !ok || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		var p part
		_ = decode(e, &p) // what is no part says nothing
		if said := p.said(); said != nil {
			if text, ok = wire.CutText(text, said); !ok {
				return false
			}
		}
	}
	return len(text) == 0
}

// index reads an index of an event, -1 for none.
func index(raw json.RawMessage) int {
	n := wire.Integer(raw)
	if n == nil || *n < 0 || *n > math.MaxInt32 {
		return -1
	}
	return *n
}
