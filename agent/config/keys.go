package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/perm"
)

// schemaVersion is the newest version of the file that this program reads.
const schemaVersion = 1

// maxWindow, in tokens, is above every window there is; it catches slips of the finger.
const maxWindow = 100_000_000

// row is one key of the configuration. A "*" in it stands for one name that
// the file chooses; set is given that name.
type row struct {
	key string
	set func(w *walker, name string, v node)
}

// keys is the whole table of known keys. A key that is not here is an error.
func keys() []row {
	return []row{
		{"schemaVersion", integer(1, schemaVersion, func(*Config, string, int) {})},

		{"provider.baseURL", baseURL},
		{"provider.apiKeyEnv", variable(func(c *Config, s string) { c.Provider.APIKeyEnv = s })},
		{"provider.model", line(func(c *Config, s string) { c.Provider.Model = s })},
		{"provider.auth", oneOf([]string{"bearer", "none"},
			func(c *Config, s string) { c.Provider.Auth = s })},
		{"provider.tokenParameter", oneOf([]string{"max_tokens", "max_completion_tokens", "omit"},
			func(c *Config, s string) { c.Provider.TokenParameter = s })},
		{"provider.streamUsage", boolean(func(c *Config, b bool) { c.Provider.StreamUsage = b })},
		{"provider.contextWindow", integer(1, maxWindow,
			func(c *Config, _ string, n int) { c.Provider.ContextWindow = n })},

		{"models.*.contextWindow", integer(1, maxWindow,
			func(c *Config, id string, n int) { c.model(id, func(m *Model) { m.ContextWindow = n }) })},
		{"models.*.maxOutputTokens", integer(1, maxWindow,
			func(c *Config, id string, n int) { c.model(id, func(m *Model) { m.MaxOutputTokens = n }) })},
		{"models.*.effort", list(16, func(w *walker, id string, all []node) {
			levels := w.effort(all)
			w.c.model(id, func(m *Model) { m.Effort = levels })
		})},

		{"limits.maxTurns", integer(1, 10000,
			func(c *Config, _ string, n int) { c.Limits.MaxTurns = n })},
		{"limits.maxOutputTokens", integer(1, maxWindow,
			func(c *Config, _ string, n int) { c.Limits.MaxOutputTokens = n })},

		{"context.claudeMdFallback", boolean(func(c *Config, b bool) { c.Context.ClaudeMdFallback = b })},
		{"context.maxBytes", integer(1024, 1<<20,
			func(c *Config, _ string, n int) { c.Context.MaxBytes = n })},

		{"builtinPlugins.*", plugin},

		{"additionalDirectories", list(64, func(w *walker, _ string, all []node) {
			w.c.AdditionalDirectories = w.directories(all)
		})},

		{"permissions.mode", oneOf([]string{string(perm.ModeAsk), string(perm.ModeAuto), string(perm.ModeFull)},
			func(c *Config, s string) { c.Permissions.Mode = perm.Mode(s) })},
	}
}

// model changes the entry of one model.
func (c *Config) model(id string, change func(*Model)) {
	m := c.Models[id]
	change(&m)
	if c.Models == nil {
		c.Models = map[string]Model{}
	}
	c.Models[id] = m
}

func integer(lo, hi int, set func(*Config, string, int)) func(*walker, string, node) {
	return func(w *walker, name string, v node) {
		n, err := strconv.Atoi(v.text)
		if v.kind != isNumber || err != nil || n < lo || n > hi {
			w.wrong(v, fmt.Sprintf("a whole number from %d to %d", lo, hi))
			return
		}
		set(w.c, name, n)
	}
}

func boolean(set func(*Config, bool)) func(*walker, string, node) {
	return func(w *walker, _ string, v node) {
		if v.kind != isBool {
			w.wrong(v, "true or false")
			return
		}
		set(w.c, v.text == "true")
	}
}

