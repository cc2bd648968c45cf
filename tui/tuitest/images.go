package tuitest

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // pictures that iTerm2 takes
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Placement is a picture on the screen and the cells it covers, counted from 0; Row is
// negative when its top has scrolled out.
type Placement struct {
	Image, ID     int // numbers that the program gave; 0 for none
	Row, Column   int
	Rows, Columns int
	Width, Height int    // of the picture, in pixels
	Z             int    // its layer; below 0 it is under the text
	Protocol      string // "kitty" or "iterm2"
	Virtual       bool   // shown by placeholder characters alone
}

// picture is one that was transmitted.
type picture struct{ width, height int }

// images is the memory of the kitty protocol.
type images struct {
	known  map[int]picture
	open   map[string]string // the keys of a transmission that is under way
	data   []byte
	nextID int
}

const (
	maxPictures   = 1000
	maxPictureLen = 64 << 20 // bytes of a picture, before and after it is inflated
)

// shiftImages moves the pictures of a region that scrolls, and drops those that are out.
func (g *grid) shiftImages(top, bottom, n int) {
	g.images = slices.DeleteFunc(g.images, func(p Placement) bool {
		return p.Row >= top && p.Row <= bottom && p.Row+n+p.Rows <= top && (top > 0 || n < 0)
	})
	for i := range g.images {
		if p := &g.images[i]; p.Row+p.Rows > top && p.Row <= bottom {
			p.Row += n
		}
	}
}

// covered drops the pictures of iTerm2 that text is written over: they are cells there.
func (g *grid) covered(y, x, end int) {
	if len(g.images) == 0 {
		return
	}
	g.images = slices.DeleteFunc(g.images, func(p Placement) bool {
		return p.Protocol == "iterm2" && y >= p.Row && y < p.Row+p.Rows && x < p.Column+p.Columns && end > p.Column
	})
}

// show puts a picture at the cursor and moves that behind it.
func (t *Terminal) show(p Placement, stay bool) {
	g, o := t.on, t.opts
	if p.Columns == 0 {
		p.Columns = max(1, (p.Width+o.CellWidth-1)/o.CellWidth)
	}
	if p.Rows == 0 {
		p.Rows = max(1, (p.Height+o.CellHeight-1)/o.CellHeight)
	}
	p.Rows, p.Columns = min(p.Rows, 10*g.height), min(p.Columns, 10*g.columns)
	p.Row, p.Column = g.y, g.x
	if p.ID != 0 {
		t.forget(func(q Placement) bool { return q.Image == p.Image && q.ID == p.ID })
	}
	if len(g.images) < maxPictures {
		g.images = append(g.images, p)
	}
	t.sync.touched = true
	if stay || p.Virtual {
		return
	}
	for range p.Rows - 1 {
		g.lineFeed(t.ground())
	}
	g.moveTo(g.x+p.Columns, g.y)
}

func (t *Terminal) forget(which func(Placement) bool) {
	t.on.images = slices.DeleteFunc(t.on.images, which)
	t.sync.touched = true
}

// kittyImage is one command of the kitty graphics protocol.
func (t *Terminal) kittyImage(s string) bool {
	head, data, _ := strings.Cut(s, ";")
	keys := make(map[string]string)
	for kv := range strings.SplitSeq(head, ",") {
		k, v, ok := strings.Cut(kv, "=")
		if ok && len(k) == 1 {
			keys[k] = v
		} else if kv != "" {
			return false
		}
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(data)
	}
	if err != nil || len(data) > 4096 {
		t.images.open = nil
		t.reply(keys, "EINVAL:bad data")
		return false
	}
	m := &t.images
	if m.open != nil { // one more piece
		more := keys["m"] == "1"
		for k := range keys {
			if k != "m" && k != "q" && k != "i" {
				m.open = nil
				return false
			}
		}
		keys = m.open
		if m.data = append(m.data, raw...); len(m.data) > maxPictureLen {
			m.open, m.data = nil, nil
			return false
		}
		if more {
			return true
		}
		m.open, raw, m.data = nil, m.data, nil
	} else if keys["m"] == "1" {
		m.open, m.data = keys, raw
		return true
	}
	return t.imageCommand(keys, raw)
}

func number(keys map[string]string, k string) int {
	n, err := strconv.Atoi(keys[k])
	if err != nil {
		return 0
	}
	return n
}

