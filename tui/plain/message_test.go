package plain

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// drafted feeds lines to drafts until the input ends, and returns the messages.
func drafted(t *testing.T, input string, terminal bool) (messages []string, last *draft) {
	t.Helper()
	r := newReader(strings.NewReader(input), false)
	if terminal {
		r.limit = canonical
	}
	go r.run()
	last = &draft{}
	for l := range r.lines {
		if l.err != nil {
			if l.err != io.EOF {
				t.Fatal(l.err)
			}
			return messages, last
		}
		if last.add(l) {
			m := last.message()
			if last.large {
				m = "too large"
			}
			messages = append(messages, m)
			last = &draft{}
		}
	}
	return nil, nil
}

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        []string
	}{
		{"lines", "one\ntwo\nthree", []string{"one", "two", "three"}},
		{"windows", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"going on", "one\\\n two\\\\\nthree\n", []string{"one\n two\\\\", "three"}},
		{"a block", "\"\"\"\n/one\n\n  two\\\n \"\"\" \nthree\n", []string{"/one\n\n  two\\", "three"}},
		{"no block within a line", "say \"\"\"\n", []string{`say """`}},
		{"a paste", "see \x1b[200~a\n\"\"\"\nb\\\x1b[201~ now\nnext\n", []string{"see a\n\"\"\"\nb\\ now", "next"}},
		{"two pastes", "\x1b[200~a\x1b[201~\x1b[200~b\nc\x1b[201~\n", []string{"ab\nc"}},
		{"a paste in a block", "\"\"\"\n\x1b[200~x\n\"\"\"\ny\x1b[201~\n\"\"\"\n", []string{"x\n\"\"\"\ny"}},
		{"a paste with carriage returns", "\x1b[200~a\rb\x1b[201~\n", []string{"a\nb"}},
		{"a paste that ends in a backslash", "\x1b[200~a\\\x1b[201~\n", []string{`a\`}},
		{"controls", "a\x00b\x1b[31mc\x07\u202ed\x9be\xff\n", []string{"abcd\uFFFD"}},
		{"a mark without a paste", "a\x1b[201~b\n", []string{"ab"}},
		{"nothing", "", nil},
	} {
		got, rest := drafted(t, c.input, false)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) || rest.lines > 0 {
			t.Errorf("%s: got %q (%d lines left), want %q", c.name, got, rest.lines, c.want)
		}
	}
}

func TestWhatIsTooLongIsNotSentInPart(t *testing.T) {
	long := strings.Repeat("x", maxInput)
	for _, c := range []struct {
		name, input string
		terminal    bool
		want        string
	}{
		{"line", long[1:] + "\nnext\n", false, long[1:]},
		{"longer line", long + "yyy\nnext\n", false, "too large"},
		{"lines", "\"\"\"\n" + strings.Repeat(long[:1000]+"\n", maxMessage/1000) + "\"\"\"\nnext\n", false, "too large"},
		{"line of a terminal", long[:canonical-1] + "\nnext\n", true, long[:canonical-1]},
		{"line that a terminal has cut", long[:canonical] + "\nnext\n", true, "too large"},
	} {
		got, _ := drafted(t, c.input, c.terminal)
		if len(got) != 2 || got[0] != c.want || got[1] != "next" {
			t.Errorf("%s: %d messages, the first of %d bytes", c.name, len(got), len(got[0]))
		}
	}
}

// Ten thousand lines are one message, as a block and as a paste.
func TestALargePasteIsOneMessage(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "%d: some text that was copied from elsewhere\n", i)
	}
	want := strings.TrimSuffix(b.String(), "\n")
	for _, input := range []string{"\"\"\"\n" + b.String() + "\"\"\"\n", pasteStart + want + pasteEnd + "\n"} {
		got, _ := drafted(t, input, true)
		if len(got) != 1 || got[0] != want {
			t.Errorf("%d messages", len(got))
		}
	}
}

func TestGoesOn(t *testing.T) {
	for line, want := range map[string]bool{`a`: false, `a\`: true, `a\\`: false, `a\\\`: true, `\`: true, ``: false} {
		if got := goesOn(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
