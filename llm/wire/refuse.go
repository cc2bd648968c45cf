package wire

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"alisio/llm"
)

// Field is an optional field of requests, which strict servers may refuse.
type Field struct {
	// Name is the path of the field, as in "reasoning.summary".
	Name string
	// Also are other words by which servers name it: those of its value.
	Also []string
	// Value: the server may mean the field's value, which a person chose. Then it
	// must say that it does not know the field.
	Value bool
}

// Names lists optional fields by name.
type Names []string

// Has reports whether a field is one of them.
func (n Names) Has(name string) bool { return slices.Contains(n, name) }

// post asks for an answer. A server that refuses optional fields by name is
// asked once more without them, and never again with them for that model: most
// such fields are a matter of the model. A field that the server names although it
// is gone was not the fault, and nothing is remembered then; any other answer, also
// one of a server in trouble, shows that it was.
func (e *Endpoint) post(ctx context.Context, q Question) (*http.Response, error) {
	without := e.remembered(q.Model)
	for {
		body, err := q.Body(without)
		if err != nil {
			return nil, err
		}
		if q.Sent != nil {
			q.Sent(body)
		}
		resp, err := e.send(ctx, http.MethodPost, q.Path, body, q.Session)
		if err != nil {
			return nil, err
		}
		if success(resp) {
			e.remember(q.Model, without)
			return resp, nil
		}
		fault, refused := e.refusal(resp, q)
		before := len(without)
		for _, name := range refused {
			if !without.Has(name) {
				without = append(slices.Clip(without), name)
			}
		}
		if len(refused) == 0 {
			e.remember(q.Model, without)
		}
		if len(without) == before {
			return nil, fault
		}
	}
}

func (e *Endpoint) remembered(model string) Names {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused[model]
}

func (e *Endpoint) remember(model string, without Names) {
	if len(without) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused == nil {
		e.refused = map[string]Names{}
	}
	e.refused[model] = without
}

// refusal reads an answer that is no success: its error, and which of the
// optional fields are the reason.
func (e *Endpoint) refusal(resp *http.Response, q Question) (*llm.Error, Names) {
	defer resp.Body.Close()
	stop := After(errorTime, func() { resp.Body.Close() })
	defer stop()
	fault, r := e.status(resp)
	q.direct(fault, r)
	if fault.Cause != llm.CauseBadRequest || fault.Status != http.StatusBadRequest && fault.Status != http.StatusUnprocessableEntity {
		return fault, nil
	}
	var refused Names
	for _, f := range q.Optional {
		if f.Value && !contains(r.evidence, unknownPhrases()) {
			continue
		}
		if r.names(f.Name) || slices.ContainsFunc(f.Also, r.names) {
			refused = append(refused, f.Name)
		}
	}
	return fault, refused
}

// direct tells a person where else to ask a server that does not know the path:
// its error means neither the model nor anything else that it would name.
func (q Question) direct(fault *llm.Error, r report) {
	switch fault.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
	default:
		return
	}
	model := strings.ToLower(q.Model)
	if q.Elsewhere == "" || strings.Contains(r.evidence, "model") || model != "" && strings.Contains(r.evidence, model) {
		return
	}
	fault.Hint = "check the base URL; " + q.Elsewhere
}

// names reports whether the error is about a field: the server says so in a key
// made for it, or its text has the field's name. What the server quotes of the
// request counts for nothing.
func (r *report) names(field string) bool {
	return slices.ContainsFunc(r.params, func(p string) bool { return at(p, field) }) || mentions(r.text, field)
}

// at reports whether a path leads to a field, or to something in it. Validation
// reports begin their paths with "body".
func at(path, field string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "body."), field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// mentions looks for a field in the text of an error. A name that is an English
// word counts only in quotes or behind a colon or a word for what it is.
func mentions(text, field string) bool {
	plain := !strings.ContainsAny(field, "_.")
	text = text[:min(len(text), maxEvidence)]
	for from := 0; ; {
		n := strings.Index(text[from:], field)
		if n < 0 {
			return false
		}
		start, end := from+n, from+n+len(field)
		from = end
		before := text[:start]
		switch {
		case start > 0 && wordByte(text[start-1]) && !strings.HasSuffix(before, "body."):
		case end < len(text) && wordByte(text[end]) && text[end] != '.' && text[end] != '[':
		case !plain, introduces(before):
			return true
		}
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// introduces reports whether a text ends as one does before the name of a field.
func introduces(before string) bool {
	for _, end := range []string{`"`, "'", "`", ": ", "body.", "parameter ", "field ", "argument ", "property ", "key "} {
		if strings.HasSuffix(before, end) {
			return true
		}
	}
	return false
}

// unknownPhrases are how servers word that they do not know a field, in lower
// case.
func unknownPhrases() []string {
	return []string{
		"unsupported parameter", "unsupported_parameter", "unknown parameter", "unknown_parameter", "unknown field",
		"unrecognized", "unexpected", "extra_forbidden", "extra inputs", "extra fields", "not permitted", "not allowed",
		"not supported", "does not support",
	}
}
