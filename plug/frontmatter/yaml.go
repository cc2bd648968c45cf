package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// fields reads the block. What is no YAML is tried once more with the values
// quoted that people forget to quote.
func (d *Document) fields(block string) error {
	root, err := decode(block)
	if err != nil {
		quoted, lines := quoteValues(block)
		again, err2 := decode(quoted)
		if len(lines) == 0 || err2 != nil {
			return &Error{errorLine(block, err), reason(err)}
		}
		root = again
		for _, line := range lines {
			d.problem(line, "the value is no YAML, it wants quotes; it was taken as if it had them")
		}
	}
	if root == nil {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return &Error{max(root.Line, 2), "the block holds no keys"}
	}
	v, err := d.value(root, 0)
	slices.SortStableFunc(d.Problems, func(a, b Problem) int { return a.Line - b.Line })
	if err != nil {
		return err
	}
	d.Fields = v.Fields
	return nil
}

// decode parses one YAML document into nodes, which expands no alias; nil is an
// empty one. The line before the block stands for the fence, so that lines count
// as in the file.
func decode(block string) (root *yaml.Node, err error) {
	// The module panics with its own errors and recovers them; others would be its
	// defects, and must not be ours.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, errors.New("the YAML parser gave up on it")
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader("\n" + block))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the block holds more than one YAML document")
	}
	if len(doc.Content) != 1 {
		return nil, nil
	}
	if n := doc.Content[0]; n.Kind != yaml.ScalarNode || n.ShortTag() != "!!null" {
		return n, nil
	}
	return nil, nil
}

// value makes a plain value of a node.
func (d *Document) value(n *yaml.Node, depth int) (Value, error) {
	v := Value{Line: n.Line}
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return v, &Error{n.Line, "anchors (&) and aliases (*) are not taken; a text that begins so wants quotes"}
	case depth > maxDepth:
		return v, &Error{n.Line, fmt.Sprintf("lists and maps are nested deeper than %d", maxDepth)}
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if v.Kind = scalarKind(n); v.Kind != Null {
			v.Text = n.Value
		}
		return v, nil
	case yaml.SequenceNode:
		v.Kind = List
		for _, item := range n.Content {
			e, err := d.value(item, depth+1)
			if err != nil {
				return v, err
			}
			v.Items = append(v.Items, e)
		}
		return v, nil
	}
	return d.mapping(n, depth)
}

func scalarKind(n *yaml.Node) Kind {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return Text
	}
	switch n.ShortTag() {
	case "!!null":
		return Null
	case "!!bool":
		return Bool
	}
	return Text
}

// mapping keeps the first of keys that are there twice, and tells.
func (d *Document) mapping(n *yaml.Node, depth int) (Value, error) {
	v := Value{Kind: Map, Line: n.Line}
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || k.Anchor != "" {
			return v, &Error{k.Line, "a key is no plain word"}
		}
		e, err := d.value(n.Content[i+1], depth+1)
		if err != nil {
			return v, err
		}
		if line := first[k.Value]; line > 0 {
			d.problem(k.Line, "key %.80q is there twice, first in line %d, which counts", k.Value, line)
			continue
		}
		first[k.Value] = k.Line
		v.Fields = append(v.Fields, Field{k.Value, k.Line, e})
	}
	return v, nil
}

// quoteValues puts quotes around the values that people forget to quote: with
// ": " in them, or beginning as something else in YAML ("*.go", "[a] [b]").
// It returns the lines, counted in the file, that it changed.
func quoteValues(block string) (quoted string, lines []int) {
	entry := regexp.MustCompile(`^([ \t]*(?:- )?[\w.-]+:[ \t]+)(\S.*?)[ \t]*$`)
	var b strings.Builder
	number := 1
	for line := range strings.Lines(block) {
		number++
		m := entry.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || !wantsQuotes(m[2]) {
			b.WriteString(line)
			continue
		}
		b.WriteString(m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'\n")
		lines = append(lines, number)
	}
	return b.String(), lines
}

func wantsQuotes(value string) bool {
	switch value[0] {
	case '*', '@', '`', '%':
		return true
	case '[', '{':
		// "[a] [b]" is two lists in a row, which is none.
		end := strings.IndexAny(value, "]}")
		return end >= 0 && end < len(value)-1
	case '\'', '"', '|', '>', '&', '!':
		return false
	}
	return strings.Contains(value, ": ") || strings.HasSuffix(value, ":")
}

// errorLine finds the line with which a block stops being YAML. What the parser
// says is the start of what it was in, or a line beside; so the block is cut line
// by line as long as it stays wrong. Large ones are not worth that time.
func errorLine(block string, err error) int {
	lines := strings.SplitAfter(block, "\n")
	if len(block) > 4<<10 || len(lines) > 100 {
		return parserLine(err)
	}
	n := len(lines)
	for n > 1 {
		if _, err := decode(strings.Join(lines[:n-1], "")); err == nil {
			break
		}
		n--
	}
	return n + 1 // the fence is the first line
}

// parserLine is the line that an error of the parser names.
func parserLine(err error) int {
	_, rest, _ := strings.Cut(err.Error(), "line ")
	digits, _, _ := strings.Cut(rest, ":")
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}

// reason is what an error of the parser says, without its name and line.
func reason(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(s, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			s = after
		}
	}
	return s
}
