package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"alisio/agent"
	"alisio/tui/cli/base"
)

// maxSchema bounds the file of --output-schema, in bytes; the engine says what it
// thinks of its content.
const maxSchema = 64 << 10

// outputSchema reads the file of --output-schema, nil when there is none.
func (c *call) outputSchema(here string) (json.RawMessage, error) {
	if c.schema == "" {
		return nil, nil
	}
	data, err := readRegular(base.In(here, c.schema), c.schema, maxSchema)
	if err == nil && len(data) > maxSchema {
		err = fmt.Errorf("%s is larger than %d KiB", c.schema, maxSchema>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("--output-schema: %w", err)
	}
	if err := agent.CheckOutputSchema(data); err != nil {
		return nil, fmt.Errorf("--output-schema: %s: %w", c.schema, err)
	}
	return data, nil
}

// readRegular reads a file, and one byte more than most if it is larger than that;
// name is what errors call it. What is no file is never opened: a FIFO would wait for
// its writer.
func readRegular(path, name string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, base.FileError(name, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, base.FileError(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}
