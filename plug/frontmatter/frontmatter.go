// Package frontmatter reads the YAML between two lines of --- at the start of a
// Markdown file: of skills, templates and agents, our own and those of other
// programs.
//
// It is lenient with what people and other programs write (spec
// agents-skills.md): CRLF, a byte order mark, a block that is never closed,
// values with ": " in them that nobody quoted, lists as comma strings, quoted
// booleans. What it mended it tells. It gives plain values out and understands
// none of them: which keys there may be is the caller's business.
//
// The text is hostile. A block has at most 64 KiB and eight levels; anchors and
// aliases, with which a small text becomes a huge one, are refused. This is the one
// door to the YAML module; it writes no YAML and reads none elsewhere.
package frontmatter

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxBytes bounds the block between the lines.
	MaxBytes = 64 << 10
	// maxDepth bounds lists and maps in one another.
	maxDepth = 8
	// maxProblems bounds what is told of one file.
	maxProblems = 50
)

// Document is a Markdown file taken apart.
type Document struct {
	// Found: there is a block, which may be empty. Without one, all is Body.
	Found bool
	// Fields stand in the order of the file, no key twice.
	Fields []Field
	// Body is what follows the block: valid UTF-8 with plain line ends. BodyLine is
	// the number of its first line in the file, from 1.
	Body     string
	BodyLine int
	// Problems tell what was mended or left out, in the order of the lines as far
	// as they have one.
	Problems []Problem
}

// Problem is something that is not as it should be and did no harm.
type Problem struct {
	// Line counts from 1 in the file.
	Line int
	// Text says what, with foreign text quoted.
	Text string
}

// Error tells of a block that can not be read.
type Error struct {
	// Line counts from 1 in the file.
	Line   int
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("read frontmatter: line %d: %s", e.Line, e.Reason)
}

// Parse takes a file apart. With an error, which is always an *Error, there are no
// Fields; Found and Body are right all the same. Data that holds only the start of
// a file is as good as the whole, but for Body.
func Parse(data []byte) (Document, error) {
	d := Document{BodyLine: 1}
	text := d.clean(data)
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != fence {
		d.Body = text
		return d, nil
	}
	block, body, closed := cutBlock(rest)
	switch {
	case !closed && len(rest) > MaxBytes:
		d.Found = true
		return d, &Error{1, fmt.Sprintf("--- is not closed within %d KiB", MaxBytes>>10)}
	case !closed:
		d.problem(1, "--- is never closed, so that all is text and nothing frontmatter")
		d.Body = text
		return d, nil
	}
	d.Found, d.Body = true, body
	d.BodyLine = strings.Count(block, "\n") + 3
	if len(block) > MaxBytes {
		return d, &Error{1, fmt.Sprintf("the block is larger than %d KiB", MaxBytes>>10)}
	}
	return d, d.fields(block)
}

// fence opens and closes a block, blanks behind it aside.
const fence = "---"

// cutBlock cuts a text before and after the first line that closes a block.
func cutBlock(text string) (block, body string, closed bool) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\n") == fence {
			return text[:at], text[at+len(line):], true
		}
		if at += len(line); at > MaxBytes {
			break
		}
	}
	return "", "", false
}

// clean drops a byte order mark and makes line ends plain. What is no UTF-8 is
// replaced, which no YAML parser would take.
func (d *Document) clean(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		d.problem(1, "the file is not valid UTF-8: wrong bytes were replaced")
	}
	text := strings.ToValidUTF8(string(data), "\ufffd")
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

func (d *Document) problem(line int, format string, args ...any) {
	if len(d.Problems) < maxProblems {
		d.Problems = append(d.Problems, Problem{line, fmt.Sprintf(format, args...)})
	}
}

// Get returns the value of a key.
func (d *Document) Get(key string) (Value, bool) {
	for _, f := range d.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return Value{}, false
}
