package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"alisio/plug"
)

// blobPrefix begins the name of a stored blob: what a result had to leave out
// is kept whole under such a name (spec runner.md, "Results"). Only read_file
// takes one. A blob is no file: plans name no path for it, and the store knows
// which blobs the session may see.
const blobPrefix = "blob:"

var (
	errBlobName = errors.New("a blob is named blob: and the 64 hex digits of its hash, in lower case; " +
		"for a file whose name begins with blob: put ./ in front")
	errBlobOnlyRead = errors.New("blobs can only be read, with read_file; " +
		"for a file whose name begins with blob: put ./ in front")
	errNoBlobs = errors.New("no blobs are kept here")
)

// resolve is Files.Resolve for all tools but read_file: it refuses blobs, which
// would else be looked for as files of that name.
func resolve(c *plug.Call, path string) (plug.Target, error) {
	if strings.HasPrefix(path, blobPrefix) {
		return plug.Target{}, errBlobOnlyRead
	}
	return c.Files.Resolve(path)
}

// checkBlob tells why a blob of that hash can not be opened in any session.
func checkBlob(c *plug.Call, hash string) error {
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return errBlobName
	}
	if c.Files.Blob == nil {
		return errNoBlobs
	}
	return nil
}

// openBlob opens a blob under the name by which the model can ask for more of it.
func openBlob(ctx context.Context, c *plug.Call, hash string) (plug.File, error) {
	if err := checkBlob(c, hash); err != nil {
		return nil, err
	}
	f, err := c.Files.Blob(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("open %s%s: %w", blobPrefix, hash, err)
	}
	return blob{File: f, name: blobPrefix + hash}, nil
}

// blob is an open blob. It shows nothing of where the store keeps it.
type blob struct {
	plug.File
	name string
}

func (b blob) Info() plug.FileInfo { return plug.FileInfo{Name: b.name, Size: b.File.Info().Size} }
