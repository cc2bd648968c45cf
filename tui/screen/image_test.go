package screen

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"alisio/agent/text"
	"alisio/tui/term"
	"alisio/tui/tuitest"
)

// picture is one of a size, in a format.
func picture(t *testing.T, format string, w, h int) *Picture {
	t.Helper()
	var b bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	err := png.Encode(&b, img)
	if format == "jpeg" {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPicture("shot\x1b[2J."+format, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPicturesOfKitty(t *testing.T) {
	vt := tuitest.New(40, 10, tuitest.Modern())
	f := term.Features{Unicode: true, Images: term.KittyImages, Colors: term.TrueColor}
	s := New(vt, f, dark(), 40, 10)
	one, two := picture(t, "png", 300, 200), picture(t, "jpeg", 64, 64)
	c, r := one.Fit(f, 20, 5)
	frame := Frame{Lines: []text.Styled{text.Unstyled("above")}, Images: []Placement{{one, 2, 1, c, r}, {two, 30, 1, 4, 2}}}
	s.Draw(frame)
	if got := vt.Images(); len(got) != 2 {
		t.Fatalf("shown: %v", got)
	}
	before := vt.Stats().Bytes
	s.Draw(frame)
	if got := vt.Stats().Bytes; got != before {
		t.Errorf("%d bytes for pictures that stay", got-before)
	}
	frame.Images[0].Row = 3
	s.Draw(frame)
	if got := vt.Stats().Bytes - before; got > 300 {
		t.Errorf("%d bytes to move a picture: it is sent again", got)
	}
	s.Draw(Frame{})
	if got := vt.Images(); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	s.Draw(Frame{Images: []Placement{{one, 39, 9, 20, 5}}}) // not on the screen
	s.Leave()
	if got, stored := vt.Images(), vt.Stored(); len(got)+len(stored) != 0 {
		t.Errorf("after the end: %v, %v", got, stored)
	}
	if u := vt.Unknown(); len(u) > 0 {
		t.Errorf("unknown to the terminal: %q", u)
	}
}

func TestPicturesOfITerm(t *testing.T) {
	o := tuitest.Modern()
	o.ITermImages = true
	vt := tuitest.New(40, 10, o)
	s := New(vt, term.Features{Unicode: true, Images: term.ITermImages}, dark(), 40, 10)
	p := Placement{picture(t, "png", 64, 64), 2, 1, 8, 4}
	s.Draw(Frame{Images: []Placement{p}})
	if got := vt.Images(); len(got) != 1 {
		t.Errorf("shown: %v", got)
	}
	if u := vt.Unknown(); len(u) > 0 {
		t.Errorf("unknown to the terminal: %q", u)
	}
}

func TestFit(t *testing.T) {
	f := term.Features{CellWidth: 10, CellHeight: 20}
	for _, c := range []struct{ w, h, columns, rows, wantC, wantR int }{
		{100, 100, 80, 24, 10, 5}, {2000, 1000, 80, 24, 80, 20}, {1000, 4000, 80, 24, 12, 24}, {1, 1, 80, 24, 1, 1}, {10000, 1, 5, 5, 5, 1},
	} {
		p := &Picture{Width: c.w, Height: c.h}
		if gotC, gotR := p.Fit(f, c.columns, c.rows); gotC != c.wantC || gotR != c.wantR {
			t.Errorf("%d×%d in %d×%d: got %d×%d, want %d×%d", c.w, c.h, c.columns, c.rows, gotC, gotR, c.wantC, c.wantR)
		}
	}
}

// A picture that lies about itself is refused before it is decoded.
func TestHostilePictures(t *testing.T) {
	good := picture(t, "png", 10, 10)
	huge := bytes.Clone(good.data)
	copy(huge[16:], []byte{0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF})
	for name, data := range map[string][]byte{"text": []byte("no picture"), "empty": nil, "huge": huge, "long": make([]byte, maxPicture+1)} {
		if _, err := NewPicture(name, data); err == nil || !strings.HasPrefix(err.Error(), "show image "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := good.Caption(); got != "[image shot.png 10×10 png]" {
		t.Errorf("got %q", got)
	}
	// A whole head and no body: nothing is shown, and nothing fails.
	var b bytes.Buffer
	s := New(&b, term.Features{Images: term.KittyImages}, dark(), 20, 5)
	cut := *picture(t, "jpeg", 50, 50)
	cut.data = cut.data[:len(cut.data)/2]
	if err := s.Draw(Frame{Images: []Placement{{&cut, 0, 0, 4, 2}}}); err != nil || strings.Contains(b.String(), "a=p") {
		t.Errorf("%v, %q", err, b.String())
	}
}

func TestNotifyAndCopy(t *testing.T) {
	for notices, want := range map[term.Notices]string{term.Bell: "bell", term.OSC9: "osc9", term.OSC777: "osc777"} {
		vt := tuitest.New(20, 2, tuitest.Modern())
		s := New(vt, term.Features{Notices: notices}, dark(), 20, 2)
		s.Notify("done\x1b]52;c;eA==\x07", "a; question\nwaits")
		got := vt.Notices()
		if len(got) != 1 || got[0].Kind != want || strings.Contains(got[0].Title+got[0].Body, "eA==") {
			t.Errorf("got %+v, want %s", got, want)
		}
		if sent, err := s.Copy("a text\x1b[2J"); !sent || err != nil {
			t.Errorf("copied: %v, %v", sent, err)
		}
		if got, _ := vt.Clipboard("c"); got != "a text\x1b[2J" {
			t.Errorf("the clipboard has %q", got)
		}
		if sent, _ := s.Copy(strings.Repeat("x", 100_000)); sent {
			t.Error("a text that terminals refuse is told to be copied")
		}
	}
}
