package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxSchema bounds the file of --output-schema, in bytes; the engine says what it
// thinks of its content.
const maxSchema = 64 << 10

// outputSchema reads the file of --output-schema, nil when there is none.
func (c *call) outputSchema(here string) (json.RawMessage, error) {
	if c.schema == "" {
		return nil, nil
	}
	path := c.schema
	if !filepath.IsAbs(path) {
		path = filepath.Join(here, path)
	}
	data, err := readBounded(path, maxSchema)
	if err != nil {
		return nil, fmt.Errorf("--output-schema: %w", err)
	}
	return data, nil
}

// readBounded reads a regular file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fileError(path, errors.New("not a regular file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, fileError(path, err)
	case int64(len(data)) > most:
		return nil, fileError(path, fmt.Errorf("larger than %d KiB", most>>10))
	}
	return data, nil
}
