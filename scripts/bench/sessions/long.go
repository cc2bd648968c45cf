package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// writeSession writes an export of count messages, of which all but the last
// are compacted. A message has about 600 bytes.
func writeSession(file, id, workspace string, count int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	now := time.Now().UnixMilli()
	fmt.Fprintf(w, `{"type":"session","schemaVersion":1,"id":%q,"workspace":%q,"provider":"openai-compatible","model":"m","title":"long","createdAt":%d,"updatedAt":%d}`+"\n",
		id, workspace, now, now)
	text := strings.Repeat("All work and no play makes a long session. ", 13)
	for n := 1; n <= count; n++ {
		compacted := ""
		if n <= count-active {
			compacted = `"compacted":true,`
		}
		body := fmt.Sprintf(`{"role":"user","text":"%d: %s"}`, n, text)
		if n%2 == 0 {
			body = fmt.Sprintf(`{"role":"assistant","text":"%d: %s","calls":[]}`, n, text)
		}
		fmt.Fprintf(w, `{"type":"message","n":%d,%s"body":%s}`+"\n", n, compacted, body)
	}
	fmt.Fprintf(w, `{"type":"end","lines":%d}`+"\n", count+1)
	return w.Flush()
}

// treeSize is the size of all files below a directory, in bytes.
func treeSize(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
