package diff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What Parse takes at most.
const (
	maxPatch = 16 << 20 // bytes
	maxFiles = 10_000
)

// Kind is the mark of a line in a hunk.
type Kind byte

// The kinds of lines.
const (
	Same    Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
)

// Line is one line of a hunk without its newline; a carriage return before that
// belongs to Text. NoEOL: the file ends here without a newline.
type Line struct {
	Kind  Kind
	Text  string
	NoEOL bool
}

// Hunk is one changed place. The starts are lines from 1; with a count of 0 the
// start is the line before the place.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	// Section is what stands after the second @@.
	Section string
	Lines   []Line
}

// FileDiff is what a patch does to one file. A path is "" for /dev/null, and
// has lost the prefix a/ or b/ when both sides have theirs. It may be anything
// else: check it before use.
type FileDiff struct {
	OldPath, NewPath string
	Hunks            []Hunk
	// Binary: the contents differ but are not shown. Cut: changed lines are
	// missing at the end (UnifiedMax).
	Binary, Cut bool
}

// parser walks over the lines of a patch.
type parser struct {
	rest string
	line int // of what was taken last, from 1
}

// Parse reads a patch in unified form, of git or plain. It is strict: every
// line has a meaning, the counts of each hunk are right, hunks are in order and
// do not overlap. Headers of git and empty lines between files are passed over;
// copies, renames without a change and binary patches of git are refused.
func Parse(patch string) ([]FileDiff, error) {
	if len(patch) > maxPatch {
		return nil, fmt.Errorf("parse patch: %d bytes, at most %d are read", len(patch), maxPatch)
	}
	var files []FileDiff
	p := parser{rest: patch}
	for p.rest != "" {
		f, err := p.file()
		if err == nil && len(files) == maxFiles {
			err = fmt.Errorf("more than %d files", maxFiles)
		}
		if err != nil {
			return nil, fmt.Errorf("parse patch: line %d: %w", max(p.line, 1), err)
		}
		files = append(files, f)
		for p.rest != "" && strings.Trim(p.peek(), "\r") == "" {
			p.take()
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("parse patch: no file in it")
	}
	return files, nil
}

// peek gives the next line without its newline.
func (p *parser) peek() string {
	line, _, _ := strings.Cut(p.rest, "\n")
	return line
}

// take gives it and moves on.
func (p *parser) take() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	p.line++
	return line
}

// gitHeaders may stand before --- and tell nothing that matters here.
var gitHeaders = [...]string{
	"diff --git ", "index ", "old mode ", "new mode ", "new file mode ",
	"deleted file mode ", "similarity index ", "rename from ", "rename to ",
}

func isGitHeader(line string) bool {
	for _, h := range gitHeaders {
		if strings.HasPrefix(line, h) {
			return true
		}
	}
	return false
}

// file reads one file:
//
//	git headers | --- old | +++ new | hunks, or "Binary files differ" | cut mark
//
// Only a file that is made or removed may have no hunk: it is empty.
func (p *parser) file() (FileDiff, error) {
	var f FileDiff
	for isGitHeader(p.peek()) {
		p.take()
	}
	if err := p.names(&f); err != nil {
		return f, err
	}
	for strings.HasPrefix(p.rest, "@@ ") {
		h, err := p.hunk()
		if err != nil {
			return f, err
		}
		if n := len(f.Hunks); n > 0 && !follows(h, f.Hunks[n-1]) {
			return f, fmt.Errorf("hunk is not after the one before it")
		}
		f.Hunks = append(f.Hunks, h)
	}
	switch line := p.peek(); {
	case line == binaryMark && len(f.Hunks) == 0:
		p.take()
		f.Binary = true
	case strings.HasPrefix(line, cutMark):
		p.take()
		f.Cut = true
	}
	if len(f.Hunks) == 0 && !f.Binary && !f.Cut && f.OldPath != "" && f.NewPath != "" {
		return f, fmt.Errorf("no hunk for %.80q", f.NewPath)
	}
	return f, nil
}

// names reads --- and +++. A prefix counts as one only when both sides have
// theirs: models leave them out, and a folder may be named a.
func (p *parser) names(f *FileDiff) error {
	before, err := p.name("--- ")
	if err != nil {
		return err
	}
	after, err := p.name("+++ ")
	if err != nil {
		return err
	}
	isA, isB := strings.HasPrefix(before, "a/"), strings.HasPrefix(after, "b/")
	if (isA || before == devNull) && (isB || after == devNull) {
		before, after = strings.TrimPrefix(before, "a/"), strings.TrimPrefix(after, "b/")
	}
	if before == devNull && after == devNull {
		return fmt.Errorf("both sides are /dev/null")
	}
	if before != devNull {
		f.OldPath = before
	}
	if after != devNull {
		f.NewPath = after
	}
	return nil
}

// name reads the name on the line that begins with mark. A tab ends it; what
// follows, a date, is ignored.
func (p *parser) name(mark string) (string, error) {
	line := p.take()
	name, ok := strings.CutPrefix(line, mark)
	if !ok {
		return "", fmt.Errorf("got %.40q, want a line with %q", line, mark)
	}
	if strings.HasPrefix(name, `"`) {
		return unquote(strings.TrimRight(name, "\r\t "))
	}
	name, _, _ = strings.Cut(name, "\t")
	name = strings.TrimSuffix(name, "\r")
	if name == "" {
		return "", fmt.Errorf("empty name after %q", mark)
	}
	return name, nil
}

// unquote reads a quoted name: octal escapes of bytes and those of Go.
func unquote(s string) (string, error) {
	name, err := strconv.Unquote(s)
	if err != nil || name == "" {
		return "", fmt.Errorf("bad name %.80s", strconv.Quote(s))
	}
	return name, nil
}

// isOdd reports what a name is quoted for.
func isOdd(r rune) bool {
	return r == '"' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r)
}

// runeLen is the number of bytes that r took at the start of s.
func runeLen(s string, r rune) int {
	if r == utf8.RuneError {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	return utf8.RuneLen(r)
}
