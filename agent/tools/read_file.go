package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strings"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

const defaultLines = 2000

// readFile shows a part of a text file with line numbers, or an image. It opens
// regular files alone, reads no more than it has to, and refuses binary data by
// its kind. The hash that it shows is of the whole file as stored. A stored blob
// is shown likewise, without a hash: nothing can be changed in it.
type readFile struct{}

// readArgs is where to start: at a line, or, in a line that is too long for one
// result, at a byte of the text.
type readArgs struct {
	Path      string `json:"path"`
	StartLine int64  `json:"startLine"`
	Limit     int    `json:"limit"`
	StartByte int64  `json:"startByte"`
}

// readData is what Prepare hands to Execute.
type readData struct {
	// Asked is the name that was asked for, when only a look-alike exists.
	Asked string `json:"asked,omitempty"`
	// Blob is the hash of a blob; the plan has no path then.
	Blob string `json:"blob,omitempty"`
}

func (readFile) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "read_file",
		Description: "Read a text file (numbered lines, and the sha256 that edits need), an image, or a stored result (blob:HASH). " +
			"Long files come in parts; the result says how to go on.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},` +
			`"startLine":{"type":"integer","minimum":1},` +
			`"limit":{"type":"integer","minimum":1,"description":"lines, default 2000"},` +
			`"startByte":{"type":"integer","minimum":0,"description":"instead of startLine, inside huge lines"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
	}
}

// Prepare looks at the path alone and opens nothing. Whether there is such a blob
// is for Execute to find out: it is no path that the gate could judge.
func (readFile) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a readArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	if hash, ok := strings.CutPrefix(a.Path, blobPrefix); ok {
		return a.blobPlan(c, hash)
	}
	t, err := c.Files.Resolve(a.Path)
	if err != nil {
		return plug.Plan{}, err
	}
	var d readData
	if t.Inside && !t.Exists {
		twin, ok := lookAlike(c, t)
		if !ok {
			return plug.Plan{}, missing(ctx, c, t)
		}
		d.Asked, t = t.Name, twin
	}
	if err := regular(ctx, c, t); err != nil {
		return plug.Plan{}, err
	}
	data, err := json.Marshal(d)
	return plug.Plan{
		Effect: plug.EffectRead, Title: a.title(t.Name),
		Paths: []plug.PlanPath{{Path: t.Abs, Access: plug.AccessRead}}, Data: data,
	}, err
}

// blobPlan is the plan for a blob, whose title has the start of its hash.
func (a readArgs) blobPlan(c *plug.Call, hash string) (plug.Plan, error) {
	if err := checkBlob(c, hash); err != nil {
		return plug.Plan{}, err
	}
	data, err := json.Marshal(readData{Blob: hash})
	return plug.Plan{Effect: plug.EffectRead, Title: a.title(blobPrefix + hash[:8] + "…"), Data: data}, err
}

// lookAlike finds the one file whose name differs from the asked one only in
// characters that look alike, such as a no-break space. Only reading does so:
// a write never guesses.
func lookAlike(c *plug.Call, t plug.Target) (plug.Target, bool) {
	var twin plug.Target
	key, found := text.Skeleton(filepath.Base(t.Abs)), 0
	for _, name := range c.Files.Similar(t.Abs) {
		s, err := c.Files.Resolve(name)
		if err != nil || !s.Exists || !s.Inside || text.Skeleton(filepath.Base(s.Abs)) != key {
			continue
		}
		twin = s
		found++
	}
	return twin, found == 1
}

// title is the path and the range as asked: "tax/total.go:1-80".
func (a readArgs) title(name string) string {
	switch {
	case a.StartByte > 0:
		return fmt.Sprintf("%s @%d", name, a.StartByte)
	case a.Limit > 0:
		start := max(a.StartLine, 1)
		return fmt.Sprintf("%s:%d-%d", name, start, start+int64(a.Limit)-1)
	case a.StartLine > 1:
		return fmt.Sprintf("%s:%d-", name, a.StartLine)
	}
	return name
}

func (readFile) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a readArgs
	var d readData
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	if err := json.Unmarshal(p.Data, &d); err != nil {
		return plug.Result{}, errPlan
	}
	f, err := d.open(ctx, c, p)
	if err != nil {
		return plug.Result{}, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return plug.Result{}, fmt.Errorf("read %s: %w", f.Info().Name, err)
	}
	head = head[:n]
	if mime := llm.ImageType(head); mime != "" {
		return readImage(ctx, f, mime, d)
	}
	if kind := binaryKind(head); kind != "" {
		return plug.Result{}, fmt.Errorf("%s is binary (%s, %s), not text", f.Info().Name, kind, bytesText(f.Info().Size))
	}
	return a.readText(ctx, c, f, markedEncoding(head), d)
}

// open opens what was planned: the one path, or the blob.
func (d readData) open(ctx context.Context, c *plug.Call, p plug.Plan) (plug.File, error) {
	switch {
	case d.Blob != "" && len(p.Paths) == 0:
		return openBlob(ctx, c, d.Blob)
	case d.Blob == "" && len(p.Paths) == 1:
		return c.Files.Open(ctx, p.Paths[0].Path)
	}
	return nil, errPlan
}

// note is what stands above the result when another name was asked for.
func (d readData) note() string {
	if d.Asked == "" {
		return ""
	}
	return fmt.Sprintf("(%s does not exist; this is the file whose name looks like it)\n", d.Asked)
}

// readText finds the asked part in one pass and shows it. A second read takes just
// the bytes of that part, at most maxScan. It can begin and end within a line, and
// so within a key.
func (a readArgs) readText(ctx context.Context, c *plug.Call, f plug.File, e encoding, d readData) (plug.Result, error) {
	info := f.Info()
	src, h, err := openText(ctx, f, e)
	if err != nil {
		return plug.Result{}, err
	}
	s := surveyor{startLine: max(a.StartLine, 1), startByte: -1}
	if a.StartByte > 0 {
		s.startByte = a.StartByte
	}
	if err := s.run(ctx, src, h); err != nil {
		return plug.Result{}, fmt.Errorf("%s: %w", info.Name, err)
	}
	page := page{name: info.Name, survey: s.survey, encoding: e, blob: d.Blob != "", room: pageRoom(c)}
	if s.whole && h != nil && !page.blob {
		page.sum = hex.EncodeToString(h.Sum(nil))
	}
	if !s.found && (s.size > 0 || s.startLine > 1 || a.StartByte > 0) {
		return plug.Result{}, page.pastEnd(a)
	}
	if s.at == 0 && e == utf8BOM {
		page.at = int64(len(e.bom()))
	}
	size := int64(maxScan)
	if s.whole {
		size = min(size, s.size-page.at+1)
	}
	buf := make([]byte, size)
	n, err := shown(c, src).ReadAt(buf, page.at)
	if err != nil && err != io.EOF {
		return plug.Result{}, fmt.Errorf("read %s: %w", info.Name, err)
	}
	limit := a.Limit
	if limit <= 0 {
		limit = defaultLines
	}
	page.fill(buf[:n], n < len(buf), limit)
	r := plug.Text(d.note() + page.String())
	return r.WithSummary("%s", count(page.shown, "line")), nil
}

// source is text as UTF-8, or in an encoding that is not known.
type source interface {
	io.Reader
	io.ReaderAt
}

// openText gives the text of a file, and the hash that a pass over it has to
// feed: nil when the file is too large for edits. UTF-16 is decoded here, and
// positions are then those of the decoded text.
func openText(ctx context.Context, f plug.File, e encoding) (source, hash.Hash, error) {
	info := f.Info()
	if e != utf16LE && e != utf16BE {
		src := io.NewSectionReader(f, 0, 1<<62)
		if info.Size > maxFile {
			return src, nil, nil
		}
		return src, sha256.New(), nil
	}
	if info.Size > maxFile {
		return nil, nil, fmt.Errorf("%s is %s with %s, more than the %s that can be decoded",
			info.Name, e, bytesText(info.Size), bytesText(maxFile))
	}
	data, err := readAll(ctx, f, info.Size)
	if err != nil {
		return nil, nil, err
	}
	text, _, _ := decode(data)
	return bytes.NewReader(text), &fixedHash{Hash: sha256.New(), sum: sha256.Sum256(data)}, nil
}

// fixedHash is the hash of the stored bytes for a pass over decoded ones.
type fixedHash struct {
	hash.Hash
	sum [sha256.Size]byte
}

func (h *fixedHash) Write(p []byte) (int, error) { return len(p), nil }
func (h *fixedHash) Sum(b []byte) []byte         { return append(b, h.sum[:]...) }

// readImage returns an image for the model to look at, or says why it is none.
func readImage(ctx context.Context, f plug.File, mime string, d readData) (plug.Result, error) {
	info := f.Info()
	if info.Size > llm.MaxImageBytes {
		return plug.Result{}, fmt.Errorf("%s is an image (%s) with %s, more than %s",
			info.Name, mime, bytesText(info.Size), bytesText(llm.MaxImageBytes))
	}
	data, err := readAll(ctx, f, info.Size)
	if err != nil {
		return plug.Result{}, err
	}
	a, err := llm.ReadImage(data)
	if err != nil {
		return plug.Result{}, fmt.Errorf("%s %w", info.Name, err)
	}
	head := fmt.Sprintf("%s%s · %s · %d×%d pixels · %s", d.note(), info.Name, a.MIMEType, a.Width, a.Height, bytesText(int64(len(data))))
	if d.Blob == "" {
		head += " · sha256: " + hashOf(data)
	}
	r := plug.Text(head)
	r.Parts = append(r.Parts, llm.Part{Type: llm.PartImage, MIMEType: a.MIMEType, Data: a.Data})
	return r.WithSummary("%d×%d", a.Width, a.Height), nil
}
