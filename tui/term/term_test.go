package term

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

func TestIsTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, stream := range []any{r, w, &bytes.Buffer{}, nil} {
		if IsTerminal(stream) {
			t.Errorf("%T counts as a terminal", stream)
		}
	}
}

func TestColor(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm"}, false}, // a buffer is no terminal
		{map[string]string{"TERM": "xterm", "CLICOLOR_FORCE": "1"}, true},
		{map[string]string{"TERM": "dumb", "CLICOLOR_FORCE": "1"}, true},
		{map[string]string{"TERM": "xterm", "CLICOLOR_FORCE": "0"}, false},
		{map[string]string{"TERM": "xterm", "CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
	} {
		got := Color(&bytes.Buffer{}, func(k string) string { return c.env[k] })
		if got != c.want {
			t.Errorf("%v: got %v, want %v", c.env, got, c.want)
		}
	}
}

func TestUnicode(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "C.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE.utf8@euro"}, true},
		{map[string]string{"LANG": "C.UTF-8", "LC_CTYPE": "POSIX"}, false},
		{map[string]string{"LC_CTYPE": "en_GB.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LC_ALL": "ja_JP.eucJP", "LANG": "C.UTF-8"}, false},
		{map[string]string{"LC_ALL": "en_GB"}, false},
		{nil, runtime.GOOS == "windows"},
	} {
		if got := Unicode(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%v: got %v, want %v", c.env, got, c.want)
		}
	}
}
