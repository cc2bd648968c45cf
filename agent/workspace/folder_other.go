//go:build !linux || portable

// The tag "portable" lets this file be tested on Linux: go test -tags portable.

package workspace

import "os"

type (
	handle = *os.Root
	stream = *os.File
)

func openFolder(d *os.Root) (*folder, error) {
	at, err := d.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	names, err := at.Open(".")
	if err != nil {
		at.Close()
		return nil, err
	}
	return newFolder(names, at), nil
}

func (d *folder) openDir(name, _ string) (*folder, error) {
	at, err := stepInto(d.at, name)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	return openFolder(at)
}

func (d *folder) openFile(name string) (source, error) {
	f, info, err := openRegular(d.at, name, os.O_RDONLY)
	if err != nil {
		return source{}, err
	}
	return source{stream: f, size: info.Size()}, nil
}
