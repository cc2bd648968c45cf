package drive

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/tui/tuitest"
	"alisio/tui/tuitest/keys"
)

// Tmux is a command in a window of a real tmux, with a server and a configuration of its
// own.
type Tmux struct {
	tb   testing.TB
	exe  string
	dir  string // has the server's socket
	envs []string
}

// tmuxConf makes tmux a terminal as people have it who set it up for good keys, without
// its status line.
const tmuxConf = `set -g status off
set -g default-terminal tmux-256color
set -s escape-time 0
set -s extended-keys on
set -g focus-events on
set -s set-clipboard on
set -g history-limit 5000
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g allow-rename on
`

// StartTmux starts a shell command in tmux, in a window of that size, with more
// environment as "NAME=value". What a command that ends has shown stays, with the cursor
// hidden. It skips the test where tmux is missing. The server is
// killed when the test ends.
func StartTmux(tb testing.TB, columns, rows int, command string, environ ...string) *Tmux {
	tb.Helper()
	exe, err := exec.LookPath("tmux")
	if err != nil {
		tb.Skip("tmux is not installed; nothing is compared with it")
	}
	// Not tb.TempDir: the path of a socket has some hundred characters at most.
	dir, err := os.MkdirTemp("", "tmux")
	if err != nil {
		tb.Fatal(err)
	}
	t := &Tmux{tb: tb, exe: exe, dir: dir}
	tb.Cleanup(func() {
		t.command("kill-server").Run() // an error means that there is none
		os.RemoveAll(dir)
	})
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte(tmuxConf), 0o600); err != nil {
		tb.Fatal(err)
	}
	t.envs = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "TMUX_TMPDIR=" + dir,
	}, environ...)
	t.Run("-f", conf, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), command)
	return t
}

func (t *Tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command(t.exe, append([]string{"-u", "-L", "test"}, args...)...)
	cmd.Env = t.envs
	return cmd
}

// Run runs a command of tmux and gives its output.
func (t *Tmux) Run(args ...string) string {
	t.tb.Helper()
	var stderr bytes.Buffer
	cmd := t.command(args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.tb.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// Press presses keys by their names.
func (t *Tmux) Press(names ...string) error {
	for _, name := range names {
		k, err := keys.Parse(name)
		if err != nil {
			return err
		}
		t.Run("send-keys", "--", keys.Tmux(k))
	}
	return nil
}

// Type types text as it is.
func (t *Tmux) Type(text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			t.Run("send-keys", "Enter")
		}
		if line != "" {
			t.Run("send-keys", "-l", "--", line)
		}
	}
}

// Send sends bytes as they are.
func (t *Tmux) Send(raw string) {
	args := []string{"send-keys", "-H"}
	for _, b := range []byte(raw) {
		args = append(args, fmt.Sprintf("%02x", b))
	}
	t.Run(args...)
}

// Paste pastes text, bracketed if the program asked for that.
func (t *Tmux) Paste(text string) {
	t.Run("set-buffer", "-b", "pasted", "--", text)
	t.Run("paste-buffer", "-p", "-d", "-b", "pasted")
}

// Resize gives the window another size.
func (t *Tmux) Resize(columns, rows int) {
	t.Run("resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows))
}

const (
	stateFormat = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on}"
	titleFormat = "#{pane_title}"
)

// Screen is what tmux shows. It keeps text, colours and most attributes; links, titles'
// absence and most modes it does not tell.
func (t *Tmux) Screen() *tuitest.Screen {
	t.tb.Helper()
	out := t.Run("display-message", "-p", stateFormat, ";", "display-message", "-p", titleFormat, ";", "capture-pane", "-e", "-p", "-N")
	state, rest, _ := strings.Cut(out, "\n")
	title, rows, _ := strings.Cut(rest, "\n")
	var columns, height, x, y, visible, alternate int
	if _, err := fmt.Sscan(state, &columns, &height, &x, &y, &visible, &alternate); err != nil {
		t.tb.Fatalf("tmux tells its state as %q: %v", state, err)
	}
	s := Captured(columns, height, rows)
	s.Cursor = tuitest.Cursor{Column: min(x, columns-1), Row: y, Hidden: visible == 0, Pending: x == columns}
	s.Alternate, s.Title = alternate == 1, title
	return s
}

// Captured is the screen that the output of tmux capture-pane -e -p -N tells.
func Captured(columns, rows int, out string) *tuitest.Screen {
	v := tuitest.New(columns, rows, tuitest.Options{})
	// Styles go on over the ends of lines. G1 is what SO chooses for lines.
	fmt.Fprint(v, "\x1b)0\x1b[?7l", strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "\n", "\r\n"))
	s := v.Screen()
	s.Modes = nil
	for y, cells := range s.Cells { // it does not tell: a row that is full may go on
		s.Wrapped[y] = cells[columns-1].Text != "" || cells[columns-1].Width == 0
	}
	return s
}

// Reduced is the dump of what tmux can tell of a screen: the cells without links and
// without the styles of the blanks at the end of a row, the place of the cursor, and
// which of the two screens it is.
func Reduced(s *tuitest.Screen) string {
	r := &tuitest.Screen{Columns: s.Columns, Rows: s.Rows, Wrapped: make([]bool, s.Rows), Cursor: s.Cursor, Alternate: s.Alternate}
	r.Cursor.Shape = 0
	for _, cells := range s.Cells {
		cells = slices.Clone(cells)
		for x := len(cells) - 1; x >= 0 && strings.TrimSpace(cells[x].Text) == "" && cells[x].Width == 1; x-- {
			cells[x] = tuitest.Cell{Width: 1}
		}
		for x := range cells {
			cells[x].Link, cells[x].LinkID = "", ""
		}
		r.Cells = append(r.Cells, cells)
	}
	return r.Dump()
}

// Same compares what tmux shows with what a virtual terminal shows, as far as Reduced
// goes; it waits for tmux to come to that.
func (t *Tmux) Same(tb testing.TB, want *tuitest.Screen) {
	tb.Helper()
	var d string
	holds := func(s *tuitest.Screen) bool {
		d = tuitest.Diff(Reduced(want), Reduced(s))
		return d == ""
	}
	t.awaitFor(5*time.Second, holds)
	if d != "" {
		tb.Errorf("tmux (+) shows something else than the virtual terminal (-):\n%s", d)
	}
}

// Await looks again and again until a condition holds: tmux tells no changes.
func (t *Tmux) Await(tb testing.TB, what string, holds func(*tuitest.Screen) bool) {
	tb.Helper()
	if last, ok := t.awaitFor(tuitest.Patience, holds); !ok {
		tb.Fatalf("waited %v for %s; tmux shows\n%s", tuitest.Patience, what, last.Dump())
	}
}

func (t *Tmux) awaitFor(long time.Duration, holds func(*tuitest.Screen) bool) (last *tuitest.Screen, ok bool) {
	timer, tick := time.NewTimer(long), time.NewTicker(5*time.Millisecond)
	defer timer.Stop()
	defer tick.Stop()
	for {
		if last = t.Screen(); holds(last) {
			return last, true
		}
		select {
		case <-tick.C:
		case <-timer.C:
			return last, false
		}
	}
}

// History is the text of the rows that scrolled out, the oldest first.
func (t *Tmux) History() []string {
	n := strings.TrimSpace(t.Run("display-message", "-p", "#{history_size}"))
	if n == "0" {
		return nil
	}
	out := t.Run("capture-pane", "-p", "-S", "-"+n, "-E", "-1")
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}
