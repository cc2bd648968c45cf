package term

import (
	"encoding/base64"
	"strconv"
	"strings"

	"alisio/agent/text"
)

// Cursor is the shape of the cursor.
type Cursor uint8

// The shapes, as DECSCUSR numbers them: that of the person's settings, and the steady
// ones. Nothing blinks by our doing.
const (
	DefaultCursor   Cursor = 0
	BlockCursor     Cursor = 2
	UnderlineCursor Cursor = 4
	BarCursor       Cursor = 6
)

// modes are what was asked of the terminal beyond what every screen needs.
type modes struct {
	mouse    bool
	cursor   Cursor
	title    string
	otherKey bool // modifyOtherKeys, where there is no kitty keyboard protocol
	clusters bool // 2027
	scheme   bool // 2031
	inband   bool // 2048
	images   bool
}

// The sequences of terminal.md, sections 3 and 4. The kitty stack of the alternate screen
// is its own: it is pushed after entering it and popped before leaving it. Flags 1 and 4:
// keys that legacy encoding does not tell apart, with their place on the keyboard.
const (
	enterModes = "\x1b[22;0t\x1b[?1049h\x1b[>5u\x1b[?2004h\x1b[?1004h\x1b[?1007h"
	mouseOn    = "\x1b[?1000h\x1b[?1002h\x1b[?1006h"
	mouseOff   = "\x1b[?1002l\x1b[?1000l\x1b[?1006l"
	otherKeys  = "\x1b[>4;2m"
	leaveKeys  = "\x1b[<1u\x1b[>4m"
	leaveModes = "\x1b[?1007l\x1b[?1004l\x1b[?2004l"
	plainPen   = "\x1b[0m\x1b]8;;\x1b\\\x1b[0 q\x1b[?25h\x1b[?7h\x1b[r"
	leaveAlt   = "\x1b[23;0t\x1b[?1049l"
)

// on is what puts the terminal into our modes.
func (m modes) on() string {
	var b strings.Builder
	b.WriteString(enterModes)
	if m.mouse {
		b.WriteString(mouseOn)
	}
	if m.otherKey {
		b.WriteString(otherKeys)
	}
	for mode, on := range map[string]bool{"2027": m.clusters, "2031": m.scheme, "2048": m.inband} {
		if on {
			b.WriteString("\x1b[?" + mode + "h")
		}
	}
	if m.cursor != DefaultCursor {
		b.WriteString(shape(m.cursor))
	}
	if m.title != "" {
		b.WriteString(title(m.title))
	}
	return b.String()
}

// off is what takes the terminal out of them, in the order of terminal.md, section 11.
func (m modes) off() string {
	var b strings.Builder
	b.WriteString("\x1b[?2026l")
	if m.images {
		b.WriteString("\x1b_Ga=d,d=A\x1b\\")
	}
	b.WriteString(leaveKeys)
	if m.mouse {
		b.WriteString(mouseOff)
	}
	b.WriteString(leaveModes)
	for mode, on := range map[string]bool{"2027": m.clusters, "2031": m.scheme, "2048": m.inband} {
		if on {
			b.WriteString("\x1b[?" + mode + "l")
		}
	}
	return b.String() + plainPen + leaveAlt
}

func shape(c Cursor) string { return "\x1b[" + strconv.Itoa(int(c)) + " q" }

// title is the sequence for a window title: one line, without controls, not too long.
func title(s string) string {
	const most = 200 // characters
	return "\x1b]2;" + text.OneLine(s, most) + "\x1b\\"
}

// enter puts the terminal into our modes and asks what it can do.
func (t *Terminal) enter() {
	t.mu.Lock()
	s := t.modes.on()
	if t.asked.questions == "" {
		t.asked.questions = questions(t.getenv)
		s += t.asked.questions
	}
	t.mu.Unlock()
	t.out.write([]byte(s), writePatience)
}

// leave gives the terminal back, but for the streams. One that takes nothing loses what
// was not written.
func (t *Terminal) leave() {
	t.mu.Lock()
	s := t.modes.off()
	t.mu.Unlock()
	if !t.out.settle(closePatience) {
		t.dev.drop()
		t.out.settle(closePatience)
	}
	if t.out.write([]byte(s), closePatience) == ErrBusy {
		t.dev.drop()
	}
	t.dev.restore()
}

// change changes the modes and writes what makes the difference.
func (t *Terminal) change(f func(m *modes) string) {
	t.mu.Lock()
	s := f(&t.modes)
	idle := t.away || t.closed
	t.mu.Unlock()
	if s != "" && !idle {
		t.out.write([]byte(s), writePatience)
	}
}

// SetMouse asks for the buttons of the pointer, or leaves them to the terminal.
func (t *Terminal) SetMouse(on bool) {
	t.change(func(m *modes) string {
		switch {
		case m.mouse == on:
			return ""
		case on:
			m.mouse = true
			return mouseOn
		}
		m.mouse = false
		return mouseOff
	})
}

// SetCursor chooses the shape of the cursor.
func (t *Terminal) SetCursor(c Cursor) {
	t.change(func(m *modes) string {
		if m.cursor == c {
			return ""
		}
		m.cursor = c
		return shape(c)
	})
}

// SetTitle names the window. The name that it had comes back with Close.
func (t *Terminal) SetTitle(s string) {
	t.change(func(m *modes) string {
		if m.title == s {
			return ""
		}
		m.title = s
		return title(s)
	})
}

// HasImages tells that pictures are on the screen, which must be deleted explicitly.
func (t *Terminal) HasImages() {
	t.change(func(m *modes) string { m.images = true; return "" })
}

// Clipboard is the sequence that gives a text to the clipboard of the terminal (OSC 52),
// or "" where it is longer than terminals take. Nothing tells whether it arrived.
func Clipboard(s string) string {
	const most = 74_000 // bytes, of the base64 (terminal.md, section 6)
	if base64.StdEncoding.EncodedLen(len(s)) > most {
		return ""
	}
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(s)) + "\x1b\\"
}
