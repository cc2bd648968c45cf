package scripttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Archive is a text file that holds other text files: a head, then each file
// after a line "-- NAME --". It is the txtar format.
type Archive struct {
	Head  []byte
	Files []Section
}

// Section is one file of an archive.
type Section struct {
	// Name is a relative path with slashes.
	Name string
	Data []byte
}

// ParseArchive takes a file apart; there is no wrong one.
func ParseArchive(data []byte) *Archive {
	a := new(Archive)
	into := &a.Head
	for line := range bytes.Lines(data) {
		if name, ok := sectionName(line); ok {
			a.Files = append(a.Files, Section{Name: name})
			into = &a.Files[len(a.Files)-1].Data
			continue
		}
		*into = append(*into, line...)
	}
	return a
}

func sectionName(line []byte) (string, bool) {
	s := strings.TrimRight(string(line), "\r\n")
	s, ok := strings.CutPrefix(s, "-- ")
	if !ok {
		return "", false
	}
	s, ok = strings.CutSuffix(s, " --")
	s = strings.TrimSpace(s)
	return s, ok && s != ""
}

// Format puts the archive together again. A part without a final newline gets
// one.
func (a *Archive) Format() []byte {
	var b bytes.Buffer
	part := func(data []byte) {
		b.Write(data)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	part(a.Head)
	for _, f := range a.Files {
		fmt.Fprintf(&b, "-- %s --\n", f.Name)
		part(f.Data)
	}
	return b.Bytes()
}

// Section returns the section of that name, or nil.
func (a *Archive) Section(name string) *Section {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

// Extract writes the sections below dir, which must exist. Names that lead out
// of it are refused.
func (a *Archive) Extract(dir string) error {
	for _, f := range a.Files {
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("extract %q: the name leads out of the folder", f.Name)
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("extract %q: %w", f.Name, err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return fmt.Errorf("extract %q: %w", f.Name, err)
		}
	}
	return nil
}
