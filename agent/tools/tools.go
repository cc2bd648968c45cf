// Package tools holds the built-in tools that work on files, on the history of
// a repository and with programs, one tool a file.
//
// A tool turns a call into a plan and carries exactly that plan out. It decides
// nothing about permissions, it opens no path and starts no program by itself:
// both go through the Files and Exec of the call, so that this package imports
// neither os nor os/exec. It holds nothing between two calls.
//
// Whatever comes back to the model is valid UTF-8, plain text, and bounded.
package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	// maxOutput bounds the text of a result, in bytes; the engine allows a
	// result that many characters (spec runner.md, "Results").
	maxOutput = 48_000
	// maxFile bounds the files that are hashed, edited and overwritten.
	maxFile = 32 << 20
	// maxTitle bounds a plan's title, in characters.
	maxTitle = 400
)

// All returns the built-in tools in the order in which they are offered.
func All() []plug.Tool {
	return []plug.Tool{
		readFile{}, listFiles{}, searchText{}, gitStatus{}, gitDiff{},
		writeFile{}, editFile{}, runProcess{}, shell{},
	}
}

// errPlan tells of a plan that Prepare never made complete: its path was
// outside the workspace, so that its file could not be read.
var errPlan = errors.New("the plan is not complete: its path was outside the workspace")

// missing is the error for a path where nothing stands. It names what could
// have been meant, and takes none of it.
func missing(ctx context.Context, c *plug.Call, t plug.Target) error {
	names := c.Files.Similar(t.Abs)
	if len(names) == 0 {
		names = namesakes(ctx, c, t)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s does not exist", t.Name)
	}
	return fmt.Errorf("%s does not exist; similar: %s", t.Name, strings.Join(names[:min(len(names), 5)], ", "))
}

// namesakes finds files with the same base name elsewhere in the workspace.
func namesakes(ctx context.Context, c *plug.Call, t plug.Target) []string {
	base := filepath.Base(t.Abs)
	if !utf8.ValidString(base) || strings.ContainsAny(base, `*?[]{}\!`) {
		return nil
	}
	l, err := c.Files.List(ctx, plug.ListQuery{Glob: base, Limit: 5})
	if err != nil {
		return nil // the hint is all that is lost
	}
	var names []string
	for _, e := range l.Entries {
		names = append(names, text.Plain(e.Name))
	}
	return names
}

// regular refuses what is no regular file. Nothing is known of a path outside
// the workspace before its directory is approved, so that passes here.
func regular(ctx context.Context, c *plug.Call, t plug.Target) error {
	switch {
	case !t.Inside || t.Regular:
		return nil
	case !t.Exists:
		return missing(ctx, c, t)
	case t.Dir:
		return fmt.Errorf("%s is a directory; list_files shows what is in it", t.Name)
	}
	return fmt.Errorf("%s is not a regular file", t.Name)
}

// directory resolves the working directory of a command; "" is the workspace.
func directory(ctx context.Context, c *plug.Call, path string) (plug.Target, error) {
	if path == "" {
		path = "."
	}
	t, err := resolve(c, path)
	switch {
	case err != nil:
		return t, err
	case !t.Inside || t.Dir:
		return t, nil
	case !t.Exists:
		return t, missing(ctx, c, t)
	}
	return t, fmt.Errorf("%s is not a directory", t.Name)
}

// place resolves what list_files and search_text walk over, a directory or a
// file, and makes the plan for it.
func place(ctx context.Context, c *plug.Call, path string) (plug.Target, plug.Plan, error) {
	if path == "" {
		path = "."
	}
	t, err := resolve(c, path)
	if err != nil {
		return t, plug.Plan{}, err
	}
	if t.Inside && !t.Exists {
		return t, plug.Plan{}, missing(ctx, c, t)
	}
	p := plug.Plan{
		Effect: plug.EffectRead, Title: t.Name,
		Paths: []plug.PlanPath{{Path: t.Abs, Access: plug.AccessRead}},
	}
	if t.Dir {
		// So that a directory outside is asked for itself, not for its parent.
		p.Dir = t.Abs
	}
	return t, p, nil
}

// readWhole returns the bytes of a file of at most maxFile bytes, and refuses a
// larger one before reading it.
func readWhole(ctx context.Context, c *plug.Call, path string) ([]byte, plug.FileInfo, error) {
	f, err := c.Files.Open(ctx, path)
	if err != nil {
		return nil, plug.FileInfo{}, err
	}
	defer f.Close()
	info := f.Info()
	if info.Size > maxFile {
		return nil, info, fmt.Errorf("%s has %s, more than the %s that can be edited; use a program for it",
			info.Name, bytesText(info.Size), bytesText(maxFile))
	}
	data, err := readAll(ctx, f, info.Size)
	return data, info, err
}

// readAll reads up to maxFile bytes whatever size the file said it had; more
// is an error, since the file grows while it is read.
func readAll(ctx context.Context, f plug.File, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(size, 0), maxFile)) + bytes.MinRead)
	r := &contextReader{ctx: ctx, r: io.NewSectionReader(f, 0, maxFile+1)}
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Info().Name, err)
	}
	if b.Len() > maxFile {
		return nil, fmt.Errorf("read %s: it grows while it is read", f.Info().Name)
	}
	return b.Bytes(), nil
}

// shown is a text as it may be shown, which is not how it may be edited.
func shown(c *plug.Call, text io.ReaderAt) io.ReaderAt {
	if c.Files.Shown == nil {
		return text
	}
	return c.Files.Shown(text)
}

// contextReader ends reading with the context of the call: a file can be on a slow
// network.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// bytesText is a size for people, rounded down: "512 bytes", "32 MiB".
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20 && n%(1<<20) != 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// count is a number with its noun: "1 line", "3 lines", "2 matches".
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "y"):
		noun = noun[:len(noun)-1] + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// headLines returns the start of s, at most n bytes and cut after a line where
// one ends, and how many bytes were left out.
func headLines(s string, n int) (string, int) {
	if len(s) <= n {
		return s, 0
	}
	head := text.Prefix(s, n)
	if i := strings.LastIndexByte(head, '\n'); i > n/2 {
		head = head[:i+1]
	}
	return head, len(s) - len(head)
}
