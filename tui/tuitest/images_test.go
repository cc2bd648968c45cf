package tuitest

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// pngOf is a picture of that size, in base64.
func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestKittyImages(t *testing.T) {
	data := pngOf(t, 20, 20)
	half := len(data) / 8 * 4
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(make([]byte, 2*2*3))
	w.Close()
	deflated := base64.StdEncoding.EncodeToString(z.Bytes())
	for _, c := range []struct{ name, in, images, cursor, answers string }{
		{"shown", "\x1b_Ga=T,f=100,i=7,c=4,r=2;" + data + "\x1b\\", "kitty 0,0 4x2 cells id=7", "1,4", "\x1b_Gi=7;OK\x1b\\"},
		{"by its own size", "\x1b_Ga=T,f=100,i=7,q=1;" + data + "\x1b\\", "kitty 0,0 3x2 cells id=7", "1,3", ""},
		{"in pieces", "\x1b_Ga=T,f=100,i=7,c=4,r=2,q=2,m=1;" + data[:half] + "\x1b\\\x1b_Gm=0;" + data[half:] + "\x1b\\",
			"kitty 0,0 4x2 cells id=7", "1,4", ""},
		{"the cursor stays", "\x1b_Ga=T,f=100,i=7,C=1,q=2;" + data + "\x1b\\", "kitty 0,0 3x2 cells id=7", "0,0", ""},
		{"inflated", "\x1b_Ga=T,f=24,s=2,v=2,o=z,c=1,r=1,q=2,i=3;" + deflated + "\x1b\\", "kitty 0,0 1x1 cells id=3", "0,1", ""},
		{"put later", "\x1b_Gf=100,i=7,q=2;" + data + "\x1b\\\x1b[2;2H\x1b_Ga=p,i=7,c=1,r=1,q=2\x1b\\", "kitty 1,1 1x1 cells id=7", "1,2", ""},
		{"moved", "\x1b_Ga=T,f=100,i=7,p=1,c=1,r=1,q=2;" + data + "\x1b\\\x1b[3H\x1b_Ga=p,i=7,p=1,c=2,r=1,q=2\x1b\\", "kitty 2,0 2x1 cells id=7", "2,2", ""},
		{"deleted", "\x1b_Ga=T,f=100,i=7,q=2;" + data + "\x1b\\\x1b_Ga=d,d=i,i=7\x1b\\", "", "1,3", ""},
		{"erased with the screen", "\x1b_Ga=T,f=100,i=7,q=2;" + data + "\x1b\\\x1b[2J", "", "1,3", ""},
		{"scrolls", "\x1b[4H\x1b_Ga=T,f=100,i=7,c=2,r=1,q=2;" + data + "\x1b\\\n\n", "kitty 1,0 2x1 cells id=7", "3,2", ""},
		{"scrolls out", "\x1b_Ga=T,f=100,i=7,c=2,r=1,q=2;" + data + "\x1b\\\x1b[4H\n", "", "3,0", ""},
		{"text over it stays", "\x1b_Ga=T,f=100,i=7,c=2,r=1,q=2;" + data + "\x1b\\\rxy", "kitty 0,0 2x1 cells id=7", "0,2", ""},
	} {
		term := screenOf(c.in, Modern())
		var images []string
		for _, p := range term.Images() {
			images = append(images, p.String())
		}
		if got := strings.Join(images, "; "); got != c.images {
			t.Errorf("%s: got %q, want %q", c.name, got, c.images)
		}
		if got := term.Screen().Cursor.String(); got != c.cursor {
			t.Errorf("%s: cursor %s, want %s", c.name, got, c.cursor)
		}
		if got := term.Pending(); got != c.answers {
			t.Errorf("%s: answers %q, want %q", c.name, got, c.answers)
		}
		if u := term.Unknown(); len(u) > 0 {
			t.Errorf("%s: unknown %q", c.name, u)
		}
		if got := term.Stored(); !slices.Equal(got, []int{7}) && c.name != "inflated" {
			t.Errorf("%s: stored %v", c.name, got)
		}
	}
}

func TestBadImages(t *testing.T) {
	for _, in := range []string{
		"a=T,f=100,i=1;AAAA", "a=T,f=24,s=9,v=9,i=1;AAAA", "a=T,f=24,i=1;****", "a=p,i=9", "a=x,i=1;AAAA", "a=T,f=7,i=1;AAAA", "nonsense",
		"a=T,f=24,s=1,v=1,i=1;" + strings.Repeat("A", 5000), "a=T,f=24,s=1,v=1,t=f,i=1;AAAA",
	} {
		term := screenOf("\x1b_G"+in+"\x1b\\", Modern())
		if n := len(term.Unknown()); n != 1 || len(term.Images()) > 0 {
			t.Errorf("%.40s: %d unknown, shows %v", in, n, term.Images())
		}
	}
	// Who has no pictures ignores them.
	if term := screenOf("\x1b_Ga=T,f=100,i=1;AAAA\x1b\\", Options{}); len(term.Unknown())+len(term.Answers()) > 0 {
		t.Errorf("got %q, %q", term.Unknown(), term.Answers())
	}
}

func TestITermImages(t *testing.T) {
	o := Options{ITermImages: true}
	in := fmt.Sprintf("\x1b]1337;File=inline=1;width=4;height=2;preserveAspectRatio=1:%s\a", pngOf(t, 20, 20))
	term := screenOf(in, o)
	if got := term.Images(); len(got) != 1 || got[0].String() != "iterm2 0,0 4x2 cells" {
		t.Errorf("got %v", got)
	}
	fmt.Fprint(term, "\x1b[2;2Hx")
	if got := term.Images(); len(got) > 0 {
		t.Errorf("text over it: %v", got)
	}
	if u := screenOf("\x1b]1337;File=inline=1:AAAA\a", o).Unknown(); len(u) != 1 {
		t.Errorf("no picture: unknown %q", u)
	}
}

// BenchmarkWrite is what a streamed answer costs the terminal, so that other packages
// know what of their measures is its.
func BenchmarkWrite(b *testing.B) {
	term := New(80, 24, Modern())
	frame := []byte("\x1b[?2026h\x1b[12;5H\x1b[1;34mword\x1b[m and \x1b[38;2;1;2;3mmore\x1b[m 漢字\x1b[K\x1b[24;1H\n\x1b[?2026l")
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		term.Write(frame)
	}
}
