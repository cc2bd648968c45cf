package term

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// told is the events of some reads in words, and of a time-out after them.
func told(d *Decoder, reads ...string) string {
	var out []string
	emit := func(e Event) { out = append(out, word(e)) }
	for _, r := range reads {
		d.Feed([]byte(r), emit)
	}
	return strings.Join(out, " ")
}

// word is an event as tests write it.
func word(e Event) string {
	switch e := e.(type) {
	case Key:
		s := e.String()
		if e.Text != "" && e.Text != s {
			s += "=" + e.Text
		}
		if e.Base != 0 {
			s += "@" + string(e.Base)
		}
		return s
	case Paste:
		return fmt.Sprintf("paste(%q)", e.Text)
	case Mouse:
		return fmt.Sprintf("mouse(%d %d %d,%d %d)", e.Button, e.Action, e.Column, e.Row, e.Mods)
	case Focus:
		return fmt.Sprintf("focus(%v)", e.In)
	case Resize:
		return fmt.Sprintf("resize(%d,%d)", e.Columns, e.Rows)
	case answer:
		if e.text != "" {
			return fmt.Sprintf("%c(%s)", e.kind, e.text)
		}
		return fmt.Sprintf("%c%v", e.kind, e.n)
	}
	return fmt.Sprintf("%T", e)
}

