// Package tuitest is a virtual terminal for tests, and what tests drive programs in
// terminals with: key scripts, pseudo-terminals, tmux.
//
// The Terminal is the judge of what our programs write, so it is made from what is
// known of terminals (DEC, xterm, kitty) and not from our renderer. It shows nothing to
// anybody, runs no program by itself, and refuses nothing: what it does not know it
// records.
package tuitest

import (
	"fmt"
	"slices"
	"sync"

	"alisio/tui/term"
)

// Clusters is how a terminal measures text.
type Clusters uint8

// The ways: the sum of the widths of the code points, as wcwidth has them; sums until
// mode 2027 is set; and clusters whatever the mode says.
const (
	Sums Clusters = iota
	OnDemand
	Always
)

// Options say what a terminal is. The zero value is a poor one, which answers the
// questions of a VT100 and knows none of what came after xterm.
type Options struct {
	Name         string // the answer to XTVERSION; empty: none
	Mute         bool   // answers nothing at all
	Clusters     Clusters
	WideVS16     bool // with sums: U+FE0F makes an emoji wide
	Sync         bool // mode 2026
	Kitty        bool // the kitty keyboard protocol
	OtherKeys    bool // modifyOtherKeys
	Scheme       bool // mode 2031 and the colour scheme
	InBand       bool // mode 2048
	Colors       bool // answers OSC 4, 10, 11, 12
	Light        bool // the ground is light
	Clipboard    bool // OSC 52 may be read, too
	KittyImages  bool
	ITermImages  bool
	NoBCE        bool // erased cells take the default ground
	NoReflow     bool // the main screen is cut, not wrapped anew, on a resize
	CellWidth    int  // in pixels; 0 is 8
	CellHeight   int  // 0 is 16
	Scrollback   int  // rows; 0 is 10,000, less is none
	Chunk        int  // bytes that one Read of the input gives at most; 0: no limit
	Terminfo     map[string]string
	WheelPresses int // arrow keys for a notch in mode 1007; 0 is 3
}

// Modern is a terminal that knows everything: what kitty, Ghostty and foot are together.
func Modern() Options {
	return Options{
		Name: "tuitest(1.0)", Clusters: OnDemand, WideVS16: true, Sync: true, Kitty: true, OtherKeys: true, Scheme: true,
		InBand: true, Colors: true, KittyImages: true,
	}
}

// Terminal is a virtual terminal. What a program writes goes to Write, what it reads
// comes from Read. It may be used by several goroutines at once.
type Terminal struct {
	mu      sync.Mutex // held before that of in, never after
	opts    Options
	parse   parser
	main    *grid
	alt     *grid
	on      *grid // the one of them that is shown
	pen     Style
	sets    charsets
	private map[int]bool // DEC modes that differ from a fresh terminal's
	ansi    map[int]bool // likewise ANSI modes
	tabs    []bool
	last    string // what REP repeats
	title   title
	shape   int // of the cursor, as DECSCUSR has it
	colors  colors
	other   int // modifyOtherKeys
	format  int // formatOtherKeys
	light   bool
	journal journal
	sync    frames
	images  images
	in      *stream
	changed chan struct{} // closed and made anew whenever something was written
	resize  func(columns, rows int)
}

// New makes a terminal of a size, at least 1×1.
func New(columns, rows int, o Options) *Terminal {
	columns, rows = max(columns, 1), max(rows, 1)
	if o.Scrollback == 0 {
		o.Scrollback = 10_000
	}
	if o.CellWidth == 0 {
		o.CellWidth, o.CellHeight = 8, 16
	}
	if o.WheelPresses == 0 {
		o.WheelPresses = 3
	}
	t := &Terminal{opts: o, light: o.Light, in: newStream(o.Chunk), changed: make(chan struct{})}
	t.fresh(columns, rows)
	return t
}

// fresh is the state at the start, and after RIS.
func (t *Terminal) fresh(columns, rows int) {
	t.main = newGrid(columns, rows, max(t.opts.Scrollback, 0))
	t.alt = newGrid(columns, rows, 0)
	t.on = t.main
	t.pen, t.sets, t.last, t.shape, t.other, t.format = Style{}, charsets{}, "", 0, 0, 0
	t.private, t.ansi = make(map[int]bool), make(map[int]bool)
	t.title, t.colors, t.images = title{}, colors{}, images{}
	t.sync.mode(t, false)
	t.tabs = stops(nil, columns)
}

// stops are the tab stops of so many columns, with those that were set before.
func stops(old []bool, columns int) []bool {
	tabs := make([]bool, columns)
	n := copy(tabs, old)
	for i := n; i < columns; i++ {
		tabs[i] = i%8 == 0 && i > 0
	}
	return tabs
}

// Write takes what a program writes. It never fails.
func (t *Terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sync.begin()
	t.parse.feed(b, t)
	t.sync.end(len(b))
	t.touch()
	return len(b), nil
}

// touch wakes who waits for a change.
func (t *Terminal) touch() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Changed gives a channel that is closed when something is written or resized next.
func (t *Terminal) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Size is the size in cells.
func (t *Terminal) Size() (columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.on.columns, t.on.height
}

// Features are what a program should find out about this terminal, as far as answers
// tell; a test compares.
func (t *Terminal) Features() term.Features {
	o := t.opts
	f := term.Features{
		Unicode: true, Light: t.light && o.Colors, Sync: o.Sync, Clusters: o.Clusters != Sums, Keys: o.Kitty || o.OtherKeys,
		CellWidth: o.CellWidth, CellHeight: o.CellHeight,
	}
	switch {
	case o.KittyImages:
		f.Images = term.KittyImages
	case o.ITermImages:
		f.Images = term.ITermImages
	}
	return f
}

// journal is what happened that no screen shows.
type journal struct {
	unknown   []string
	notices   []Notice
	clipboard map[string]string
	marks     []string
	answers   []string
	directory string
	progress  string
}

// Notice is a call for a person who looks elsewhere. Kind is "bell", "osc9", "osc777" or
// "osc99".
type Notice struct{ Kind, Title, Body string }

const maxJournal = 1000

func (t *Terminal) unknown(format string, args ...any) {
	if len(t.journal.unknown) < maxJournal {
		t.journal.unknown = append(t.journal.unknown, fmt.Sprintf(format, args...))
	}
}

func (t *Terminal) notice(n Notice) {
	if len(t.journal.notices) < maxJournal {
		t.journal.notices = append(t.journal.notices, n)
	}
}

// Unknown lists what was written and is no part of what terminals are known to do, the
// first 1,000.
func (t *Terminal) Unknown() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.unknown)
}

// Notices lists the bells and notifications, the first 1,000.
func (t *Terminal) Notices() []Notice {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.notices)
}

// Clipboard is what OSC 52 put into a selection: "c" the clipboard, "p" the primary one.
func (t *Terminal) Clipboard(selection string) (text string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok = t.journal.clipboard[selection]
	return text, ok
}

// Marks lists the prompt marks of OSC 133, the first 1,000.
func (t *Terminal) Marks() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.marks)
}

// Directory is what OSC 7 told, Progress what OSC 9;4 did last.
func (t *Terminal) Directory() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.journal.directory
}

// Progress is the last state of OSC 9;4, as "1;50", and empty for none.
func (t *Terminal) Progress() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.journal.progress
}
