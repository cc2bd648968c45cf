package doctor

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxMounts bounds the table of mounts that is read, in bytes.
const maxMounts = 1 << 20

// diskOf tells of the file system of a directory: its kind, empty when it is not
// known, and how many bytes of it are free for this user.
func diskOf(dir string) (kind string, free uint64, ok bool) {
	if f, err := os.Open("/proc/self/mountinfo"); err == nil {
		kind = mountedAt(io.LimitReader(f, maxMounts), dir)
		f.Close()
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return kind, 0, false
	}
	return kind, s.Bavail * uint64(s.Bsize), true
}

// mountedAt finds the kind of the file system of a directory in the form of
// proc(5), "/proc/pid/mountinfo": it is that of the mount point that is the
// longest above it, and of these the last.
func mountedAt(table io.Reader, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	kind, longest := "", 0
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		before, after, found := strings.Cut(lines.Text(), " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 5 || len(types) == 0 {
			continue
		}
		if at := unescaped(fields[4]); len(at) >= longest && above(at, dir) {
			kind, longest = types[0], len(at)
		}
	}
	return kind
}

// above reports whether dir is at or below another.
func above(at, dir string) bool {
	rel, err := filepath.Rel(at, dir)
	return err == nil && filepath.IsLocal(rel)
}

// unescaped turns \040 and its like into the characters that they stand for.
func unescaped(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if n, err := strconv.ParseUint(after[:min(3, len(after))], 8, 8); err == nil && len(after) >= 3 {
			b.WriteByte(byte(n))
			after = after[3:]
		} else {
			b.WriteByte('\\')
		}
		s = after
	}
}
