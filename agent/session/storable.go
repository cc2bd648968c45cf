package session

import (
	"encoding/json"
	"fmt"

	"alisio/llm"
	"alisio/plug"
)

const (
	// maxResultParts, maxBlock (bytes) and maxBlockDepth bound what a tool gives, so
	// that no result of one can not be stored. A session may hold 1,000 parts, 100 deep.
	maxResultParts = 900
	maxBlock       = 1 << 20
	maxBlockDepth  = 90
	// maxPictures bounds the images of a result.
	maxPictures = 20
)

// Storable leaves out of a result what can not be stored: blocks that are no JSON, are
// too large or too deep, parts of no known kind, and more parts than are taken. An image
// that is none, or beyond the limits, gives way to a note: a server would refuse it, and
// all requests after it (C155, C156).
func Storable(r plug.Result) plug.Result {
	parts := make([]llm.Part, 0, min(len(r.Parts), maxResultParts))
	dropped, pictures := 0, 0
	for _, p := range r.Parts {
		known := p.Type == llm.PartText || p.Type == llm.PartImage
		block := p.Type == llm.PartUI && len(p.Block) <= maxBlock && json.Valid(p.Block) && depth(p.Block) <= maxBlockDepth
		if p.Type == llm.PartImage {
			pictures++
		}
		switch {
		case !known && !block, len(parts) >= maxResultParts, p.Type == llm.PartImage && pictures > maxPictures:
			dropped++
			continue
		case p.Type == llm.PartImage:
			p = checkedImage(p)
		}
		parts = append(parts, p)
	}
	if dropped > 0 {
		parts = append(parts, llm.Part{Type: llm.PartText, Text: fmt.Sprintf("[%d parts of this result could not be kept]", dropped)})
	}
	r.Parts = parts
	return r
}

// checkedImage is an image with the type that it is of, or what stands for one that is bad.
func checkedImage(p llm.Part) llm.Part {
	a, err := llm.ReadImage(p.Data)
	if err != nil {
		return llm.Part{Type: llm.PartText, Text: fmt.Sprintf("[a picture of this result was left out: it %s]", err)}
	}
	p.MIMEType = a.MIMEType
	return p
}

// depth is how deep the values of valid JSON lie in each other.
func depth(raw []byte) int {
	deepest, level, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}
