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
	// list returns what is in a directory, sorted.
	list(dir string) (listing, error)
	// read returns at most limit bytes of a regular file, and how large it is.
	read(name string, limit int) (data []byte, size int64, err error)
	close()
}

// listing is what is in a directory; more: not all of it. self tells the directory
// from others, nil for one in memory.
type listing struct {
	entries []entry
	more    bool
	self    fs.FileInfo
}

// entry is a regular file or a directory; broken is a link that leads nowhere or
// out of the tree, or something else that is not read.
type entry struct {
	name   string
	dir    bool
	link   bool
	broken bool
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

func (d disk) list(dir string) (listing, error) {
	f, err := d.root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return listing{}, err
	}
	defer f.Close()
	var l listing
	if l.self, err = f.Stat(); err != nil {
		return l, err
	}
	if !l.self.IsDir() {
		return l, errNotDirectory
	}
	found, err := f.ReadDir(maxNames + 1)
	l.more = len(found) > maxNames || len(found) > 0 && err != nil
	for _, e := range found[:min(len(found), maxNames)] {
		one := entry{name: e.Name(), link: e.Type()&fs.ModeSymlink != 0}
		kind := e.Type()
		if one.link {
			if info, err := d.root.Stat(filepath.FromSlash(path.Join(dir, e.Name()))); err == nil {
				kind = info.Mode().Type()
			}
		}
		one.dir, one.broken = kind.IsDir(), !kind.IsDir() && !kind.IsRegular()
		l.entries = append(l.entries, one)
	}
	slices.SortFunc(l.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return l, nil
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

func (s snapshot) list(dir string) (listing, error) {
	prefix := path.Join(s.top, dir) + "/"
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].Name >= prefix })
	var l listing
	for ; i < len(s.files) && strings.HasPrefix(s.files[i].Name, prefix) && !l.more; i++ {
		name, _, dir := strings.Cut(s.files[i].Name[len(prefix):], "/")
		switch n := len(l.entries); {
		case n > 0 && l.entries[n-1].name == name:
		case n == maxNames:
			l.more = true
		default:
			l.entries = append(l.entries, entry{name: name, dir: dir})
		}
	}
	if len(l.entries) == 0 {
		return l, fs.ErrNotExist
	}
	return l, nil
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
