package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"alisio/agent/text"
	"alisio/plug"
)

// maxContent bounds what one call can write.
const maxContent = 10 << 20

// writeFile makes a file or replaces all of it. An existing file is replaced only
// when the model has read it as it is now.
type writeFile struct{}

type writeArgs struct {
	Path         string  `json:"path"`
	Content      string  `json:"content"`
	ExpectedHash *string `json:"expectedHash"`
}

func (writeFile) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "write_file",
		Description: "Create a file or replace all of it. Prefer edit_file for changes.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},"content":{"type":"string"},` +
			`"expectedHash":{"type":["string","null"],"description":"null for a new file, else the sha256 from read_file"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
		Effect: plug.EffectWrite,
	}
}

// Prepare compares the old file with the content. Nothing is known of a file
// outside the workspace: its plan has no preview and can not be executed.
func (writeFile) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a writeArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	if len(a.Content) > maxContent {
		return plug.Plan{}, fmt.Errorf("content has %s, more than %s", bytesText(int64(len(a.Content))), bytesText(maxContent))
	}
	hash, err := expected(a.ExpectedHash)
	if err != nil {
		return plug.Plan{}, err
	}
	t, err := resolve(c, a.Path)
	switch {
	case err != nil:
		return plug.Plan{}, err
	case !t.Inside:
		return outsidePlan(t), nil
	case !t.Exists && namesDirectory(a.Path):
		return plug.Plan{}, fmt.Errorf("the path of %s ends in a slash, so it is that of a directory: leave the slash out, or give the file's name after it", t.Name)
	case !t.Exists && hash != "":
		return plug.Plan{}, fmt.Errorf("%w; to create it set expectedHash to null", missing(ctx, c, t))
	case !t.Exists:
		return a.change(nil, false).plan(t, "")
	}
	if err := regular(ctx, c, t); err != nil {
		return plug.Plan{}, err
	}
	if hash == "" {
		return plug.Plan{}, fmt.Errorf("%s exists: read it with read_file and give its sha256 as expectedHash", t.Name)
	}
	old, err := current(ctx, c, t.Abs, hash)
	if err != nil {
		return plug.Plan{}, err
	}
	return a.change(old, true).plan(t, hash)
}

// namesDirectory reports whether a path could mean nothing but a directory. The
// plan's path no longer tells: nothing stands there, and it has no slash.
func namesDirectory(path string) bool {
	name, _, _ := text.UnquoteName(path)
	_, last := filepath.Split(name)
	return last == "" || last == "."
}

// Execute writes the file whose hash was planned, over the one whose hash was
// given, or where nothing stands.
func (writeFile) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a writeArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	path, d, err := planned(p)
	if err != nil {
		return plug.Result{}, err
	}
	var old []byte
	if d.Old != "" {
		if old, err = current(ctx, c, path, d.Old); err != nil {
			return plug.Result{}, err
		}
	}
	return a.change(old, d.Old != "").write(ctx, c, path, d)
}

// change is the content in the form of the file that it replaces: with its byte
// order mark and encoding, and with CRLF where that has nothing else. Beside
// that it is written as given.
func (a writeArgs) change(old []byte, exists bool) change {
	text := []byte(a.Content)
	if !exists {
		return change{data: text, after: text, what: "created, " + count(countLines(text), "line")}
	}
	before, e, lossless := decode(old)
	ch := change{before: before, what: "replaced, " + count(countLines(text), "line")}
	if ends := lineEnds(before); ends == "\r\n" && bytes.IndexByte(text, '\n') >= 0 && !bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		ch.notes = append(ch.notes, "line ends are CRLF, as they were")
	}
	if e != utf8Text && e != otherText {
		text = bytes.TrimPrefix(text, []byte(utf8BOM.bom()))
		ch.notes = append(ch.notes, "encoding is "+e.String()+", as it was")
	}
	if e == otherText || !lossless {
		ch.notes = append(ch.notes, "the old file was not valid in any known encoding; the new one is "+newEncoding(e).String())
	}
	ch.after = text
	ch.data = newEncoding(e).encode(text)
	return ch
}

// newEncoding is the encoding in which text replaces a file of encoding e: the
// same, but UTF-8 for one that is not known and so can not be written.
func newEncoding(e encoding) encoding {
	if e == otherText {
		return utf8Text
	}
	return e
}

// countLines counts lines, the last one too when nothing ends it.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// lineEnds is how every line of a text ends: "\n", "\r\n", "" when there is no
// line end or they are mixed.
func lineEnds(text []byte) string {
	lf, crlf := bytes.Count(text, []byte{'\n'}), bytes.Count(text, []byte("\r\n"))
	switch {
	case lf == 0 || (crlf > 0 && crlf < lf):
		return ""
	case crlf == lf:
		return "\r\n"
	}
	return "\n"
}
