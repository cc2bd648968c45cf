package screen

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	"image/png"
	"strconv"

	"alisio/agent/text"
	"alisio/tui/term"
)

// The largest picture that is looked at. A small file can claim to be a large picture:
// it is not decoded then.
const (
	maxPicture = 5 << 20  // bytes
	maxPixels  = 20 << 20 // of a picture that must be written anew
	maxSide    = 10_000
)

// Picture is an image that can be placed on a screen.
type Picture struct {
	Name          string // one line, for where it can not be shown
	Width, Height int    // pixels
	format        string
	data          []byte
}

// NewPicture reads the head of a PNG, JPEG or GIF. The error says why it can not be
// shown.
func NewPicture(name string, data []byte) (*Picture, error) {
	name = text.OneLine(name, 60)
	if len(data) > maxPicture {
		return nil, fmt.Errorf("show image %s: it has %d bytes, at most %d are shown", name, len(data), maxPicture)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("show image %s: it is no PNG, JPEG or GIF: %w", name, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide {
		return nil, fmt.Errorf("show image %s: it claims %d×%d pixels, at most %d a side are shown", name, c.Width, c.Height, maxSide)
	}
	return &Picture{Name: name, Width: c.Width, Height: c.Height, format: format, data: data}, nil
}

// Caption is what is shown of a picture where there are no images.
func (p *Picture) Caption() string {
	return fmt.Sprintf("[image %s %d×%d %s]", p.Name, p.Width, p.Height, p.format)
}

// Fit is how many cells of a terminal a picture takes: its own size, less where it does
// not fit.
func (p *Picture) Fit(f term.Features, columns, rows int) (c, r int) {
	w, h := f.CellWidth, f.CellHeight
	if w < 1 || h < 1 {
		w, h = 8, 16
	}
	c, r = (p.Width+w-1)/w, (p.Height+h-1)/h
	if c > columns {
		r, c = max(r*columns/c, 1), columns
	}
	if r > rows {
		c, r = max(c*rows/r, 1), rows
	}
	return max(c, 1), max(r, 1)
}

// Placement is a picture over cells of a frame, whose text there is blank. One that is
// not wholly on the screen is not shown.
type Placement struct {
	Picture                    *Picture
	Column, Row, Columns, Rows int
}

// images are the pictures that the terminal has, and where they are shown.
type images struct {
	sent   map[*Picture]int // their numbers; 0: it can not be sent
	next   int
	placed []Placement
}

// HasImages reports whether a picture is on the screen.
func (s *Screen) HasImages() bool { return len(s.images.placed) > 0 }

// drawImages shows the pictures of a frame. What text covers, and what moved, is shown
// anew.
func (s *Screen) drawImages(want []Placement) {
	if s.features.Images == term.NoImages {
		return
	}
	var fit []Placement
	for _, w := range want {
		if w.Picture != nil && w.Column >= 0 && w.Row >= 0 && w.Columns > 0 && w.Rows > 0 &&
			w.Column+w.Columns <= s.columns && w.Row+w.Rows <= s.rows {
			fit = append(fit, w)
		}
	}
	drawn := len(s.pen.buf) > s.pen.start
	if equal(fit, s.images.placed) && (s.features.Images == term.KittyImages || !drawn) {
		return
	}
	if s.features.Images == term.KittyImages && len(s.images.placed) > 0 {
		s.pen.add("\x1b_Ga=d,d=a,q=2\x1b\\") // all that are shown; the data stays
	}
	for _, w := range fit {
		s.place(w)
	}
	s.images.placed = fit
}

func equal(a, b []Placement) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// place shows a picture.
func (s *Screen) place(w Placement) {
	if s.features.Images == term.ITermImages {
		s.pen.plain(s)
		s.pen.move(w.Row, w.Column)
		s.pen.add(fmt.Sprintf("\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;preserveAspectRatio=1;doNotMoveCursor=1:", len(w.Picture.data), w.Columns, w.Rows))
		s.pen.add(base64.StdEncoding.EncodeToString(w.Picture.data))
		s.pen.add("\a")
		s.pen.row, s.pen.column = unknown, unknown
		return
	}
	id := s.send(w.Picture)
	if id == 0 {
		return
	}
	s.pen.move(w.Row, w.Column)
	s.pen.add(fmt.Sprintf("\x1b_Ga=p,i=%d,c=%d,r=%d,C=1,q=2\x1b\\", id, w.Columns, w.Rows))
}

// kittyChunk is how many bytes of base64 one piece of a picture may have.
const kittyChunk = 4096

// send gives a picture to a terminal that knows the kitty protocol, once, and is its
// number; 0 where it can not be read.
func (s *Screen) send(p *Picture) int {
	if id, ok := s.images.sent[p]; ok {
		return id
	}
	if s.images.sent == nil {
		s.images.sent = map[*Picture]int{}
	}
	data, err := p.png()
	if err != nil {
		s.images.sent[p] = 0
		return 0
	}
	s.images.next++
	id := s.images.next
	s.images.sent[p] = id
	head := "a=t,f=100,q=2,i=" + strconv.Itoa(id) + ","
	for rest := base64.StdEncoding.EncodeToString(data); rest != ""; head = "" {
		n := min(kittyChunk, len(rest))
		more := "m=1"
		if n == len(rest) {
			more = "m=0"
		}
		s.pen.add("\x1b_G" + head + more + ";" + rest[:n] + "\x1b\\")
		rest = rest[n:]
	}
	return id
}

// png is the picture as PNG, the one format that every terminal with the kitty protocol
// reads.
func (p *Picture) png() ([]byte, error) {
	if p.format == "png" {
		return p.data, nil
	}
	if p.Width*p.Height > maxPixels {
		return nil, fmt.Errorf("show image %s: too large to be converted", p.Name)
	}
	img, _, err := image.Decode(bytes.NewReader(p.data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// forget takes all pictures off the terminal, and their data.
func (s *Screen) forget() {
	if s.features.Images == term.KittyImages && (len(s.images.placed) > 0 || len(s.images.sent) > 0) {
		s.pen.add("\x1b_Ga=d,d=A,q=2\x1b\\")
	}
	s.images = images{next: s.images.next}
}
