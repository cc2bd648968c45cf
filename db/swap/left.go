package swap

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// StampLayout is how the files of one repair are told from others, in UTC.
const StampLayout = "20060102-150405"

// The words between a database's name and a stamp, and the end of what is not whole.
const (
	damagedWord   = ".damaged-"
	recoveredWord = ".recovered-"
	checkedWord   = ".checked-"
	freshEnd      = "-new"
	partEnd       = ".part"
)

// The names of files that a repair makes, behind the database's own: copies that
// are set aside for good, and what a repair takes away again at its end.
const (
	stampPattern = `\d{8}-\d{6}(-\d+)?`
	asidePattern = `^\.damaged-` + stampPattern + `$`
	ownPattern   = `^\.(checked|recovered)-` + stampPattern + `(-new(\.v\d+\.backup(\.\d+\.part)?)?)?(-wal|-shm|-journal)?$`
	readyPattern = `^\.recovered-` + stampPattern + `$`
	savedPattern = `^\.\d{8}-\d{6}\.backup$`
	partPattern  = `^\.damaged-` + stampPattern + `(-wal|-journal)?\.part$`
)

// Checked is a name for the copy that a repair looks at.
func (s *Swap) Checked() string { return Free(s.Path + checkedWord + s.Stamp) }

// Fresh is the name of the database that a repair makes of the copy at checked.
func Fresh(checked string) string { return checked + freshEnd }

// Left returns the files of repairs that were cut short, by name.
func Left(path string) []string { return files(path, ownPattern+"|"+partPattern) }

// Kept returns the databases that were set aside, or recovered, by name: the last
// that was set aside comes first.
func Kept(path string) []string {
	aside, ready := files(path, asidePattern), files(path, readyPattern)
	slices.Reverse(aside)
	slices.Reverse(ready)
	return append(aside, ready...)
}

// files returns the regular files whose names are the database's with an end of a
// pattern.
func files(path, pattern string) (all []string) {
	end := regexp.MustCompile(pattern)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path))
		if ok && e.Type().IsRegular() && end.MatchString(rest) {
			all = append(all, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return all
}

// sources returns what a database can be made again from, the newest by its stamp
// first: copies that were set aside, recovered databases and backups.
func sources(path string) []string {
	saved := files(path, savedPattern)
	slices.Reverse(saved)
	all := append(Kept(path), saved...)
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(stampOf(b), stampOf(a)) })
	return all
}

// stampOf is the stamp in the name of such a file.
func stampOf(name string) string {
	all := regexp.MustCompile(`\.(?:damaged-|recovered-)?(\d{8}-\d{6})`).FindAllStringSubmatch(filepath.Base(name), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// Restore puts a database that is missing back from the newest that was set aside,
// recovered or backed up, and returns the name of that, none where there is nothing,
// and those that it did not take. A log that stayed in its place is the database's own,
// unless it was written behind that, or that is a backup: it is of another one then, of
// which nothing else is left. Nobody else may restore it at the same time.
func Restore(path, stamp string) (from string, others []string, err error) {
	all := sources(path)
	if len(all) == 0 {
		return "", nil, nil
	}
	from = all[0]
	if mine, err := same(path+"-wal", from+"-wal"); err != nil {
		return "", nil, err
	} else if saved := strings.HasSuffix(from, ".backup"); !mine && Abandoned(path) && (saved || later(path+"-wal", from)) {
		return "", all, nil
	}
	s := Swap{Path: path, Stamp: stamp}
	work := s.Checked()
	ends := []string{"-wal", "-journal", ""}
	defer Remove(work)
	for _, end := range ends {
		if err := keepTime(from+end, work+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", nil, err
		}
	}
	// The database comes last: without its log it would be another one.
	var put []string
	for _, end := range ends {
		if end != "" && empty(path+end) || end == "-wal" && !Abandoned(path) {
			// It has no page, and would keep the own one from its place.
			_ = os.Remove(path + end)
		}
		err := place(work+end, path+end)
		switch {
		case err == nil:
			put = append(put, path+end)
		case end != "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)):
		default:
			for _, name := range put {
				_ = os.Remove(name)
			}
			return "", nil, err
		}
	}
	return from, all[1:], syncDir(path)
}

// place gives a file its name. A link, unlike a rename, does not replace a file that
// somebody just made; not every file system has them.
func place(from, to string) error {
	if _, err := os.Lstat(from); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// keepTime copies a file with the time at which it was written.
func keepTime(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return cmp.Or(Copy(from, to), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// later reports whether a log was written behind the time that a name tells.
func later(log, name string) bool {
	info, err := os.Stat(log)
	if err != nil || info.Size() == 0 {
		return false
	}
	at, err := time.Parse(StampLayout, stampOf(name))
	return err != nil || info.ModTime().After(at.Add(time.Second))
}
