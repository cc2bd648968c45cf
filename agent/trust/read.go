package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"alisio/agent/config"
)

const (
	// maxEntries bounds files and directories together.
	maxEntries = 2000
	// maxDepth is how deep directories may nest in what is covered.
	maxDepth = 8
	// maxFile bounds one file and maxAll all together, in bytes.
	maxFile = 1 << 20
	maxAll  = 16 << 20
	// maxPlugins bounds the files of plugins, one as all together: programs are
	// larger than texts, and they are held in memory like everything else.
	maxPlugins = 64 << 20

	pluginsDir = ".alisio/plugins/"
)

// Read collects what needs trust in a workspace for work in a directory of it: what
// is covered at the root, the directories that its configuration names for skills, and
// those of skills on the way down to the working directory. It takes regular files and
// directories, and links to these as long as they stay in the workspace. Anything
// else, and whatever is past a bound or can not be read, is an error: a part that
// was not hashed must not be trusted with the rest.
func Read(root, dir string) (*Project, error) {
	real, err := filepath.Abs(root)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, fmt.Errorf("read project %q: %w", root, config.Bare(err))
	}
	top, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("read project %q: %w", root, config.Bare(err))
	}
	defer top.Close()
	r := reader{root: top}
	if err := r.take(covered()); err != nil {
		return nil, err
	}
	p := &Project{Root: real}
	p.set(r.files, len(r.files))
	if c := p.Config(); c != nil {
		if err := r.take(c.SkillDirs()); err != nil {
			return nil, err
		}
	}
	core := len(r.files)
	if err := r.take(below(real, dir)); err != nil {
		return nil, err
	}
	p.set(r.files, core)
	return p, nil
}

// below names the directories of skills on the way from the root down to a directory,
// without those of the root. There are none where that is not in the workspace.
func below(root, dir string) []string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return nil
	}
	var names []string
	at := ""
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		at = path.Join(at, part)
		for _, name := range nested() {
			names = append(names, path.Join(at, name))
		}
	}
	return names
}

// Linked returns the paths through which what needs trust in a workspace may lie
// elsewhere: the covered ones, of which a part may be a link, and the links below
// them. It reads no file. Where it ends early, Read fails, and nothing is trusted.
func Linked(root string) []string {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil
	}
	defer dir.Close()
	r := reader{root: dir, namesOnly: true}
	for _, name := range covered() {
		r.links = append(r.links, filepath.Join(root, name))
		r.entry(name, 0)
	}
	return r.links
}

// reader collects files below a root, which it never leaves: that is the part of
// os.Root, whatever links there are and whoever changes them meanwhile.
type reader struct {
	root  *os.Root
	files []File
	// links are those that were met; with namesOnly nothing is read but names.
	links     []string
	namesOnly bool
	// entries, bytes and plugins count what was read.
	entries        int
	bytes, plugins int64
	// around are the directories that the one in hand is in.
	around []fs.FileInfo
	// taken are the names that were taken with all that is below them.
	taken []string
}

// take reads what stands at these names, each thing once.
func (r *reader) take(names []string) error {
	names = slices.Clone(names)
	slices.Sort(names)
	for _, name := range names {
		name = path.Clean(name)
		if slices.ContainsFunc(r.taken, func(t string) bool { return name == t || strings.HasPrefix(name, t+"/") }) {
			continue
		}
		r.taken = append(r.taken, name)
		if err := r.entry(name, 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) fail(name, format string, args ...any) error {
	return fmt.Errorf("read project file %q: %w", filepath.Join(r.root.Name(), name), fmt.Errorf(format, args...))
}

var errMoved = errors.New("it changed while it was read, try again")

// entry reads what stands at a name; depth counts the directories around it.
func (r *reader) entry(name string, depth int) error {
	info, err := r.root.Lstat(name)
	if depth == 0 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return nil
	}
	if err != nil {
		return r.fail(name, "%w", config.Bare(err))
	}
	if r.entries++; r.entries > maxEntries {
		return r.fail(name, "found more than %d files and directories that need trust; remove those that nobody needs", maxEntries)
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link {
		r.links = append(r.links, filepath.Join(r.root.Name(), name))
		if info, err = r.root.Stat(name); err != nil {
			return r.fail(name, "found a link that leads to nothing in the workspace (%w); remove it", config.Bare(err))
		}
	}
	switch {
	case info.IsDir():
		return r.directory(name, info, depth)
	case info.Mode().IsRegular() && r.namesOnly:
		return nil
	case info.Mode().IsRegular():
		return r.file(name, info, link)
	}
	return r.fail(name, "found neither a regular file nor a directory; remove it")
}

func (r *reader) directory(name string, info fs.FileInfo, depth int) error {
	if depth == maxDepth {
		return r.fail(name, "found directories nested deeper than %d; move it up", maxDepth)
	}
	if slices.ContainsFunc(r.around, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
		return r.fail(name, "found a link to a directory that it is in; remove it")
	}
	d, _, err := r.open(name, info)
	if err != nil {
		return err
	}
	defer d.Close()
	r.around = append(r.around, info)
	defer func() { r.around = r.around[:len(r.around)-1] }()
	for {
		// The first batch that is too much is the last one: a directory may hold
		// millions of names.
		names, err := d.Readdirnames(maxEntries)
		for _, n := range names {
			if err := r.entry(name+"/"+n, depth+1); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return r.fail(name, "%w", config.Bare(err))
		}
	}
}

func (r *reader) file(name string, info fs.FileInfo, link bool) error {
	f, info, err := r.open(name, info)
	if err != nil {
		return err
	}
	defer f.Close()
	one, all, read := int64(maxFile), int64(maxAll), &r.bytes
	if strings.HasPrefix(name, pluginsDir) {
		one, all, read = maxPlugins, maxPlugins, &r.plugins
	}
	size := info.Size()
	switch {
	case size > one:
		return r.fail(name, "larger than %d MiB; make it smaller or remove it", one>>20)
	case size > all-*read:
		return r.fail(name, "with this file, more than %d MiB need trust; remove what nobody needs", all>>20)
	}
	data := make([]byte, size+1) // a byte more, to see the end
	n, err := io.ReadFull(f, data)
	switch {
	case err == nil || err == io.EOF && size > 0 || err == io.ErrUnexpectedEOF && int64(n) < size:
		return r.fail(name, "%w", errMoved)
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		return r.fail(name, "%w", config.Bare(err))
	}
	data, *read = data[:n], *read+size
	r.files = append(r.files, File{Name: name, Link: link, Exec: info.Mode()&0o111 != 0, Data: data})
	return nil
}

// open opens what info describes, and nothing that was put in its place; a pipe
// there is not waited for.
func (r *reader) open(name string, info fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, r.fail(name, "%w", config.Bare(err))
	}
	now, err := f.Stat()
	if err == nil && (!os.SameFile(info, now) || info.Mode().Type() != now.Mode().Type()) {
		err = errMoved
	}
	if err != nil {
		f.Close()
		return nil, nil, r.fail(name, "%w", config.Bare(err))
	}
	return f, now, nil
}
