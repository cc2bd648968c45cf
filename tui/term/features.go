package term

// Colors is how many colours a terminal shows.
type Colors uint8

// The levels, each with what the one before has.
const (
	NoColors  Colors = iota // bold, underline and reverse only (NO_COLOR)
	Sixteen                 // the person's own palette
	Palette                 // 256
	TrueColor               // 24 bits
)

// Images is how a terminal is sent pictures.
type Images uint8

// The ways. A multiplexer hides all of them.
const (
	NoImages Images = iota
	KittyImages
	ITermImages
)

// Notices is how a terminal is told to call a person who looks elsewhere.
type Notices uint8

// The ways; every terminal knows the bell.
const (
	Bell   Notices = iota
	OSC9           // iTerm2, Ghostty, WezTerm, Windows Terminal
	OSC777         // urxvt, foot, VTE
)

// Features are what a terminal can do, as far as its environment and its answers tell.
// The zero value is the poorest of them: no colour, ASCII only.
type Features struct {
	Colors     Colors
	Unicode    bool // shows characters beyond ASCII
	Light      bool // its background is light
	Sync       bool // synchronized output (mode 2026)
	Clusters   bool // widths by grapheme cluster (mode 2027)
	Keys       bool // the kitty keyboard protocol: Shift+Enter is no Enter, for sure
	Links      bool // OSC 8
	Images     Images
	Notices    Notices
	CellWidth  int // of a cell, in pixels; 0 when unknown
	CellHeight int
}
