package screen

import (
	"strings"

	"alisio/agent/text"
	"alisio/tui/term"
)

// Notify calls a person who looks elsewhere: the bell, or a notification where the
// terminal shows these. It moves nothing on the screen.
func (s *Screen) Notify(title, body string) error {
	const most = 200 // characters
	title, body = text.OneLine(title, most), text.OneLine(body, most)
	out := "\a"
	switch s.features.Notices {
	case term.OSC9:
		// A number in front would be another command of ConEmu and Windows Terminal.
		out = "\x1b]9;" + strings.TrimLeft(title+": "+body, "0123456789;") + "\x1b\\"
	case term.OSC777:
		out = "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + strings.ReplaceAll(body, ";", ",") + "\x1b\\"
	}
	_, err := s.out.Write([]byte(out))
	return err
}

// Copy gives a text to the clipboard by way of the terminal (OSC 52), and reports
// whether it was sent: a long text is not, and nothing tells whether it arrived.
func (s *Screen) Copy(what string) (sent bool, err error) {
	seq := term.Clipboard(what)
	if seq == "" {
		return false, nil
	}
	_, err = s.out.Write([]byte(seq))
	return err == nil, err
}