// Each row is what a key or a report is on some terminal: terminal.md, sections 2 to 5.
var sequences = []struct{ in, want string }{
	{"aA1?é日", "a shift+a=A 1 ? é 日"},
	{"\r\n\t\x7f\x08\x00\x01\x1a\x1c\x1d\x1e\x1f", "enter ctrl+j tab backspace ctrl+backspace ctrl+space ctrl+a ctrl+z ctrl+\\ ctrl+] ctrl+^ ctrl+/"},
	{"\x1ba\x1bA\x1b\r\x1b\x7f\x1bé\x1b\x01", "alt+a alt+shift+a alt+enter alt+backspace alt+é ctrl+alt+a"},
	{"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F\x1b[E", "up down right left home end begin"},
	{"\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF", "up down right left home end"},
	{"\x1b[1~\x1b[2~\x1b[3~\x1b[4~\x1b[5~\x1b[6~\x1b[7~\x1b[8~", "home insert delete end pageup pagedown home end"},
	{"\x1bOP\x1bOQ\x1bOR\x1bOS\x1b[11~\x1b[14~\x1b[15~\x1b[17~\x1b[24~", "f1 f2 f3 f4 f1 f4 f5 f6 f12"},
	{"\x1b[[A\x1b[[E\x1b[[Zx", "f1 f5 shift+z=Z x"},
	{"\x1b[1;2A\x1b[1;5C\x1b[3;3~\x1b[1;6H\x1b[1;2P\x1b[15;5~", "shift+up ctrl+right alt+delete ctrl+shift+home shift+f1 ctrl+f5"},
	{"\x1b[1;2R\x1b[1;5R\x1b[13~\x1b[13;2~\x1b[24;80R", "shift+f3 ctrl+f3 f3 shift+f3"},
	{"\x1b[Z\x1b[1;2Z", "shift+tab shift+tab"},
	{"\x1b[a\x1b[d\x1bOa\x1bOd\x1b[3$\x1b[7^\x1b[8@", "shift+up shift+left ctrl+up ctrl+left shift+delete ctrl+home ctrl+shift+end"},
	{"\x1b\x1b[A\x1b\x1bOC\x1b\x1bx", "alt+up alt+right esc alt+x"},
	{"\x1bO5A\x1bOM\x1bOp\x1bOy\x1bOk\x1bOX", "ctrl+up enter 0 9 + ="},
	// kitty
	{"\x1b[97;5u\x1b[97;6u\x1b[97;2u\x1b[27u\x1b[13;2u\x1b[9;5u\x1b[127;3u", "ctrl+a ctrl+shift+a shift+a=A esc shift+enter ctrl+tab alt+backspace"},
	{"\x1b[1089::99;5u\x1b[97:65;2u\x1b[233;1;101:769u", "ctrl+с@c shift+a=A é=e\u0301"},
	{"\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:3u\x1b[1;1:3A\x1b[1;1:2A\x1b[3;1:3~", "a a up"},
	{"\x1b[57399u\x1b[57408u\x1b[57409u\x1b[57414u\x1b[57417u\x1b[57426u\x1b[57427u\x1b[57363u\x1b[57441u\x1b[57358u", "0 9 . enter left delete begin menu"},
	{"\x1b[97;65u\x1b[97;129u\x1b[97;9u", "a a super+a"}, // caps lock, number lock
	{"\x1b[55296u\x1b[1114112u\x1b[0u\x1b[8238u\x1b[999999999999999u", ""},
	// modifyOtherKeys
	{"\x1b[27;2;13~\x1b[27;5;97~\x1b[27;6;65~\x1b[27;5;9~", "shift+enter ctrl+a ctrl+shift+a ctrl+tab"},
	// mouse and focus
	{"\x1b[<0;3;5M\x1b[<0;3;5m\x1b[<32;4;5M\x1b[<35;1;1M\x1b[<64;10;20M\x1b[<65;10;20M\x1b[<18;1;1M",
		"mouse(1 0 2,4 0) mouse(1 1 2,4 0) mouse(1 2 3,4 0) mouse(0 0 0,0 0) mouse(4 0 9,19 0) mouse(5 0 9,19 0) mouse(3 0 0,0 4)"},
	{"\x1b[<0;0;5M\x1b[<999;1;1M\x1b[<0M\x1b[<64;1;1m", ""},
	{"\x1b[M !!\x1b[M#!!\x1b[M`##", "mouse(1 0 0,0 0) mouse(0 1 0,0 0) mouse(4 0 2,2 0)"},
	{"\x1b[I\x1b[O", "focus(true) focus(false)"},
	// reports
	{"\x1b[?62;22;52c\x1b[>1;4000;0c\x1b[?1u\x1b[?2026;2$y\x1b[?997;2n", "c[62 22 52] c[1 4000 0] u[1] y[2026 2] n[997 2]"},
	{"\x1b[48;24;80;0;0t\x1b[6;20;10t\x1b[48;0;80t\x1b[48;99999;9t", "resize(80,24) t[6 20 10]"},
	{"\x1b]11;rgb:1c1c/1e1e/2626\x1b\\\x1b]11;rgb:ff/ff/ff\x07", "](11;rgb:1c1c/1e1e/2626) ](11;rgb:ff/ff/ff)"},
	{"\x1bP>|kitty(0.32)\x1b\\\x1b_Gi=31;OK\x1b\\\x1bP1+r544e=78\x1b\\", "P(>|kitty(0.32)) _(Gi=31;OK) P(1+r544e=78)"},
	// what nobody knows is swallowed whole, and what was cut off does not swallow more
	{"\x1b[?1;2;3$zx\x1b[999~y\x1b[>5mz\x1b[!p.", "x y z ."},
	{"\x1b[12\x18a\x1b[12\x1bOAb\x1b]0;x\x18c\x1b]0;x\x1b[Ad\x1b[1\rz", "a up b c up d enter z"},
	{"\x1b[" + strings.Repeat("1;", 40) + "xy", "y"},
	{"\x1b\x18a", "a"},
	// text that is none
	{"\xff\xc3(\u202eab\u200f\u2028c", "�=� �=� ( a b c"},
	// paste
	{"\x1b[200~a\r\nb\rc\nd\x1b[201~e", `paste("a\nb\nc\nd") e`},
	{"\x1b[200~\x1b[31mred\x1b[0m\x07\x00\u202e\tx\b\x1b[201~", `paste("red\tx")`},
	{"\x1b[200~a\x1b[200~b\x1b[201~\x1b[201~c", `paste("ab") c`},
	{"\x1b[200~\xff\xc3\x1b[201~", `paste("��")`},
	{"\x1b[200~\x1b[201~", `paste("")`},
}

func TestDecoder(t *testing.T) {
	for _, c := range sequences {
		want := strings.ReplaceAll(c.want, "�=�", "\ufffd")
		if got := told(&Decoder{}, c.in); got != want {
			t.Errorf("%q: got %s, want %s", c.in, got, want)
			continue
		}
		// However it is cut, it is the same.
		for i := range c.in {
			if got := told(&Decoder{}, c.in[:i], c.in[i:]); got != want {
				t.Errorf("%q cut at %d: got %s, want %s", c.in, i, got, want)
			}
		}
		if got := told(&Decoder{}, strings.Split(c.in, "")...); got != want {
			t.Errorf("%q in bytes: got %s, want %s", c.in, got, want)
		}
	}
}

func TestDecoderErase(t *testing.T) {
	if got := told(&Decoder{Erase: '\b'}, "\x08\x7f"); got != "backspace backspace" {
		t.Errorf("got %s", got)
	}
}

