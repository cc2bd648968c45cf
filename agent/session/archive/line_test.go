package archive

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	long := `{"x":"` + strings.Repeat("x", 100) + `","type":"session"}`
	for _, c := range []struct {
		text string
		want string // the error
	}{
		{`{"type":"session"}` + "\nmore", ""},
		{`{"type":"session"`, ""}, // cut off: Import tells where
		{`{"v":1,"type":"session"}` + "\n", ""},
		{long, ""}, // more than is looked at
		{"# A talk\n", "not an exported session"},
		{"# A talk", "not an exported session"},
		{`{"type":"message"}` + "\n" + `{"type":"session"}`, "not an exported session"},
		{"", "not an exported session: there is nothing in it"},
	} {
		r := bufio.NewReaderSize(strings.NewReader(c.text), 64)
		err := Check(r)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrNoExport) || err.Error() != c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
		if rest, err := io.ReadAll(r); err != nil || string(rest) != c.text {
			t.Errorf("%q: the reader gives %q then, %v", c.text, rest, err)
		}
	}
}

// A sender that has said enough is not waited for.
func TestCheckWaitsForNoMoreThanItNeeds(t *testing.T) {
	for text, want := range map[string]error{`{"type":"session","sche`: nil, "# A talk\n": ErrNoExport} {
		r, w := io.Pipe()
		go w.Write([]byte(text)) // ends when the reader is closed
		if err := Check(bufio.NewReader(r)); err != want {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
		r.Close()
	}
}
