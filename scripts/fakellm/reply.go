package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"alisio/llm/script"
)

// scenario is a script of this server.
type scenario struct {
	key     string
	models  []json.RawMessage
	replies []reply
}

// reply is a turn and what goes wrong on its way. Its delayMs hides that of
// the turn.
type reply struct {
	script.Turn
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`

	Body      json.RawMessage `json:"body"`
	Raw       *string         `json:"raw"`
	RawBase64 *string         `json:"rawBase64"`
	RawFile   string          `json:"rawFile"`
	Bulk      *bulk           `json:"bulk"`

	DelayMs      int    `json:"delayMs"`
	ChunkDelayMs int    `json:"chunkDelayMs"`
	WriteBytes   int    `json:"writeBytes"`
	CutAfter     *int   `json:"cutAfter"`
	Reset        bool   `json:"reset"`
	Hang         bool   `json:"hang"`
	PingMs       int    `json:"pingMs"`
	Ping         string `json:"ping"`
	Repeat       int    `json:"repeat"`
	Expect       expect `json:"expect"`

	// bytes is the body of a raw reply, nil for all others.
	bytes []byte
}

type bulk struct {
	Deltas int `json:"deltas"`
	// Bytes is the length of the text of each delta; the chunk around it takes
	// about 170 bytes more.
	Bytes int `json:"bytes"`
}

type expect struct {
	Contains []string `json:"contains"`
	Lacks    []string `json:"lacks"`
}

// load reads a script. Errors name the reply, counted from 1.
func load(path string) (*scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raw struct {
		Key     string            `json:"key"`
		Models  []json.RawMessage `json:"models"`
		Replies []json.RawMessage `json:"replies"`
	}
	if err := script.Decode(data, &raw); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	sc := &scenario{key: raw.Key, models: raw.Models, replies: make([]reply, len(raw.Replies))}
	for i, r := range raw.Replies {
		if err := sc.replies[i].read(r, filepath.Dir(path), i == len(raw.Replies)-1); err != nil {
			return nil, fmt.Errorf("read %s: reply %d: %w", path, i+1, err)
		}
	}
	return sc, nil
}

// read decodes and checks one reply. Files are relative to dir.
func (r *reply) read(data []byte, dir string, last bool) error {
	if err := script.Decode(data, r); err != nil {
		return err
	}
	if err := r.check(last); err != nil {
		return err
	}
	if err := r.Turn.Check(); err != nil {
		return err
	}
	var err error
	switch {
	case r.Raw != nil:
		r.bytes = unescape(*r.Raw)
	case r.RawBase64 != nil:
		r.bytes, err = base64.StdEncoding.DecodeString(*r.RawBase64)
	case r.RawFile != "":
		r.bytes, err = os.ReadFile(filepath.Join(dir, r.RawFile))
	}
	if r.bytes == nil && (r.Raw != nil || r.RawBase64 != nil || r.RawFile != "") {
		r.bytes = []byte{}
	}
	return err
}

func (r *reply) check(last bool) error {
	contents := 0
	for _, set := range []bool{!r.emptyTurn(), r.Body != nil, r.Raw != nil, r.RawBase64 != nil, r.RawFile != "", r.Bulk != nil} {
		if set {
			contents++
		}
	}
	switch {
	case contents > 1:
		return errors.New("a reply is only one of a turn, body, raw, rawBase64, rawFile and bulk")
	case r.DelayMs < 0 || r.ChunkDelayMs < 0 || r.WriteBytes < 0 || r.PingMs < 0:
		return errors.New("delays and sizes can not be negative")
	case r.Bulk != nil && (r.Bulk.Deltas < 1 || r.Bulk.Bytes < 1 || r.Bulk.Bytes > 1<<20):
		return errors.New("bulk wants deltas and bytes of at least 1, and at most 1 MiB a delta")
	case r.CutAfter != nil && *r.CutAfter < -1:
		return errors.New("cutAfter is a number of bytes, or -1")
	case r.Hang && r.Reset:
		return errors.New("a connection is either reset or kept open")
	case r.PingMs > 0 && (!r.Hang || r.CutAfter != nil && *r.CutAfter < 0), r.Ping != "" && r.PingMs == 0:
		return errors.New("ping and pingMs are for a reply that hangs behind its headers")
	case r.StartMs != 0 || r.EndMs != 0 || r.NoEnd:
		return errors.New("startMs, endMs and noEnd are not for a server: use delayMs, hang and cutAfter")
	case r.Repeat < -1 || r.Repeat == -1 && !last:
		return errors.New("only the last reply can repeat for ever, by -1")
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Errorf("status %d is none that a server sends", r.Status)
	case r.Error != nil && *r.Error != (script.Failure{Cause: r.Error.Cause, Message: r.Error.Message}):
		return errors.New("error goes into the stream, with its cause and message: give status and headers to the reply")
	}
	return nil
}

// emptyTurn reports whether the turn part says nothing.
func (r *reply) emptyTurn() bool {
	return r.Text == "" && r.Reasoning == "" && len(r.Calls) == 0 && r.Error == nil
}

// mismatch tells how a request body differs from what the reply expects.
func (e *expect) mismatch(body []byte) error {
	for _, s := range e.Contains {
		if !bytes.Contains(body, []byte(s)) {
			return fmt.Errorf("the request does not contain %q", s)
		}
	}
	for _, s := range e.Lacks {
		if bytes.Contains(body, []byte(s)) {
			return fmt.Errorf("the request contains %q", s)
		}
	}
	return nil
}

// unescape puts bytes in the place of \xNN.
func unescape(s string) []byte {
	re := regexp.MustCompile(`\\x[0-9a-fA-F]{2}`)
	return re.ReplaceAllFunc([]byte(s), func(m []byte) []byte {
		n, _ := strconv.ParseUint(string(m[2:]), 16, 8) // Two hex digits always parse.
		return []byte{byte(n)}
	})
}
