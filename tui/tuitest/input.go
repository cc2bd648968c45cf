package tuitest

import (
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/tui/term"
	"alisio/tui/tuitest/keys"
)

// Send sends bytes as they are, as for input that no terminal should send.
func (t *Terminal) Send(b string) { t.in.send(b, false) }

// Type sends text as if it were typed, cluster by cluster; newlines are Enter, tabs Tab.
func (t *Terminal) Type(s string) {
	for cluster := range text.Graphemes(s) {
		switch cluster {
		case "\n", "\r", "\r\n":
			t.Key(term.Key{Code: term.Enter})
		case "\t":
			t.Key(term.Key{Code: term.Tab})
		default:
			t.Key(keys.Typed(cluster))
		}
	}
}

// Key presses a key, and releases it where the program wants to know.
func (t *Terminal) Key(k term.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in.send(t.encode(k, keys.Pressed), false)
	if t.on.flags()&keys.Events != 0 {
		t.in.send(t.encode(k, keys.Released), false)
	}
}

// encode is what a key sends in the modes that are set.
func (t *Terminal) encode(k term.Key, event int) string {
	return keys.Encode(k, keys.Modes{Kitty: t.on.flags(), Other: t.other, Format: t.format, Application: t.private[1]}, event)
}

// Press presses keys by their names: "ctrl+a", "shift+enter", "alt+left", "f5", "é".
func (t *Terminal) Press(names ...string) error {
	for _, name := range names {
		k, err := keys.Parse(name)
		if err != nil {
			return err
		}
		t.Key(k)
	}
	return nil
}

// Repeat is a key that is held: it was pressed before.
func (t *Terminal) Repeat(k term.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in.send(t.encode(k, keys.Repeated), false)
}

// Paste pastes text: its newlines become returns and controls are left out, as terminals
// do it, and it is bracketed if the program asked for that.
func (t *Terminal) Paste(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in.send(bracket(s, t.modeSet(2004)), false)
}

func bracket(s string, bracketed bool) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '\r'
		case r < 0x20 && r != '\t' && r != '\r', r >= 0x7F && r < 0xA0:
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	if bracketed {
		return "\x1b[200~" + s + "\x1b[201~"
	}
	return s
}

// Focus gives the window the focus or takes it away. Only a program that asked is told.
func (t *Terminal) Focus(in bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.modeSet(1004):
	case in:
		t.in.send("\x1b[I", false)
	default:
		t.in.send("\x1b[O", false)
	}
}

// SetLight changes to a light or a dark ground. Only a program that asked is told.
func (t *Terminal) SetLight(light bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.light = light; t.modeSet(2031) {
		t.reportScheme()
	}
}

// Mouse is something that the mouse does. Only a program that asked is told; in the
// alternate screen the wheel may become arrow keys (mode 1007).
func (t *Terminal) Mouse(m term.Mouse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wheel := m.Button >= term.WheelUp
	move := m.Action == term.Dragged || m.Button == term.NoButton
	switch {
	case t.modeSet(1003),
		t.modeSet(1002) && m.Button != term.NoButton,
		t.modeSet(1000) && !move,
		t.modeSet(9) && !move && !wheel && m.Action == term.Pressed:
		t.in.send(t.encodeMouse(m, move), false)
	case wheel && t.modeSet(1007) && t.on == t.alt:
		arrow := map[term.Button]term.Code{
			term.WheelUp: term.Up, term.WheelDown: term.Down, term.WheelLeft: term.Left, term.WheelRight: term.Right,
		}[m.Button]
		for range t.opts.WheelPresses {
			t.in.send(t.encode(term.Key{Code: arrow}, keys.Pressed), false)
		}
	}
}

// Click presses and releases the left button over a cell; Wheel turns it by so many
// notches, up for less than 0.
func (t *Terminal) Click(column, row int) {
	t.Mouse(term.Mouse{Button: term.LeftButton, Column: column, Row: row})
	t.Mouse(term.Mouse{Button: term.LeftButton, Action: term.Released, Column: column, Row: row})
}

// Wheel turns the wheel over a cell.
func (t *Terminal) Wheel(notches, column, row int) {
	m := term.Mouse{Button: term.WheelDown, Column: column, Row: row}
	if notches < 0 {
		m.Button, notches = term.WheelUp, -notches
	}
	for range notches {
		t.Mouse(m)
	}
}

// Drag presses the left button over a cell, moves to another, and releases it there.
func (t *Terminal) Drag(column, row, toColumn, toRow int) {
	m := term.Mouse{Button: term.LeftButton, Column: column, Row: row}
	t.Mouse(m)
	m.Action, m.Column, m.Row = term.Dragged, toColumn, toRow
	t.Mouse(m)
	m.Action = term.Released
	t.Mouse(m)
}

func (t *Terminal) encodeMouse(m term.Mouse, move bool) string {
	b := 3 // no button
	switch {
	case m.Button >= term.WheelUp:
		b = 64 + int(m.Button-term.WheelUp)
	case m.Button >= term.LeftButton:
		b = int(m.Button - term.LeftButton)
	}
	b |= int(m.Mods&(term.Shift|term.Alt)) << 2
	if m.Mods&term.Ctrl != 0 {
		b |= 16
	}
	if move {
		b |= 32
	}
	x, y := m.Column+1, m.Row+1
	switch {
	case t.modeSet(1006):
		final := 'M'
		if m.Action == term.Released {
			final = 'm'
		}
		return fmt.Sprintf("\x1b[<%d;%d;%d%c", b, x, y, final)
	case x > 223 || y > 223:
		return "" // the old form ends there
	case m.Action == term.Released:
		b |= 3
	}
	return "\x1b[M" + string([]byte{byte(b + 32), byte(x + 32), byte(y + 32)})
}
