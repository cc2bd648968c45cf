package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// schemaVersion is the newest version of the file that this program reads.
const schemaVersion = 1

// maxWindow, in tokens, is above every window there is; it catches slips of the finger.
const maxWindow = 100_000_000

// rule is what a key takes.
type rule struct {
	// allowed says what, in errors and in lists of keys.
	allowed string
	// set checks a value and writes it into w.c. name is what stands for the
	// "*" of the key.
	set func(w *walker, name string, v node)
	// path: text in the value is a path, which resolves against its file.
	path bool
}

// takes is the rule of a key whose value read understands. set is given the "*"
// of the key first.
func takes[T any](allowed string, read func(v node) (T, bool), set func(c *Config, name string, value T)) rule {
	return rule{allowed: allowed, set: func(w *walker, name string, v node) {
		value, ok := read(v)
		if !ok {
			w.wrong(v, allowed)
			return
		}
		set(w.c, name, value)
	}}
}

func integer(lo, hi int, set func(*Config, string, int)) rule {
	return takes(fmt.Sprintf("a whole number from %d to %d", lo, hi), func(v node) (int, bool) {
		n, err := strconv.Atoi(v.text)
		return n, v.kind == isNumber && err == nil && lo <= n && n <= hi
	}, set)
}

// A limit of time is longer than a slip of the unit, and no longer than a day.
const (
	LeastTime = 100 * time.Millisecond
	MostTime  = 24 * time.Hour
)

// limitMs is a limit of time in milliseconds, or 0 for none.
func limitMs(set func(*Config, string, int)) rule {
	lo, hi := LeastTime.Milliseconds(), MostTime.Milliseconds()
	return takes(fmt.Sprintf("0 for no limit, or a whole number from %d to %d", lo, hi), func(v node) (int, bool) {
		n, err := strconv.Atoi(v.text)
		return n, v.kind == isNumber && err == nil && (v.text == "0" || lo <= int64(n) && int64(n) <= hi)
	}, set)
}

// number is a number from lo to hi.
func number(lo, hi float64, set func(*Config, string, float64)) rule {
	return takes(fmt.Sprintf("a number from %v to %v", lo, hi), func(v node) (float64, bool) {
		f, err := strconv.ParseFloat(v.text, 64)
		return f, v.kind == isNumber && err == nil && lo <= f && f <= hi
	}, set)
}

func boolean(set func(*Config, string, bool)) rule {
	return takes("true or false", func(v node) (bool, bool) { return v.text == "true", v.kind == isBool }, set)
}

func oneOf(words []string, set func(*Config, string, string)) rule {
	return takes(`"`+strings.Join(words, `", "`)+`"`, func(v node) (string, bool) {
		return v.text, v.kind == isString && slices.Contains(words, v.text)
	}, set)
}

// line is text without control characters that fits in one line.
func line(set func(*Config, string, string)) rule {
	return takes(fmt.Sprintf("text of at most %d bytes without control characters", maxLine), func(v node) (string, bool) {
		return v.text, v.kind == isString && printable(v.text)
	}, set)
}

const maxLine = 256

func printable(s string) bool {
	return len(s) <= maxLine && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// variable is the name of an environment variable; set is given the "*" of the
// key first. What was found is not repeated: people put the key itself here by
// mistake.
func variable(set func(c *Config, name, s string)) rule {
	const allowed = "letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here"
	odd := func(r rune) bool { return r != '_' && (r >= 0x80 || !alphanumeric(byte(r))) }
	return rule{allowed: allowed, set: func(w *walker, name string, v node) {
		if s := v.text; v.kind != isString || s == "" || len(s) > 128 || '0' <= s[0] && s[0] <= '9' || strings.ContainsFunc(s, odd) {
			w.bad(v, "found no name of an environment variable, allowed: %s", allowed)
			return
		}
		if looksSecret(v.text) {
			w.bad(v, "found what looks like a key and not like the name of a variable, allowed: %s", allowed)
			return
		}
		set(w.c, name, v.text)
	}}
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// looksSecret reports whether a text is a key that was put in the place of the name
// of its variable: names are printed, and keys of letters and digits are none.
func looksSecret(s string) bool {
	const least, leastHex = 20, 32
	if len(s) >= leastHex && strings.Trim(s, "0123456789abcdefABCDEF") == "" {
		return true
	}
	return len(s) >= least && !strings.Contains(s, "_") && strings.ContainsAny(s, "0123456789") &&
		strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz")
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
func list(most int, items string, set func(w *walker, name string, all []node)) rule {
	allowed := fmt.Sprintf("a list of at most %d items", most)
	return rule{allowed: allowed + ": " + items, set: func(w *walker, name string, v node) {
		if v.kind != isArray || len(v.items) > most {
			w.wrong(v, allowed)
			return
		}
		set(w, name, v.items)
	}}
}

const pathAllowed = "a path, absolute or relative to where it stands; ~ is not expanded"

// path reads one, which is relative to the file that holds it. It need not exist.
func path(v node) (string, bool) {
	odd := func(r rune) bool { return unicode.IsControl(r) }
	if v.kind != isString || v.text == "" || strings.ContainsFunc(v.text, odd) || strings.HasPrefix(v.text, "~") {
		return "", false
	}
	return v.resolved(), true
}

func file(set func(*Config, string, string)) rule {
	r := takes(pathAllowed, path, set)
	r.path = true
	return r
}

// maxDirs bounds a list of directories.
const maxDirs = 64

func directories(of func(*Config) *[]string) rule {
	r := list(maxDirs, pathAllowed, func(w *walker, _ string, all []node) {
		dirs := of(w.c)
		*dirs = nil
		one := takes(pathAllowed, path, func(_ *Config, _, dir string) { *dirs = append(*dirs, dir) })
		for _, v := range all {
			one.set(w, "", v)
		}
	})
	r.path = true
	return r
}

// plugin reads the entry of one built-in plugin: "enabled" is ours, the rest is
// handed on as plain JSON.
func plugin(w *walker, id string, v node) {
	if w.known != nil && !slices.Contains(w.known, id) {
		w.bad(v, "no such built-in plugin%s", cmp.Or(suggest(id, w.known), "; there are: "+cmp.Or(strings.Join(w.known, ", "), "none")))
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
		p.Options = rest.json()
	}
	if w.c.plugins == nil {
		w.c.plugins = map[string]Plugin{}
	}
	w.c.plugins[id] = p
}
