package child

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/perm"
	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of a spec. Plugins make specs of what models and repositories say.
const (
	maxDepth        = 16        // against circles; agents have a limit of their own
	maxTitle        = 200       // characters
	maxLabel        = 40        // characters of one agent's name
	maxInstructions = 256 << 10 // bytes
	maxPatterns     = 1000
	maxPattern      = 200 // bytes
	maxName         = 400 // bytes of a model's name
	maxPath         = 4096
	maxStored       = 1 << 20 // bytes of a stored spec
	maxTurns        = 100_000
	maxTimeoutMs    = 30 * 24 * 60 * 60 * 1000 // a month
	maxTokens       = 1 << 40
)

// checked is a spec with its texts made harmless, or what is wrong with it.
func checked(c plug.ChildSpec) (plug.ChildSpec, error) {
	c.Title, c.Agent = text.OneLine(c.Title, maxTitle), label(c.Agent)
	c.Instructions = strings.ToValidUTF8(c.Instructions, "\uFFFD")
	return c, cmp.Or(
		within("instructions", int64(len(c.Instructions)), maxInstructions, "bytes"),
		patterns("allow", c.Tools.Allow), patterns("deny", c.Tools.Deny),
		c.Permission.Check(),
		name("model", c.Model, maxName), name("workspace", c.Workspace, maxPath), absolute(c.Workspace),
		within("maxTurns", int64(c.MaxTurns), maxTurns, "turns"), within("timeoutMs", c.TimeoutMs, maxTimeoutMs, "milliseconds"),
		within("maxTokens", int64(c.MaxTokens), maxTokens, "tokens"),
		within("maxOutputTokens", int64(c.MaxOutputTokens), maxTokens, "tokens"),
	)
}

func within(key string, n, most int64, unit string) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s is %d, allowed: 0 to %d %s", key, n, most, unit)
	}
	return nil
}

// patterns bounds names of tools; whether there are such tools does not matter.
func patterns(key string, all []string) error {
	if len(all) > maxPatterns {
		return fmt.Errorf("tools %s has %d names, at most %d", key, len(all), maxPatterns)
	}
	for _, p := range all {
		if p == "" {
			return fmt.Errorf("tools %s has an empty name", key)
		}
		if err := name("tools "+key, p, maxPattern); err != nil {
			return err
		}
	}
	return nil
}

// name accepts what a person can see, bounded; empty too.
func name(key, s string, most int) error {
	if len(s) > most {
		return fmt.Errorf("%s has %d bytes, at most %d", key, len(s), most)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s %.80q has characters that can not be seen", key, s)
	}
	return nil
}

func absolute(dir string) error {
	if dir != "" && !filepath.IsAbs(dir) {
		return fmt.Errorf("workspace %.200q is not absolute", dir)
	}
	return nil
}

// separator stands between the agents of a path.
const separator = " › "

// label is an agent's name in a path, of which it can not be made to look like two.
func label(agent string) string {
	return text.OneLine(strings.Map(func(r rune) rune {
		if r == '›' {
			return '-'
		}
		return r
	}, agent), maxLabel)
}

// encode writes a spec as it is stored; whose it is stands beside it.
func encode(c plug.ChildSpec) (string, error) {
	c.Parent, c.ID = "", ""
	body, err := json.Marshal(c)
	if err == nil && len(body) > maxStored {
		err = fmt.Errorf("it has %d bytes, at most %d can be stored", len(body), maxStored)
	}
	return string(body), err
}

// decode reads a stored spec. A field that this program does not know could forbid
// something, so that a spec with one can not be read.
func decode(stored string) (plug.ChildSpec, error) {
	if len(stored) > maxStored {
		return plug.ChildSpec{}, errors.New("it is too large")
	}
	if !strings.HasPrefix(stored, "{") {
		return plug.ChildSpec{}, errors.New("it is no JSON object") // null reads as a spec without bounds
	}
	d := json.NewDecoder(bytes.NewReader([]byte(stored)))
	d.DisallowUnknownFields()
	var c plug.ChildSpec
	if err := d.Decode(&c); err != nil {
		return plug.ChildSpec{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return plug.ChildSpec{}, errors.New("something stands behind it")
	}
	c, err := checked(c)
	if err != nil {
		return plug.ChildSpec{}, err
	}
	return c, nil
}

// Ceiling is what a spec alone leaves.
func Ceiling(c plug.ChildSpec) perm.Ceiling {
	out := perm.Ceiling{
		ReadOnly: c.ReadOnly, Write: most(c.Permission.Write), Process: most(c.Permission.Process), External: most(c.Permission.External),
	}
	if len(c.Tools.Allow)+len(c.Tools.Deny) > 0 {
		out.Tools = []perm.Filter{{Allow: c.Tools.Allow, Deny: c.Tools.Deny}}
	}
	return out
}

func most(p plug.Permission) perm.Cap {
	switch p {
	case "", plug.PermissionAllow:
		return perm.CapNone
	case plug.PermissionAsk:
		return perm.CapAsk
	}
	return perm.CapDeny
}

// strictest leaves nothing: for what can not be read.
func strictest() perm.Ceiling {
	return perm.Ceiling{
		ReadOnly: true, Write: perm.CapDeny, Process: perm.CapDeny, External: perm.CapDeny,
		Tools: []perm.Filter{{Deny: []string{"*"}}},
	}
}

// permitted is what a cap leaves, in the words of specs.
func permitted(c perm.Ceiling, limit perm.Cap) plug.Permission {
	switch {
	case c.ReadOnly || limit == perm.CapDeny:
		return plug.PermissionDeny
	case limit == perm.CapAsk:
		return plug.PermissionAsk
	case limit == perm.CapNone:
		return plug.PermissionAllow
	}
	return plug.PermissionDeny
}

// isID reports whether an id is a UUIDv4, as sessions have.
func isID(s string) bool {
	if len(s) != 36 || s[14] != '4' || !strings.ContainsRune("89ab", rune(s[19])) {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}
