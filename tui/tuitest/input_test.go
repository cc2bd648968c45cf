package tuitest

import (
	"fmt"
	"io"
	"testing"

	"alisio/tui/term"
)

func TestKeys(t *testing.T) {
	const kitty1, kitty2, all, other1, other2 = "\x1b[>1u", "\x1b[>3u", "\x1b[>29u", "\x1b[>4;1m", "\x1b[>4;2m"
	for _, c := range []struct{ setup, key, want string }{
		{"", "a", "a"},
		{"", "A", "A"},
		{"", "shift+a", "A"},
		{"", "é", "é"},
		{"", "?", "?"},
		{"", "ctrl+a", "\x01"},
		{"", "ctrl+space", "\x00"},
		{"", "ctrl+[", "\x1b"},
		{"", "ctrl+_", "\x1f"},
		{"", "ctrl+?", "\x7f"},
		{"", "ctrl+/", "\x1f"},
		{"", "ctrl+^", "\x1e"},
		{"", "ctrl+shift+a", "\x01"},
		{"", "alt+x", "\x1bx"},
		{"", "alt+ctrl+x", "\x1b\x18"},
		{"", "enter", "\r"},
		{"", "shift+enter", "\r"},
		{"", "alt+enter", "\x1b\r"},
		{"", "tab", "\t"},
		{"", "shift+tab", "\x1b[Z"},
		{"", "backspace", "\x7f"},
		{"", "ctrl+backspace", "\b"},
		{"", "esc", "\x1b"},
		{"", "up", "\x1b[A"},
		{"\x1b[?1h", "up", "\x1bOA"},
		{"\x1b[?1h", "shift+up", "\x1b[1;2A"},
		{"", "home", "\x1b[H"},
		{"", "ctrl+left", "\x1b[1;5D"},
		{"", "delete", "\x1b[3~"},
		{"", "ctrl+delete", "\x1b[3;5~"},
		{"", "f1", "\x1bOP"},
		{"", "f3", "\x1bOR"},
		{"", "f5", "\x1b[15~"},
		{"", "shift+f5", "\x1b[15;2~"},
		{kitty1, "a", "a"},
		{kitty1, "A", "A"},
		{kitty1, "ctrl+a", "\x1b[97;5u"},
		{kitty1, "ctrl+shift+a", "\x1b[97;6u"},
		{kitty1, "alt+x", "\x1b[120;3u"},
		{kitty1, "esc", "\x1b[27u"},
		{kitty1, "enter", "\r"},
		{kitty1, "shift+enter", "\x1b[13;2u"},
		{kitty1, "shift+tab", "\x1b[9;2u"},
		{kitty1, "up", "\x1b[A"},
		{kitty1, "ctrl+up", "\x1b[1;5A"},
		{kitty1, "f3", "\x1b[13~"},
		{kitty1, "shift+f3", "\x1b[13;2~"},
		{kitty2, "ctrl+a", "\x1b[97;5u\x1b[97;5:3u"},
		{kitty2, "a", "a"},
		{kitty2, "up", "\x1b[A\x1b[1;1:3A"},
		{all, "a", "\x1b[97;1;97u"},
		{all, "A", "\x1b[97:65;2;65u"},
		{all, "enter", "\x1b[13u"},
		{other1, "ctrl+a", "\x01"},
		{other1, "shift+enter", "\x1b[27;2;13~"},
		{other1, "ctrl+enter", "\x1b[27;5;13~"},
		{other2, "ctrl+a", "\x1b[27;5;97~"},
		{other2, "ctrl+shift+a", "\x1b[27;6;65~"},
		{other2, "alt+x", "\x1b[27;3;120~"},
		{other2, "A", "A"},
		{other2, "ctrl+up", "\x1b[1;5A"},
		{other2 + "\x1b[>4;1f", "shift+enter", "\x1b[13;2u"},
		{other2 + "\x1b[>4m", "shift+enter", "\r"},
	} {
		term := New(10, 4, Modern())
		fmt.Fprint(term, c.setup)
		if err := term.Press(c.key); err != nil {
			t.Fatal(err)
		}
		if got := term.Pending(); got != c.want {
			t.Errorf("%q, %s: got %q, want %q", c.setup, c.key, got, c.want)
		}
		if u := term.Unknown(); len(u) > 0 {
			t.Errorf("%q: unknown %q", c.setup, u)
		}
	}
}

