package resource

import (
	"alisio/agent/text"
	"fmt"
	"strings"
)

// minCut is the least room, in bytes, that is worth filling with the start of
// a file.
const minCut = 64

// context joins the files. Room is given to the closest first, as it says most
// about the work at hand: what does not fit is cut there, and what is farther
// is left out.
func (l *loader) context() Context {
	room := max(l.limit, 0)
	for i := len(l.files) - 1; i >= 0; i-- {
		f := &l.files[i]
		f.block = f.render(room)
		switch {
		case f.block == "" && f.blank():
			f.fate = "is blank"
		case f.block == "":
			f.fate = fmt.Sprintf("was left out: context.maxBytes is %d, closer files fill it", l.limit)
			room = 0
		case f.cut:
			f.fate = fmt.Sprintf("was cut after %d bytes: context.maxBytes is %d", f.source.Used, l.limit)
			room = 0
		default:
			room -= len(f.block)
		}
		if f.fate != "" && !f.blank() {
			l.notice("%s %s", f.source.Name, f.fate)
		}
	}
	c := Context{Notices: l.notices}
	var text strings.Builder
	for _, f := range l.files {
		text.WriteString(f.block)
		c.Sources = append(c.Sources, f.source)
	}
	c.Text = text.String()
	return c
}

// body is the text without blank lines around it.
func (f *file) body() string { return strings.Trim(f.text, "\n") }

func (f *file) blank() bool { return strings.TrimSpace(f.text) == "" && !f.more }

// render renders the file under its header in at most room bytes, cut and
// marked when it is longer, empty when that leaves nothing of use. It sets
// source.Used and cut.
func (f *file) render(room int) string {
	body := f.body()
	head := "## Instructions from " + f.source.Name + "\n\n"
	whole := head + body + "\n\n"
	if f.blank() {
		return ""
	}
	if len(whole) <= room && !f.more {
		f.source.Used = int(f.source.Size)
		return whole
	}
	mark := fmt.Sprintf("\n[cut here: the file has %d bytes, see %s]\n\n", f.source.Size, f.source.Name)
	left := room - len(head) - len(mark)
	if left < minCut {
		return ""
	}
	body = cut(body, left)
	f.source.Used, f.cut = len(body), true
	return head + body + mark
}

// cut returns at most n bytes of s, up to a line end if one is near, else up to
// a whole character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i >= n/2 {
		return s[:i]
	}
	return text.Prefix(s, n)
}
