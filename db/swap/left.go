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
	newEnd        = "-new"
	partEnd       = ".part"
)

// The names of files that a repair makes, behind the database's own: copies that
// are set aside for good, and what a repair takes away again at its end.
const (
	stampPattern = `\d{8}-\d{6}(-\d+)?`
	asidePattern = `^\.damaged-` + stampPattern + `$`
	ownPattern   = `^\.(checked|recovered)-` + stampPattern + `(-new(\.v\d+\.backup(\.\d+\.part)?)?)?(-wal|-shm|-journal)?$`
	readyPattern = `^\.recovered-` + stampPattern + `$`
	partPattern  = `^\.damaged-` + stampPattern + `(-wal|-journal)?\.part$`
)

// Checked and New are the names of the copy that a repair looks at, and of the
// database that it makes of it.
func (s *Swap) Checked() string { return Free(s.Path + checkedWord + s.Stamp) }

// New is the name of the database that a repair makes of the copy at checked.
func New(checked string) string { return checked + newEnd }

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

// Restore puts a database that is missing back from what an older repair, which
// moved it away, set aside or recovered, and returns the name of that; none where
// there is nothing. A log that stayed in its place is the database's own, unless it
// was written behind that: it is of a later one then, of which nothing else is left.
func Restore(path, stamp string) (from string, err error) {
	all := Kept(path)
	if len(all) == 0 || later(path+"-wal", all[0]) {
		return "", nil
	}
	from = all[0]
	s := Swap{Path: path, Stamp: stamp}
	work := s.Checked()
	defer os.Remove(work)
	for _, end := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + end); err == nil {
			continue
		}
		if err := Copy(from+end, path+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := Copy(from, work); err != nil {
		return "", err
	}
	// A link, unlike a rename, does not replace a file that somebody just made.
	if err := os.Link(work, path); errors.Is(err, fs.ErrExist) {
		return "", err
	} else if err != nil {
		err = os.Rename(work, path)
		return from, cmp.Or(err, syncDir(path))
	}
	return from, syncDir(path)
}

// later reports whether a log was written behind the time that a name tells.
func later(log, name string) bool {
	info, err := os.Stat(log)
	if err != nil || info.Size() == 0 {
		return false
	}
	at, err := time.Parse(StampLayout, regexp.MustCompile(`\d{8}-\d{6}`).FindString(filepath.Base(name)[max(0, strings.LastIndex(filepath.Base(name), ".")):]))
	return err != nil || info.ModTime().After(at.Add(time.Second))
}
