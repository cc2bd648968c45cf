package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"alisio/agent/config"
)

// decodeOptions reads a plugin's own configuration strictly. Its errors are those of
// the configuration: file, line, and the nearest of the keys that there are.
func decodeOptions(c config.Config, id string, into any) error {
	raw := c.Plugin(id).Options
	if len(raw) == 0 {
		return nil
	}
	// The keys that there are, as they are written: what is left out when it is empty
	// is not among them, and then not the nearest.
	known, _ := json.Marshal(into)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	section := "builtinPlugins." + id
	if name, ok := unknownField(err); ok {
		path, there, _ := stray(raw, known, name)
		key := section + "." + path + name
		if near, ok := config.Nearest(name, there); ok {
			return c.Wrong(key, "unknown key %q, did you mean %q?", tell(key), section+"."+path+near)
		}
		return c.Wrong(key, "unknown key %q", tell(key))
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		key := section + "." + wrong.Field
		return c.Wrong(key, "%q: found %s, allowed: %s", tell(key), wrong.Value, wrong.Type)
	}
	return c.Wrong(section, "%q: %w", section, err)
}

// unknownField is the member that encoding/json does not know, which it says in words
// alone.
func unknownField(err error) (name string, ok bool) {
	quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !ok {
		return "", false
	}
	name, err = strconv.Unquote(quoted)
	return name, err == nil
}

// stray finds where a member stands that is not known there, as the way to it
// ("limits."), and the members that are known in that place. What stands in a list is
// not found.
func stray(raw, known json.RawMessage, name string) (path string, there []string, found bool) {
	have, want := members(raw), members(known)
	there = slices.Sorted(maps.Keys(want))
	same := func(k string) bool { return strings.EqualFold(k, name) }
	if _, ok := have[name]; ok && !slices.ContainsFunc(there, same) {
		return "", there, true
	}
	for _, k := range slices.Sorted(maps.Keys(have)) {
		if path, there, found := stray(have[k], want[k], name); found {
			return k + "." + path, there, true
		}
	}
	return "", nil, false
}

// members are those of an object; nil for what is none.
func members(raw json.RawMessage) (all map[string]json.RawMessage) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}
