package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// testCase is a case file.
type testCase struct {
	status int
	header http.Header
	// pieces is the body between the places where the network cuts.
	pieces []string
	// hold: the connection stays open behind the body.
	hold    bool
	events  string
	message string
}

func parse(file string) (*testCase, error) {
	sections := map[string]string{}
	name := "comment"
	for line := range strings.Lines(file) {
		if inner, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(inner, " --\n") {
			name = strings.TrimSuffix(inner, " --\n")
			continue
		}
		sections[name] += line
	}
	c := &testCase{
		events:  expand(sections["events"]),
		message: strings.TrimSpace(expand(sections["message"])),
	}
	if c.events == "" || len(sections["comment"]) == 0 {
		return nil, fmt.Errorf("a case needs a comment and events")
	}
	return c, c.parseResponse(sections["response"])
}

func (c *testCase) parseResponse(section string) error {
	head, body, ok := strings.Cut(section, "\n\n")
	if !ok {
		head = strings.TrimSuffix(section, "\n")
	}
	first, rest, _ := strings.Cut(head, "\n")
	status, media, _ := strings.Cut(first, " ")
	n, err := strconv.Atoi(status)
	if err != nil {
		return fmt.Errorf("status %q: %w", status, err)
	}
	c.status, c.header = n, http.Header{}
	if media != "" {
		c.header.Set("Content-Type", media)
	}
	for line := range strings.Lines(rest) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		c.header.Add(name, value)
	}
	body, c.hold = strings.CutSuffix(body, "<hold>\n")
	for piece := range strings.SplitSeq(body, "<cut>") {
		c.pieces = append(c.pieces, expand(piece))
	}
	return nil
}

func (c *testCase) size() int {
	n := 0
	for _, p := range c.pieces {
		n += len(p)
	}
	return n
}

// expand replaces the marks of a text.
func expand(s string) string {
	s = strings.ReplaceAll(s, "<>\n", "")
	mark := regexp.MustCompile(`<(CR|LF|x[0-9A-F]{2}|repeat [0-9]+ [^>]+)>`)
	return mark.ReplaceAllStringFunc(s, func(m string) string {
		m = m[1 : len(m)-1]
		switch {
		case m == "CR":
			return "\r"
		case m == "LF":
			return "\n"
		case m[0] == 'x':
			b, err := strconv.ParseUint(m[1:], 16, 8)
			if err != nil {
				return m
			}
			return string([]byte{byte(b)})
		}
		fields := strings.SplitN(m, " ", 3)
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			return m
		}
		return strings.Repeat(fields[2], n)
	})
}

// sameJSON compares a message with what a case expects. "*" in a case stands
// for an id that the client made: nine letters or digits, the same wherever it
// stands at the same place.
func sameJSON(got, want string) bool {
	var g, w any
	if json.Unmarshal([]byte(got), &g) != nil || json.Unmarshal([]byte(want), &w) != nil {
		return false
	}
	return same(g, w)
}

func same(got, want any) bool {
	switch w := want.(type) {
	case string:
		g, ok := got.(string)
		if ok && w == "*" {
			return regexp.MustCompile(`^[A-Za-z0-9]{9}$`).MatchString(g)
		}
		return ok && g == w
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !same(g[i], w[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if !same(g[k], w[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}
