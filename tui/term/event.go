package term

import "unicode/utf8"

// Event is what a terminal tells: Key, Paste, Mouse, Focus, Resize, Resumed, Changed or
// Closed.
type Event interface{ event() }

// Code names a key: the character that it gives without modifiers (letters are small),
// or one of the keys below, which are no characters.
type Code rune

// The keys that give no character. Space is ' '.
const (
	Enter Code = utf8.MaxRune + 1 + iota
	Tab
	Backspace
	Escape
	Up // to Left in the order of their escape sequences
	Down
	Right
	Left
	Home
	End
	PageUp
	PageDown
	Insert
	Delete
	Begin // the 5 of a keypad
	Menu
	F1
	F2
	F3
	F4
	F5
	F6
	F7
	F8
	F9
	F10
	F11
	F12
)

// Mods is a set of modifiers.
type Mods uint8

// The modifiers, with the bits of the kitty protocol and of xterm. Caps and number lock
// are none.
const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
)

// Key is a key that was pressed, or repeated by being held.
type Key struct {
	Code Code
	Mods Mods
	// Text is what the key types: a character, with the kitty protocol perhaps more, free
	// of controls; empty for keys that type nothing, and with Ctrl, Alt, Super, Hyper or
	// Meta. A cluster of several characters comes as several keys.
	Text string
	// Base is the character at the key's place on a US keyboard where the terminal tells,
	// so that shortcuts work with other scripts; else 0.
	Base rune
}

// Paste is text that was pasted, whole: valid UTF-8, its lines ended by \n, free of
// controls but tab and newline. It was not typed and sends nothing.
type Paste struct {
	Text string
	// Cut tells that the terminal sent more than is kept, and that the rest is lost.
	Cut bool
}

// Button is what a Mouse event is about.
type Button uint8

// The buttons. A wheel has no release.
const (
	NoButton Button = iota // the pointer moved
	LeftButton
	MiddleButton
	RightButton
	WheelUp
	WheelDown
	WheelLeft
	WheelRight
)

// Action is what happened to a button.
type Action uint8

// The actions. Dragged is a move with the button held.
const (
	Pressed Action = iota
	Released
	Dragged
)

// Mouse is a button or the wheel, over a cell counted from 0 at the top left.
type Mouse struct {
	Button Button
	Action Action
	Mods   Mods
	Column int
	Row    int
}

// Focus tells that the window of the terminal gained or lost the focus.
type Focus struct{ In bool }

// Resize is the size of the terminal, in cells, after it changed. Pieces of one move are
// joined.
type Resize struct{ Columns, Rows int }

// Resumed tells that the terminal is ours again after the process was stopped or another
// program had it: everything must be drawn anew.
type Resumed struct{}

// Changed tells that an answer of the terminal changed its Features.
type Changed struct{ Features Features }

// Closed is the last event: the terminal is gone (hung up, or its input ended), or what
// was read from it failed with Err.
type Closed struct{ Err error }

func (Key) event()     {}
func (Paste) event()   {}
func (Mouse) event()   {}
func (Focus) event()   {}
func (Resize) event()  {}
func (Resumed) event() {}
func (Changed) event() {}
func (Closed) event()  {}
