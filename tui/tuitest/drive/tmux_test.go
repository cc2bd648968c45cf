package drive

import (
	"testing"

	"alisio/tui/tuitest"
)

func TestTmux(t *testing.T) {
	m := StartTmux(t, 30, 5, `stty -echo; printf '\033[1;31mready\033[m \033]2;a title\007\n'; cat`)
	holds := func(text string) {
		t.Helper()
		m.Await(t, text, func(s *tuitest.Screen) bool { return s.Contains(text) })
	}
	holds("ready")
	s := m.Screen()
	if got, want := s.Cell(0, 0).Style.String(), "bold fg=red"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Title != "a title" || s.Alternate || s.Cursor.Row != 1 {
		t.Errorf("got %+v", s)
	}
	m.Type("typed 漢字\n")
	holds("typed 漢字")
	m.Paste("pasted")
	m.Press("enter")
	holds("pasted")
	m.Resize(20, 4)
	m.Await(t, "another size", func(s *tuitest.Screen) bool { return s.Columns == 20 && s.Rows == 4 })
}
