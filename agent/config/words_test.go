package config

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"provider", "models", "limits", "context", "permissions", "id", "run"}
	tests := []struct{ word, want string }{
		{"providr", "provider"},
		{"porvider", "provider"},
		{"Provider", "provider"},
		{"limit", "limits"},
		{"model", "models"},
		{"contxet", "context"},
		{"rnu", "run"},
		{"permision", "permissions"},
		{"files", ""},
		{"xy", ""},
		{"", ""},
		{"environment", ""},
		{strings.Repeat("provider", 9), ""},
		{strings.Repeat("ſ", 40), ""},
		{strings.Repeat("\u0130", 32), ""},
	}
	for _, tt := range tests {
		got, ok := Nearest(tt.word, known)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%q): got %q, %v, want %q", tt.word, got, ok, tt.want)
		}
	}
	if got, ok := Nearest("abc", []string{strings.Repeat("\u0130", 40), "abd", "abe"}); got != "abd" || !ok {
		t.Errorf("of equals the first: got %q", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"abc", "ab", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"a", "b", 1},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	good := map[string]string{
		"https://api.openai.com/v1":  "https://api.openai.com/v1",
		"http://localhost:8080/v1//": "http://localhost:8080/v1",
		"http://[::1]:80":            "http://[::1]:80",
		"HTTPS://host/":              "HTTPS://host",
		"https://host/a%20b":         "https://host/a%20b",
	}
	for in, want := range good {
		if got, err := BaseURL(in); err != nil || got != want {
			t.Errorf("BaseURL(%q): got %q, %v, want %q", in, got, err, want)
		}
	}
	bad := map[string]string{
		"":                      "found nothing",
		"localhost:8080/v1":     "neither http",
		"host/v1":               "neither http",
		"ftp://host":            "neither http",
		"file:///etc/passwd":    "neither http",
		"http:///v1":            "without a host",
		"http:host":             "without a host",
		"https://:443/":         "without a host",
		"https://u@host/v1":     "user name",
		"https://u:p@host/v1":   "user name",
		"https://@host/v1":      "user name",
		"https://host/v1?a=b":   `"?"`,
		"https://host/v1?":      `"?"`,
		"https://host/v1#x":     `"#"`,
		"https://host/v1#":      `"#"`,
		"https://host:0/v1":     "port",
		"https://host:99999/":   "port",
		"https://host:x/":       "no valid address",
		"https://ho st/":        "space or a control",
		"https://host/\x1b[2J":  "space or a control",
		"https://host/\nv1":     "space or a control",
		"https://ho\u202est/v1": "space or a control",
		"https://ho\u00a0st/v1": "space or a control",
		"https://ho\xffst/v1":   "space or a control",
		"https://host/%zz":      "no valid address",
		"https://ho\\st/v1":     "no valid address",
	}
	for in, want := range bad {
		if got, err := BaseURL(in); err == nil || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("BaseURL(%q): got %q, %v, want an error with %q", in, got, err, want)
		}
	}
}

func TestHome(t *testing.T) {
	root, homeVar := "/", "HOME"
	if runtime.GOOS == "windows" {
		root, homeVar = `C:\`, "USERPROFILE"
	}
	at := func(parts ...string) string { return root + filepath.Join(parts...) }
	tests := []struct {
		name string
		env  map[string]string
		want Dirs
	}{
		{"usual places", map[string]string{homeVar: at("h")},
			Dirs{at("h", ".config", "alisio"), at("h", ".local", "state", "alisio"), at("h", ".cache", "alisio")}},
		{"XDG", map[string]string{homeVar: at("h"), "XDG_CONFIG_HOME": at("c"), "XDG_STATE_HOME": at("s"), "XDG_CACHE_HOME": at("k")},
			Dirs{at("c", "alisio"), at("s", "alisio"), at("k", "alisio")}},
		{"own wins", map[string]string{"ALISIO_CONFIG_HOME": at("oc", ".", "x"), "XDG_CONFIG_HOME": at("c"),
			"ALISIO_STATE_HOME": at("os"), "ALISIO_CACHE_HOME": at("ok")},
			Dirs{at("oc", "x"), at("os"), at("ok")}},
		{"relative XDG is ignored", map[string]string{homeVar: at("h"), "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s", "XDG_CACHE_HOME": at("k")},
			Dirs{at("h", ".config", "alisio"), at("h", ".local", "state", "alisio"), at("k", "alisio")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Home(func(name string) string { return tt.env[name] })
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
	for name, env := range map[string]map[string]string{
		"nothing set":   {},
		"relative home": {homeVar: "h"},
		"relative own":  {homeVar: at("h"), "ALISIO_STATE_HOME": "s"},
	} {
		if got, err := Home(func(name string) string { return env[name] }); err == nil || got != (Dirs{}) {
			t.Errorf("%s: got %+v, %v, want an error", name, got, err)
		}
	}
}
