package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	section := "builtinPlugins." + id
	if name, ok := unknownField(err); ok {
		at, found := stray(raw, reflect.TypeOf(into), name)
		if !found {
			return c.Wrong(section, "unknown key %q in %q", tell(name), section)
		}
		key, place := section+"."+at.path+name, section+"."+at.path+name
		if at.list { // no key names what stands in a list
			place = section + "." + strings.TrimRight(at.before, ".")
		}
		if near, ok := config.Nearest(name, at.known); ok {
			return c.Wrong(place, "unknown key %q, did you mean %q?", tell(key), section+"."+at.path+near)
		}
		return c.Wrong(place, "unknown key %q", tell(key))
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

// spot is where a member stands that is not known there: the way to it ("limits.",
// "rules[0]."), and the members that are. list: a list is on the way, behind before.
type spot struct {
	path, before string
	list         bool
	known        []string
}

// stray finds a member of that name which the type has no field for in its place.
func stray(raw json.RawMessage, t reflect.Type, name string) (spot, bool) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return spot{}, false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return spot{}, false
		}
		for i, item := range items {
			if at, found := stray(item, t.Elem(), name); found {
				at.path, at.before, at.list = fmt.Sprintf("[%d].", i)+at.path, "", true
				return at, true
			}
		}
	case reflect.Map, reflect.Struct:
		fields := fieldsOf(t)
		have := members(raw)
		for _, k := range slices.Sorted(maps.Keys(have)) {
			inner, known := fields[strings.ToLower(k)]
			if t.Kind() == reflect.Map {
				inner, known = field{k, t.Elem()}, true
			}
			if !known {
				if k == name {
					return spot{known: names(fields)}, true
				}
				continue
			}
			if at, found := stray(have[k], inner.is, name); found {
				if !strings.HasPrefix(at.path, "[") {
					k += "."
				}
				at.path = k + at.path
				if at.list {
					at.before = k + at.before
				}
				return at, true
			}
		}
	}
	return spot{}, false
}

// field is a member as it is written, and what it holds.
type field struct {
	name string
	is   reflect.Type
}

// fieldsOf are the members that a struct takes, by their names in lower case:
// encoding/json takes them in any.
func fieldsOf(t reflect.Type) map[string]field {
	all := map[string]field{}
	if t.Kind() != reflect.Struct {
		return all
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = strings.ToLower(f.Name[:1]) + f.Name[1:] // as people write it
		}
		if f.IsExported() && name != "-" && !f.Anonymous {
			all[strings.ToLower(name)] = field{name, f.Type}
		}
	}
	return all
}

func names(fields map[string]field) (all []string) {
	for _, f := range fields {
		all = append(all, f.name)
	}
	slices.Sort(all)
	return all
}

// members are those of an object; nil for what is none.
func members(raw json.RawMessage) (all map[string]json.RawMessage) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}