func oneOf(words []string, set func(*Config, string)) func(*walker, string, node) {
	return func(w *walker, _ string, v node) {
		if v.kind != isString || !slices.Contains(words, v.text) {
			w.wrong(v, `"`+strings.Join(words, `", "`)+`"`)
			return
		}
		set(w.c, v.text)
	}
}

// line is text without control characters that fits in one line.
func line(set func(*Config, string)) func(*walker, string, node) {
	return func(w *walker, _ string, v node) {
		if v.kind != isString || !printable(v.text) {
			w.wrong(v, fmt.Sprintf("text of at most %d bytes without control characters", maxLine))
			return
		}
		set(w.c, v.text)
	}
}

const maxLine = 256

func printable(s string) bool {
	return len(s) <= maxLine && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// variable is the name of an environment variable. What was found is not
// repeated: people put the key itself here by mistake.
func variable(set func(*Config, string)) func(*walker, string, node) {
	odd := func(r rune) bool { return r != '_' && (r >= 0x80 || !alphanumeric(byte(r))) }
	return func(w *walker, _ string, v node) {
		if s := v.text; v.kind != isString || s == "" || len(s) > 128 || '0' <= s[0] && s[0] <= '9' || strings.ContainsFunc(s, odd) {
			w.bad(v, "found no name of an environment variable, allowed: letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here")
			return
		}
		set(w.c, v.text)
	}
}

// baseURL is the address of the provider.
func baseURL(w *walker, _ string, v node) {
	if v.kind != isString {
		w.wrong(v, baseURLAllowed)
		return
	}
	u, err := BaseURL(v.text)
	if err != nil {
		w.bad(v, "%w, allowed: %s", err, baseURLAllowed)
		return
	}
	w.c.Provider.BaseURL = u
}

// list is an array of at most most items.
func list(most int, set func(w *walker, name string, all []node)) func(*walker, string, node) {
	return func(w *walker, name string, v node) {
		if v.kind != isArray || len(v.items) > most {
			w.wrong(v, fmt.Sprintf("a list of at most %d items", most))
			return
		}
		set(w, name, v.items)
	}
}

// effort reads the names of reasoning efforts.
func (w *walker) effort(all []node) []string {
	levels := make([]string, 0, len(all))
	for _, v := range all {
		if v.kind != isString || v.text == "" || !printable(v.text) || slices.Contains(levels, v.text) {
			w.wrong(v, "the name of a reasoning effort, each once")
			continue
		}
		levels = append(levels, v.text)
	}
	return levels
}

// directories resolves paths against the file that holds them.
func (w *walker) directories(all []node) []string {
	dirs := make([]string, 0, len(all))
	for _, v := range all {
		odd := func(r rune) bool { return unicode.IsControl(r) }
		if v.kind != isString || v.text == "" || strings.ContainsFunc(v.text, odd) || strings.HasPrefix(v.text, "~") {
			w.wrong(v, "a path, absolute or relative to where it stands; ~ is not expanded")
			continue
		}
		dir := v.text
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(v.src.dir, dir)
		}
		dirs = append(dirs, filepath.Clean(dir))
	}
	return dirs
}

// plugin reads the entry of one built-in plugin: "enabled" is ours, the rest is
// handed on as plain JSON.
func plugin(w *walker, id string, v node) {
	if w.known != nil && !slices.Contains(w.known, id) {
		w.bad(v, "no such built-in plugin%s", suggest(id, w.known))
		return
	}
	if v.kind != isObject {
		w.wrong(v, "an object")
		return
	}
	p := Plugin{Enabled: true}
	rest := v
	rest.fields = nil
	for _, f := range v.fields {
		switch {
		case f.name != "enabled":
			rest.fields = append(rest.fields, f)
		case f.value.kind != isBool:
			w.at("enabled").wrong(f.value, "true or false")
		default:
			p.Enabled = f.value.text == "true"
		}
	}
	if len(rest.fields) > 0 {
		p.Options = rest.json(nil)
	}
	if w.c.plugins == nil {
		w.c.plugins = map[string]Plugin{}
	}
	w.c.plugins[id] = p
}