func TestType(t *testing.T) {
	term := New(10, 4, Modern())
	term.Type("Ab 漢👍🏽\n")
	if got, want := term.Pending(), "Ab 漢👍🏽\r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	fmt.Fprint(term, "\x1b[>8u")
	term.Type("A👍🏽")
	if got, want := term.Pending(), "\x1b[97;2u👍🏽"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMouse(t *testing.T) {
	left := term.Mouse{Button: term.LeftButton, Column: 4, Row: 1}
	up := term.Mouse{Button: term.LeftButton, Action: term.Released, Column: 4, Row: 1}
	drag := term.Mouse{Button: term.LeftButton, Action: term.Dragged, Column: 4, Row: 1, Mods: term.Ctrl}
	move := term.Mouse{Column: 4, Row: 1}
	wheel := term.Mouse{Button: term.WheelDown, Column: 4, Row: 1}
	for _, c := range []struct {
		setup string
		mouse term.Mouse
		want  string
	}{
		{"", left, ""},
		{"\x1b[?1000;1006h", left, "\x1b[<0;5;2M"},
		{"\x1b[?1000;1006h", up, "\x1b[<0;5;2m"},
		{"\x1b[?1000;1006h", drag, ""},
		{"\x1b[?1002;1006h", drag, "\x1b[<48;5;2M"},
		{"\x1b[?1002;1006h", move, ""},
		{"\x1b[?1003;1006h", move, "\x1b[<35;5;2M"},
		{"\x1b[?1000;1006h", wheel, "\x1b[<65;5;2M"},
		{"\x1b[?1000h", left, "\x1b[M %\""},
		{"\x1b[?1000h", up, "\x1b[M#%\""},
		{"\x1b[?1007h", wheel, ""},
		{"\x1b[?1007;1049h", wheel, "\x1b[B\x1b[B\x1b[B"},
		{"\x1b[?1007;1049;1000;1006h", wheel, "\x1b[<65;5;2M"},
	} {
		term := New(10, 4, Modern())
		fmt.Fprint(term, c.setup)
		term.Mouse(c.mouse)
		if got := term.Pending(); got != c.want {
			t.Errorf("%q, %+v: got %q, want %q", c.setup, c.mouse, got, c.want)
		}
	}
}

func TestPasteAndFocus(t *testing.T) {
	term := New(10, 4, Modern())
	term.Paste("a\nb\x1b[201~")
	term.Focus(true)
	if got, want := term.Pending(), "a\rb[201~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	fmt.Fprint(term, "\x1b[?2004;1004;2031h")
	term.Paste("a\r\nb")
	term.Focus(false)
	term.SetLight(true)
	if got, want := term.Pending(), "\x1b[200~a\rb\x1b[201~\x1b[O\x1b[?997;2n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnswers(t *testing.T) {
	o := Modern()
	o.Terminfo = map[string]string{"RGB": "8"}
	for _, c := range []struct{ ask, want string }{
		{"\x1b[c", "\x1b[?62;22c"},
		{"\x1b[>c", "\x1b[>1;10;0c"},
		{"\x1b[>q", "\x1bP>|tuitest(1.0)\x1b\\"},
		{"\x1b[5n", "\x1b[0n"},
		{"ab\x1b[6n", "\x1b[1;3R"},
		{"\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"\x1b[?4242$p", "\x1b[?4242;0$y"},
		{"\x1b[4$p", "\x1b[4;2$y"},
		{"\x1b[14t\x1b[16t\x1b[18t", "\x1b[4;64;80t\x1b[6;16;8t\x1b[8;4;10t"},
		{"\x1b]11;?\x1b\\", "\x1b]11;rgb:1c1c/1e1e/2626\x1b\\"},
		{"\x1b]10;?\a", "\x1b]10;rgb:fafa/fafa/fafa\x1b\\"},
		{"\x1b]4;196;?\a", "\x1b]4;196;rgb:ffff/0000/0000\x1b\\"},
		{"\x1b[?u", "\x1b[?0u"},
		{"\x1b[>5u\x1b[=2;2u\x1b[?u", "\x1b[?7u"},
		{"\x1b[?996n", "\x1b[?997;1n"},
		{"\x1b[?2048h", "\x1b[48;4;10;64;80t"},
		{"\x1bP+q524742\x1b\\", "\x1bP1+r524742=38\x1b\\"},
		{"\x1bP$q q\x1b\\", "\x1bP1$r0 q\x1b\\"},
		{"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", "\x1b_Gi=31;OK\x1b\\"},
		{"\x1b]52;c;?\a", ""},
	} {
		term := New(10, 4, o)
		fmt.Fprint(term, c.ask)
		if got := term.Pending(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.ask, got, c.want)
		}
		if u := term.Unknown(); len(u) > 0 {
			t.Errorf("%q: unknown %q", c.ask, u)
		}
	}
	// A poor terminal does not know what came after it, and says nothing.
	poor := screenOf("\x1b[?u\x1b[>q\x1b]11;?\a\x1b[?996n\x1b[?2048h\x1b[?2026$p\x1b[c", Options{})
	if got, want := poor.Pending(), "\x1b[?2026;0$y\x1b[?62;22c"; got != want {
		t.Errorf("poor: got %q, want %q", got, want)
	}
	if mute := screenOf("\x1b[c\x1b[6n", Options{Mute: true}); mute.Pending() != "" {
		t.Error("a mute terminal answers")
	}
}

// Answers may come late and in pieces, and keys before them.
func TestHold(t *testing.T) {
	o := Modern()
	o.Chunk = 2
	term := New(10, 4, o)
	term.Hold()
	fmt.Fprint(term, "\x1b[c")
	term.Type("k")
	if got := term.Pending(); got != "k" {
		t.Errorf("held: got %q", got)
	}
	term.Release(3)
	if got := term.Pending(); got != "\x1b[?" {
		t.Errorf("in part: got %q", got)
	}
	term.Release(-1)
	term.Hangup()
	var pieces []string
	for {
		b := make([]byte, 10)
		n, err := term.Read(b)
		if err == io.EOF {
			break
		}
		pieces = append(pieces, string(b[:n]))
	}
	if got, want := fmt.Sprint(pieces), "[62 ;2 2c]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