// F3 with Shift and a report of the cursor are the same bytes: which of them it is
// depends on whether one was asked for.
func TestDecoderCursorReport(t *testing.T) {
	d := &Decoder{Reports: 1}
	if got := told(d, "\x1b[1;2R\x1b[1;2R"); got != "R[1 2] shift+f3" {
		t.Errorf("got %s", got)
	}
}

// settled is the events of reads with a time-out after each.
func settled(reads ...string) string {
	var out []string
	d := &Decoder{}
	for _, r := range reads {
		d.Feed([]byte(r), func(e Event) { out = append(out, word(e)) })
		if d.Wait(time.Millisecond) > 0 {
			d.Timeout(func(e Event) { out = append(out, word(e)) })
		}
	}
	return strings.Join(out, " ")
}

// C097. Symptom: a reader that waits for the byte after ESC swallows the first Esc press
// until another key comes.
// Trigger: press Esc once in a dialog.
func TestC097LoneEscape(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b": "esc", "\x1b\x1b": "esc esc", "\x1b[": "alt+[", "\x1bO": "alt+shift+o", "\x1b]": "alt+]", "x\x1b": "x esc",
		"\x1b[1": "", "\xe6\x97": "\ufffd", "\x1b[200~abc": `paste("abc")`, "": "",
	} {
		if got := settled(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := settled("\x1b", "[A"); got != "esc [ shift+a=A" {
		t.Errorf("after the time-out: %s", got)
	}
}

// C096. Symptom: over slow ssh ESC and CR of Alt+Enter come more than 10 ms apart; the
// lone ESC aborts the turn.
// Trigger: ESC, 60 ms, CR; arrow key bytes 60 ms apart. The time to wait is longer there,
// and the rest of a sequence that began is waited for longer than for an Esc.
func TestC096HowLongToWait(t *testing.T) {
	const escape = 50 * time.Millisecond
	for _, c := range []struct {
		in   string
		want time.Duration
	}{
		{"", 0}, {"a", 0}, {"\x1b", escape}, {"\x1b\x1b", escape}, {"\x1b[", sequencePause}, {"\x1b[1", sequencePause},
		{"\x1b]11;rgb", sequencePause}, {"\xe6", sequencePause}, {"\x1b[200~", pastePause},
	} {
		d := &Decoder{}
		d.Feed([]byte(c.in), func(Event) {})
		if got := d.Wait(escape); got != c.want {
			t.Errorf("%q: %v, want %v", c.in, got, c.want)
		}
	}
	if d := (&Decoder{held: []byte("\x1b[")}); d.Wait(time.Second) != 4*time.Second {
		t.Errorf("on a slow line: %v", d.Wait(time.Second))
	}
}

// C094. Symptom: a tmux paste followed at once by Enter leaves the composer thinking it
// is still in a paste.
// Trigger: ESC[200~line1 LF line2 ESC[201~ CR in one go, and cut at every byte.
func TestC094PasteAndEnter(t *testing.T) {
	const in = "\x1b[200~line1\nline2\x1b[201~\r"
	for i := range in {
		if got := told(&Decoder{}, in[:i], in[i:]); got != `paste("line1\nline2") enter` {
			t.Errorf("cut at %d: %s", i, got)
		}
	}
}

// C095. Symptom: without bracketed paste a large paste over ssh is slow and doubles
// lines.
// Trigger: a 64 KiB paste of 2,000 lines, bracketed; then unbracketed.
func TestC095LargePaste(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 31)+"\r", 2000)
	want := strings.ReplaceAll(text, "\r", "\n")
	for _, bracketed := range []bool{true, false} {
		d := &Decoder{Bursts: true}
		in := text
		if bracketed {
			in = "\x1b[200~" + text + pasteEnd
		}
		var got []Event
		emit := func(e Event) { got = append(got, e) }
		for len(in) > 0 {
			n := min(1021, len(in))
			d.Feed([]byte(in[:n]), emit)
			in = in[n:]
		}
		if d.Wait(time.Second) == burstPause {
			d.Timeout(emit)
		}
		if !reflect.DeepEqual(got, []Event{Paste{Text: want}}) {
			t.Errorf("bracketed %v: %d events, the first %.80q", bracketed, len(got), fmt.Sprint(got[0]))
		}
	}
}

