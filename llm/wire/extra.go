package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"alisio/llm"
)

// AppendExtra appends the members of a JSON object that a person wants in every
// request, each behind a comma, in their order and as they are written there, so
// that the bodies of a conversation share their bytes. Own are the members that
// the client sets itself: those are never replaced. Names that differ in case
// alone count as one, since servers read them as one; of two such, the first goes.
func AppendExtra(b []byte, extra json.RawMessage, own ...string) ([]byte, error) {
	if len(extra) == 0 {
		return b, nil
	}
	if !json.Valid(extra) || !utf8.Valid(extra) || bytes.TrimSpace(extra)[0] != '{' {
		return nil, llm.Errorf(llm.CauseBadRequest, "what is to be added to each request is no JSON object").
			WithHint("check provider.extraBody")
	}
	for name, value := range Members(extra) {
		if slices.ContainsFunc(own, func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		own = append(own[:len(own):len(own)], name)
		b = append(b, ',')
		b = AppendString(b, name)
		b = append(b, ':')
		b = append(b, value...)
	}
	return b, nil
}
