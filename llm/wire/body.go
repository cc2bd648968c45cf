package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

const (
	// maxDepth bounds how deep errors are looked for in errors.
	maxDepth = 5
	// maxEvidence is how much of a body is searched for known phrases, in bytes.
	maxEvidence = 8 << 10
	// maxDetails is how many entries of a validation report are shown.
	maxDetails = 3
)

// report is what an error body says, whatever its shape.
type report struct {
	// text is for people; foreign and not yet clean.
	text string
	// words are codes, types and statuses, in lower case.
	words []string
	// params are paths of fields that the error is about.
	params []string
	// status is a code between 400 and 599 found inside the body.
	status int
	// header holds the upstream's headers where a router quotes them.
	header http.Header
	// evidence is lower-case text that known phrases are looked for in.
	evidence string
	// blank: there was no body at all.
	blank bool
}

func (r *report) empty() bool { return r.text == "" && len(r.words) == 0 && r.status == 0 }

// fields is every key under which servers put a piece of an error.
type fields struct {
	Error    json.RawMessage `json:"error"`
	Errors   json.RawMessage `json:"errors"`
	Message  json.RawMessage `json:"message"`
	Msg      json.RawMessage `json:"msg"`
	Detail   json.RawMessage `json:"detail"`
	Loc      json.RawMessage `json:"loc"`
	Param    json.RawMessage `json:"param"`
	Code     json.RawMessage `json:"code"`
	Type     json.RawMessage `json:"type"`
	Status   json.RawMessage `json:"status"`
	Metadata json.RawMessage `json:"metadata"`
}

// parse reads an error body: JSON of any shape, HTML, plain text or nothing
// It never fails: what it does not understand becomes text.
func parse(body []byte) report {
	body = bytes.TrimSpace(body)
	r := report{blank: len(body) == 0}
	r.evidence = strings.ToLower(string(body[:min(len(body), maxEvidence)]))
	switch {
	case r.blank:
	case json.Valid(body):
		r.read(body, 0)
		r.evidence += " " + strings.ToLower(r.text[:min(len(r.text), maxEvidence)])
	case body[0] == '<':
		r.text = title(string(body))
	default:
		r.text = string(body)
	}
	return r
}

// read takes an error value. What lies deeper is nearer to the fault and wins.
func (r *report) read(raw json.RawMessage, depth int) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > maxDepth {
		return
	}
	switch raw[0] {
	case '"':
		r.readText(raw, depth)
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			r.readList(list, depth)
		}
	case '{':
		var f fields
		if json.Unmarshal(raw, &f) == nil {
			r.readFields(f, depth)
		}
	}
}

// readText takes a string; some routers put the upstream's JSON into it.
func (r *report) readText(raw json.RawMessage, depth int) {
	s := Text(raw)
	if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
		r.read(json.RawMessage(inner), depth+1)
		return
	}
	if r.text == "" {
		r.text = s
	}
}

// readList takes the first entry that says something, and the texts of the
// next ones.
func (r *report) readList(list []json.RawMessage, depth int) {
	var texts []string
	for _, entry := range list[:min(len(list), maxDetails)] {
		one := report{}
		one.read(entry, depth+1)
		if one.text != "" {
			texts = append(texts, one.text)
		}
		r.words = append(r.words, one.words...)
		r.params = append(r.params, one.params...)
		if r.status == 0 {
			r.status, r.header = one.status, one.header
		}
	}
	if r.text == "" {
		r.text = strings.Join(texts, "; ")
	}
}

// readFields takes the keys of one object. The wrapped error comes first: what
// stands beside it is the wrapper's own, often no more than "error".
func (r *report) readFields(f fields, depth int) {
	for _, nested := range []json.RawMessage{f.Error, f.Message, f.Msg, f.Detail, f.Errors} {
		if r.text == "" {
			r.read(nested, depth+1)
		}
	}
	if where := loc(f.Loc); where != "" && r.text != "" {
		r.text = where + ": " + r.text
		r.params = append(r.params, where)
	}
	if param := Text(f.Param); param != "" {
		r.params = append(r.params, param)
	}
	for _, raw := range []json.RawMessage{f.Code, f.Type, f.Status} {
		r.word(raw)
	}
	r.readMetadata(f.Metadata, depth)
}

// word takes a code, type or status: a string or a number. Servers put HTTP
// statuses there, as 429 or "429"; other numbers are codes of their own.
func (r *report) word(raw json.RawMessage) {
	s := Text(raw)
	if s == "" {
		s = string(bytes.TrimSpace(raw))
	}
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 400 && n < 600 && r.status == 0 {
			r.status = n
		}
		return
	}
	if Text(raw) != "" && s != "error" { // which says nothing
		r.words = append(r.words, strings.ToLower(s))
	}
}

// readMetadata takes what a router adds about its upstream: without it all of
// OpenRouter's errors would read "Provider returned error".
func (r *report) readMetadata(raw json.RawMessage, depth int) {
	var m struct {
		Raw       json.RawMessage            `json:"raw"`
		ErrorType json.RawMessage            `json:"error_type"`
		Headers   map[string]json.RawMessage `json:"headers"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return
	}
	r.word(m.ErrorType)
	for name, value := range m.Headers {
		if r.header == nil {
			r.header = http.Header{}
		}
		if s := Text(value); s != "" {
			r.header.Set(name, s)
		}
	}
	upstream := report{}
	upstream.read(m.Raw, depth+1)
	switch {
	case upstream.text == "" || upstream.text == r.text:
	case r.text == "":
		r.text = upstream.text
	default:
		r.text += ": " + upstream.text
	}
	r.words = append(r.words, upstream.words...)
}

// loc joins the path of a validation report, as in ["body", "messages", 0].
func loc(raw json.RawMessage) string {
	var path []json.RawMessage
	if json.Unmarshal(raw, &path) != nil {
		return ""
	}
	var names []string
	for _, p := range path[:min(len(path), 8)] {
		names = append(names, strings.Trim(string(p), `"`))
	}
	return strings.Join(names, ".")
}

// title is what an HTML page calls itself. Pages come from proxies and wrong
// base URLs; their body would tell nothing more.
func title(page string) string {
	for _, tag := range []string{"title", "h1"} {
		_, rest, ok := strings.Cut(page, "<"+tag+">")
		text, _, closed := strings.Cut(rest, "</"+tag+">")
		if ok && closed && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text) + " (an HTML page)"
		}
	}
	return "an HTML page"
}