// What a person types is no burst, however the line delivers it.
func TestTypingIsNoBurst(t *testing.T) {
	for _, reads := range [][]string{
		{"a short\r"}, {"some text of a fast typist\r"}, {"one\rtwo"}, {"\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r"},
		{"\x1b[200~lines of text\rin a paste that is\rbracketed" + pasteEnd},
	} {
		d := &Decoder{Bursts: true}
		if told(d, reads...); d.burst != nil {
			t.Errorf("%q is taken for a paste", reads)
		}
	}
	if d := (&Decoder{Bursts: true}); told(d, "\x1b[200~x"+pasteEnd, "many lines\rof a key script\r and more") != "" && d.burst != nil {
		t.Error("a terminal that brackets what is pasted sends bursts")
	}
	d := &Decoder{Bursts: true}
	if got := told(d, "line one\rline two\r", "and three", "\x1b[A"); got != `paste("line one\nline two\nand three") up` {
		t.Errorf("a key ends a burst: %s", got)
	}
}

// C103. Symptom: the answer to the background-colour query lands in the input line and
// can be submitted.
// Trigger: the answer late, split in two, and with BEL at its end.
func TestC103AnswersAreNotTyped(t *testing.T) {
	for _, end := range []string{"\x1b\\", "\x07"} {
		in := "\x1b]11;rgb:1c1c/1e1e/2626" + end
		for i := range in {
			if got := told(&Decoder{}, "a", in[:i], in[i:], "b"); got != "a ](11;rgb:1c1c/1e1e/2626) b" {
				t.Errorf("cut at %d: %s", i, got)
			}
		}
	}
	// Without an end it holds no more than it must.
	d := &Decoder{}
	for range 100 {
		d.Feed([]byte("\x1b]11;"+strings.Repeat("x", 1000)), func(e Event) {})
		if len(d.held) > maxString+2000 {
			t.Fatalf("%d bytes are held", len(d.held))
		}
	}
}

// A paste is bounded, and told to be cut.
func TestPasteIsBounded(t *testing.T) {
	d := &Decoder{}
	var got []Event
	emit := func(e Event) { got = append(got, e) }
	d.Feed([]byte("\x1b[200~"), emit)
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 20 {
		d.Feed(chunk, emit)
	}
	d.Feed([]byte(pasteEnd+"a"), emit)
	if len(got) != 2 || len(got[0].(Paste).Text) != maxPaste || !got[0].(Paste).Cut {
		t.Errorf("%d events", len(got))
	}
}

// Any bytes give the same events however they are cut, never a control character, and
// hold bounded memory.
func checkDecoder(t *testing.T, data []byte, r *rand.Rand) {
	t.Helper()
	var whole, pieces []Event
	(&Decoder{}).Feed(data, func(e Event) { whole = append(whole, e) })
	d := &Decoder{}
	for rest := data; len(rest) > 0; {
		n := 1 + r.IntN(min(len(rest), 9))
		d.Feed(rest[:n], func(e Event) { pieces = append(pieces, e) })
		rest = rest[n:]
	}
	if len(d.held) > maxString+16 {
		t.Errorf("%d bytes are held", len(d.held))
	}
	d.Timeout(func(Event) {})
	if d.Wait(time.Second) != 0 {
		t.Errorf("%q: something is held after the time-out", data)
	}
	if len(data) < maxString && !reflect.DeepEqual(whole, pieces) {
		t.Errorf("%q: whole %v, in pieces %v", data, whole, pieces)
	}
	for _, e := range whole {
		s := ""
		switch e := e.(type) {
		case Key:
			s = e.Text
		case Paste:
			s = strings.NewReplacer("\n", "", "\t", "").Replace(e.Text)
		}
		for _, c := range s {
			if c < ' ' || c >= 0x7F && c < 0xA0 || c == 0x202E {
				t.Errorf("%q types %q", data, s)
			}
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, c := range sequences {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkDecoder(t, data, rand.New(rand.NewPCG(8, 3))) })
}

func TestDecoderAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	for range 20_000 {
		var b []byte
		for range r.IntN(6) {
			if r.IntN(3) == 0 {
				b = append(b, byte(r.IntN(256)), byte(r.IntN(256)))
			} else {
				s := sequences[r.IntN(len(sequences))].in
				from := r.IntN(len(s) + 1)
				b = append(b, s[from:from+r.IntN(len(s)-from+1)]...)
			}
		}
		checkDecoder(t, b, r)
	}
}

func BenchmarkPaste(b *testing.B) {
	in := []byte("\x1b[200~" + strings.Repeat("some words on a line\r", 50_000) + pasteEnd)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		d := &Decoder{}
		for rest := in; len(rest) > 0; {
			n := min(4096, len(rest))
			d.Feed(rest[:n], func(Event) {})
			rest = rest[n:]
		}
	}
}
