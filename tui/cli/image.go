package cli

import (
	"errors"
	"fmt"

	"alisio/llm"
	"alisio/tui/cli/base"
)

// maxImages bounds the images that go with one task; each is bounded by
// llm.MaxImageBytes.
const maxImages = 20

// images reads the files of --image, whose names count from here. They are
// looked at before anything else is opened or asked.
func (c *call) images(here string) ([]llm.Attachment, error) {
	if len(c.task.images) > maxImages {
		return nil, fmt.Errorf("--image: %d images, allowed: at most %d", len(c.task.images), maxImages)
	}
	var list []llm.Attachment
	for _, name := range c.task.images {
		a, err := readImage(base.In(here, name), name)
		if err != nil {
			return nil, fmt.Errorf("--image: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

// readImage reads and checks one file.
func readImage(path, name string) (llm.Attachment, error) {
	data, err := readRegular(path, name, llm.MaxImageBytes)
	if err != nil {
		return llm.Attachment{}, err
	}
	a, err := llm.ReadImage(data)
	switch {
	case err == nil:
		return a, nil
	case len(data) > llm.MaxImageBytes && !errors.Is(err, llm.ErrNoImage):
		return a, fmt.Errorf("%s is larger than %d MiB", name, llm.MaxImageBytes>>20)
	}
	return a, fmt.Errorf("%s %w", name, err)
}
