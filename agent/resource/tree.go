package resource

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// File is a file of a project that a person trusts: the very bytes that were
// hashed, since the file may be another one by now.
type File struct {
	// Name is relative to the workspace root, with slashes.
	Name string
	// Data must not be changed.
	Data []byte
}

// tree is a directory whose files are listed and read, and nothing outside it.
// Names are relative to it, with slashes; "." is itself.
type tree interface {
	// list returns what is in a directory, sorted; more: not all of it.
	list(dir string) (entries []entry, more bool, err error)
	// read returns at most limit bytes of a regular file, and how large it is.
	read(name string, limit int) (data []byte, size int64, err error)
	close()
}

// entry is a regular file or a directory; broken is a link that leads nowhere or
// out of the tree, or something else that is not read.
type entry struct {
	name   string
	dir    bool
	link   bool
	broken bool
	info   fs.FileInfo // nil for a file in memory
}

// maxNames bounds how many names of one directory are looked at.
const maxNames = 4096

// place is where a tree is: a directory on the disk, or files in memory.
type place struct {
	// base is an absolute directory, within a path below it that is opened without
	// leaving base.
	base, within string
	// memory: files are all there is, base is only told to people.
	memory bool
	files  []File
}

// at is a place below p.
func (p place) at(sub string) place {
	p.within = path.Join(p.within, sub)
	return p
}

// abs is the absolute path of a name below p, for people and models.
func (p place) abs(name string) string {
	return filepath.Join(p.base, filepath.FromSlash(path.Join(p.within, name)))
}

// open opens the tree. The trailing dots make the kernel refuse, and not wait on, a
// FIFO.
func (p place) open() (tree, error) {
	if p.memory {
		return snapshot{p.files, path.Clean(p.within)}, nil
	}
	root, err := os.OpenRoot(p.base + string(filepath.Separator) + ".")
	if err != nil || path.Clean(p.within) == "." {
		return disk{root}, err
	}
	defer root.Close()
	sub, err := root.OpenRoot(filepath.FromSlash(p.within) + "/.")
	return disk{sub}, err
}

// disk is a tree on the disk: os.Root keeps inside it, links included.
type disk struct{ root *os.Root }

func (d disk) close() { d.root.Close() }

func (d disk) list(dir string) ([]entry, bool, error) {
	info, err := d.root.Stat(filepath.FromSlash(dir))
	if err == nil && !info.IsDir() {
		err = errNotDirectory
	}
	if err != nil {
		return nil, false, err
	}
	f, err := d.root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	found, err := f.ReadDir(maxNames + 1)
	if len(found) == 0 {
		return nil, false, nil // empty, or gone meanwhile
	}
	more := len(found) > maxNames || err != nil
	entries := make([]entry, 0, len(found))
	for _, e := range found[:min(len(found), maxNames)] {
		one := entry{name: e.Name(), link: e.Type()&fs.ModeSymlink != 0}
		one.info, err = d.root.Stat(filepath.FromSlash(path.Join(dir, e.Name())))
		one.dir = err == nil && one.info.IsDir()
		one.broken = err != nil || !one.dir && !one.info.Mode().IsRegular()
		entries = append(entries, one)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, more, nil
}

var errNotDirectory = errors.New("not a directory")

func (d disk) read(name string, limit int) ([]byte, int64, error) {
	info, data, err := regular(d.root, filepath.FromSlash(name), limit)
	if err != nil {
		return nil, 0, err
	}
	return data, max(info.Size(), int64(len(data))), nil
}

// snapshot is a tree of files in memory, which are sorted by name.
type snapshot struct {
	files []File
	top   string
}

func (s snapshot) close() {}

func (s snapshot) list(dir string) ([]entry, bool, error) {
	prefix := path.Join(s.top, dir) + "/"
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].Name >= prefix })
	var entries []entry
	for ; i < len(s.files) && strings.HasPrefix(s.files[i].Name, prefix); i++ {
		name, _, dir := strings.Cut(s.files[i].Name[len(prefix):], "/")
		if n := len(entries); n > 0 && entries[n-1].name == name {
			continue
		}
		if len(entries) == maxNames {
			return entries, true, nil
		}
		entries = append(entries, entry{name: name, dir: dir})
	}
	if len(entries) == 0 {
		return nil, false, fs.ErrNotExist
	}
	return entries, false, nil
}

func (s snapshot) read(name string, limit int) ([]byte, int64, error) {
	full := path.Join(s.top, name)
	if full != s.top && !strings.HasPrefix(full, s.top+"/") && s.top != "." {
		return nil, 0, fs.ErrNotExist
	}
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].Name >= full })
	if i == len(s.files) || s.files[i].Name != full {
		return nil, 0, fs.ErrNotExist
	}
	data := s.files[i].Data
	return data[:min(limit, len(data))], int64(len(data)), nil
}

// sorted copies files in the order of their names.
func sorted(files []File) []File {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// sizeText is a size for people.
func sizeText(n int64) string {
	if n < 10<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
