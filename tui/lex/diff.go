package lex

import (
	"strconv"
	"strings"

	"alisio/agent/text"
)

// unified reads a diff. Within a hunk the first character decides, for as many lines as
// its head says: "--- x" is a removed "-- x" there, and the name of a file elsewhere.
func unified(s *scan) {
	st := &s.st
	line := s.s
	if st.old > 0 || st.new > 0 {
		switch {
		case strings.HasPrefix(line, "+"):
			st.new--
			s.to(len(line), text.Added)
			return
		case strings.HasPrefix(line, "-"):
			st.old--
			s.to(len(line), text.Removed)
			return
		case strings.HasPrefix(line, " ") || line == "":
			st.old, st.new = st.old-1, st.new-1
			return
		case strings.HasPrefix(line, `\`):
			s.to(len(line), text.Dim)
			return
		}
		*st = State{}
	}
	switch {
	case strings.HasPrefix(line, "@@"):
		s.hunk()
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		s.to(len(line), text.Name)
	case strings.HasPrefix(line, "+"), strings.HasPrefix(line, ">"):
		s.to(len(line), text.Added)
	case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "<"):
		s.to(len(line), text.Removed)
	case fileHead(line):
		s.to(len(line), text.Dim)
	}
}

func fileHead(line string) bool {
	for _, p := range [...]string{
		"diff ", "index ", "new file", "deleted file", "old mode", "new mode", "similarity ", "rename ", "copy ", "Binary files", "*** ", `\ `,
	} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// hunk reads "@@ -1,3 +1,4 @@ func".
func (s *scan) hunk() {
	end := len(s.s)
	if i := strings.Index(s.s[2:], "@@"); i >= 0 {
		end = i + 4
	}
	for _, f := range strings.Fields(strings.Trim(s.s[:end], "@")) {
		n := int32(1)
		if _, count, ok := strings.Cut(f, ","); ok {
			c, _ := strconv.ParseInt(count, 10, 31)
			n = int32(max(c, 0))
		}
		switch f[0] {
		case '-':
			s.st.old = n
		case '+':
			s.st.new = n
		}
	}
	s.to(end, text.Keyword)
	s.to(len(s.s), text.Dim)
}
