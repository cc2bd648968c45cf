package drive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/tui/tuitest"
)

// The virtual terminal sends for keys what tmux sends for them, in the old encoding and
// with modifyOtherKeys, which tmux 3.3 answers in the form CSI … u alone. It is known to
// differ in Home and End without modifiers, which are CSI 1 ~ and CSI 4 ~ there.
func TestKeysAgainstTmux(t *testing.T) {
	names := []string{
		"a", "A", "é", "?", "ctrl+a", "ctrl+space", "ctrl+_", "ctrl+^", "alt+x", "alt+X", "enter", "tab", "shift+tab", "backspace", "esc", "up",
		"shift+up", "ctrl+left", "alt+right", "ctrl+home", "delete", "ctrl+delete", "pageup", "f1", "f5", "shift+f5", "alt+enter",
	}
	for _, c := range []struct {
		setup string
		names []string
	}{
		{"", names},
		{"\x1b[?1h", []string{"up", "left", "shift+up"}},
		{"\x1b[>4;1m", []string{"a", "A", "ctrl+a", "shift+enter", "ctrl+enter", "alt+x", "shift+tab"}},
	} {
		file := filepath.Join(t.TempDir(), "keys")
		m := StartTmux(t, 40, 5, `stty raw -echo; printf '`+strings.ReplaceAll(c.setup, "\x1b", `\033`)+`\033]2;start\007'; exec cat >>`+file)
		m.Await(t, "the start", func(s *tuitest.Screen) bool { return s.Title == "start" })
		for _, name := range c.names {
			v := tuitest.New(40, 5, tuitest.Options{OtherKeys: true})
			fmt.Fprint(v, c.setup, "\x1b[>4;1f")
			if err := v.Press(name); err != nil {
				t.Fatal(err)
			}
			want := v.Pending()
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
			m.Press(name)
			m.Send("|")
			got := ""
			m.Await(t, "key "+name, func(*tuitest.Screen) bool {
				b, err := os.ReadFile(file)
				got = string(b)
				return err == nil && strings.HasSuffix(got, "|")
			})
			if got = strings.TrimSuffix(got, "|"); got != want {
				t.Errorf("%q, %s: tmux sends %q, the virtual terminal %q", c.setup, name, got, want)
			}
		}
	}
}