func (t *Terminal) imageCommand(keys map[string]string, raw []byte) bool {
	id, action := number(keys, "i"), keys["a"]
	switch action {
	case "d":
		return t.deleteImages(keys)
	case "p":
		p, ok := t.images.known[id]
		if !ok {
			t.reply(keys, "ENOENT:no such image")
			return false
		}
		t.show(t.placement(keys, p), keys["C"] == "1")
	case "", "t", "T", "q":
		p, err := decode(keys, raw)
		if err != nil {
			t.reply(keys, "EINVAL:"+err.Error())
			return false
		}
		if action != "q" {
			t.keep(id, p)
		}
		if action == "T" {
			t.show(t.placement(keys, p), keys["C"] == "1")
		}
	default:
		return false
	}
	t.reply(keys, "OK")
	return true
}

func (t *Terminal) placement(keys map[string]string, p picture) Placement {
	return Placement{
		Image: number(keys, "i"), ID: number(keys, "p"), Columns: max(0, number(keys, "c")), Rows: max(0, number(keys, "r")),
		Width: p.width, Height: p.height, Z: number(keys, "z"), Protocol: "kitty", Virtual: keys["U"] == "1",
	}
}

func (t *Terminal) keep(id int, p picture) {
	m := &t.images
	if m.known == nil {
		m.known = make(map[int]picture)
	}
	if len(m.known) < maxPictures {
		m.known[id] = p
	}
}

// reply answers a command that names an image, unless it wants quiet: 1 for what went
// well, 2 for all.
func (t *Terminal) reply(keys map[string]string, text string) {
	quiet := number(keys, "q")
	if keys["i"] == "" || quiet >= 2 || quiet == 1 && text == "OK" {
		return
	}
	t.answer("\x1b_Gi=%s;%s\x1b\\", keys["i"], text)
}

// decode checks that the data of a transmission are a picture.
func decode(keys map[string]string, raw []byte) (picture, error) {
	if keys["t"] != "" && keys["t"] != "d" {
		return picture{}, fmt.Errorf("files are not read here")
	}
	if keys["o"] == "z" {
		z, err := zlib.NewReader(bytes.NewReader(raw))
		if err != nil {
			return picture{}, err
		}
		if raw, err = io.ReadAll(io.LimitReader(z, maxPictureLen)); err != nil {
			return picture{}, err
		}
	}
	switch keys["f"] {
	case "100":
		c, _, err := image.DecodeConfig(bytes.NewReader(raw))
		return picture{c.Width, c.Height}, err
	case "24", "32", "":
		size := 4
		if keys["f"] == "24" {
			size = 3
		}
		w, h := number(keys, "s"), number(keys, "v")
		if w < 1 || h < 1 || w > 1<<15 || h > 1<<15 || len(raw) != w*h*size {
			return picture{}, fmt.Errorf("%d bytes are not %d×%d pixels", len(raw), w, h)
		}
		return picture{w, h}, nil
	}
	return picture{}, fmt.Errorf("unknown format")
}

// deleteImages is a=d: a capital letter frees the data, too.
func (t *Terminal) deleteImages(keys map[string]string) bool {
	id, how := number(keys, "i"), keys["d"]
	switch strings.ToLower(how) {
	case "", "a":
		t.forget(func(p Placement) bool { return p.Protocol == "kitty" && !p.Virtual })
		if how == "A" {
			clear(t.images.known)
		}
	case "i":
		t.forget(func(p Placement) bool {
			return p.Protocol == "kitty" && p.Image == id && (keys["p"] == "" || p.ID == number(keys, "p"))
		})
		if how == "I" {
			delete(t.images.known, id)
		}
	case "c":
		g := t.on
		t.forget(func(p Placement) bool {
			return p.Protocol == "kitty" && g.y >= p.Row && g.y < p.Row+p.Rows && g.x >= p.Column && g.x < p.Column+p.Columns
		})
	default:
		return false
	}
	return true
}

// Images lists the pictures that are on the screen, Stored the numbers of those that
// the terminal still keeps.
func (t *Terminal) Images() []Placement {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.on.images)
}

// Stored lists the numbers of the pictures that were transmitted and not freed.
func (t *Terminal) Stored() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []int
	for id := range t.images.known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// itermImage is OSC 1337, of which pictures in one piece are known.
func (t *Terminal) itermImage(arg string) bool {
	rest, ok := strings.CutPrefix(arg, "File=")
	head, data, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return false
	}
	keys := make(map[string]string)
	for kv := range strings.SplitSeq(head, ";") {
		k, v, _ := strings.Cut(kv, "=")
		keys[k] = v
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || keys["size"] != "" && number(keys, "size") != len(raw) {
		return false
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return false
	}
	if keys["inline"] != "1" {
		return true // a download
	}
	t.show(Placement{
		Columns: max(0, number(keys, "width")), Rows: max(0, number(keys, "height")), Width: c.Width, Height: c.Height,
		Protocol: "iterm2",
	}, keys["doNotMoveCursor"] == "1")
	return true
}
