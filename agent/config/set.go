package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Set gives one dotted key of a configuration file a value, which is JSON, and
// leaves every other byte as it is: comments, order, line ends. What must be
// added is written in the file's own style. A file that is not there is made. One
// that can not be read as configuration, before or after, is not written (C168).
func Set(file, key string, value json.RawMessage) error {
	if value = bytes.TrimSpace(value); !json.Valid(value) {
		return fmt.Errorf("set %s: found no JSON value", quote(key))
	}
	if err := rewrite(file, key, value); err != nil {
		return fmt.Errorf("set %s: %w", quote(key), err)
	}
	return nil
}

// Unset takes one dotted key out of a configuration file, as Set does. A key
// that is not there is no error.
func Unset(file, key string) error {
	if err := rewrite(file, key, nil); err != nil {
		return fmt.Errorf("unset %s: %w", quote(key), err)
	}
	return nil
}

func rewrite(file, key string, value []byte) error {
	return Update(file, 0o600, func(old []byte) ([]byte, error) {
		if old == nil && value != nil {
			old = []byte("{\n  \"schemaVersion\": 1\n}\n")
		}
		if old == nil {
			return nil, nil
		}
		return edited(&source{file: file, dir: filepath.Dir(file), data: old}, key, value)
	})
}

// edited returns a file's new content, nil for no change. A nil value takes the
// key out.
func edited(src *source, key string, value []byte) ([]byte, error) {
	if !utf8.ValidString(key) {
		return nil, errors.New("found a key that is no UTF-8")
	}
	root, errs := parse(src)
	if len(errs) > 0 {
		return nil, together(errs)
	}
	data, err := remove(root, steps(key)), error(nil)
	if value != nil {
		data, err = put(root, steps(key), value)
	}
	switch {
	case err != nil || data == nil:
		return nil, err
	case len(data) > maxFile:
		return nil, errTooLarge
	}
	after := *src
	after.data = data
	now, errs := parse(&after)
	if len(errs) == 0 {
		errs = check(now, &Config{}, nil)
	}
	if len(errs) == 0 && !kept(root, now, key, value) {
		return nil, errors.New("something else in the file would change; edit it by hand")
	}
	return data, together(errs)
}

// kept reports whether nothing but the value of key differs, and that is value.
func kept(before, after node, key string, value []byte) bool {
	others := func(root node) map[string]string {
		all := make(map[string]string)
		root.leaves("", func(k string, v node) {
			if v.kind != isObject && k != key && !strings.HasPrefix(k, key+".") {
				all[k] = string(v.json())
			}
		})
		return all
	}
	got, set := after.find(key)
	if value == nil || !set {
		return value == nil && !set && maps.Equal(others(before), others(after))
	}
	only, _ := parse(&source{data: slices.Concat([]byte(`{"":`), value, []byte("}"))})
	want, ok := only.get("")
	return ok && bytes.Equal(got.json(), want.json()) && maps.Equal(others(before), others(after))
}
