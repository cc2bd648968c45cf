package config

import (
	"slices"
	"strings"
)

// Value is one effective value.
type Value struct {
	// Key is dotted.
	Key string
	// JSON is compact. Paths in it are absolute.
	JSON string
	// Origin is as for Config.Origin.
	Origin string
}

// Values lists every effective value, defaults included, sorted by key: lists
// whole, objects member by member. No key of ours holds a secret, but nobody
// knows what people write into provider.extraBody and a plugin's options.
func (c Config) Values() []Value {
	paths := make(map[string]bool)
	for _, r := range keys() {
		paths[r.key] = r.path
	}
	var all []Value
	c.root.leaves("", func(key string, v node) {
		if paths[key] {
			v = v.absolute()
		}
		all = append(all, Value{Key: key, JSON: string(v.json()), Origin: v.src.origin(v.start)})
	})
	slices.SortFunc(all, func(a, b Value) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// Origin says where the value of a dotted key came from, for people:
// "default", "/path/config.json:12", "environment OPENAI_BASE_URL" or
// "flag --base-url". Of a key that flags add to, it names the first layer.
func (c Config) Origin(key string) string {
	if n, ok := c.root.find(key); ok {
		return n.src.origin(n.start)
	}
	return byDefault
}

// OfProject reports whether the value of a dotted key stands in the file of a trusted
// project.
func (c Config) OfProject(key string) bool {
	n, ok := c.root.find(key)
	return ok && n.src != nil && n.src.project
}

// absolute resolves the path, or the paths, of a value.
func (n node) absolute() node {
	if n.kind == isString {
		n.text, n.end = n.resolved(), 0
	}
	items := make([]node, len(n.items))
	for i, v := range n.items {
		items[i] = v.absolute()
	}
	n.items = items
	return n
}

// Key is one key that this program knows.
type Key struct {
	// Name is dotted, with <id> for a name that the file chooses.
	Name string
	// Default is JSON, empty when the key is unset by default.
	Default string
	// Allowed says what the key takes, for people.
	Allowed string
}

// Keys lists the known keys in the order of the manual.
func Keys() []Key {
	var all []Key
	for _, r := range keys() {
		all = append(all, Key{Name: strings.ReplaceAll(r.key, "*", "<id>"), Default: r.fallback, Allowed: r.allowed})
	}
	return all
}

// Keys lists, sorted, the dotted keys that the file sets, known or not: what it
// would bring in. They are a repository's text and fit for a terminal only when
// they have been sanitised.
func (p Project) Keys() ([]string, error) {
	src, err := p.source()
	if err != nil {
		return nil, err
	}
	root, errs := parse(src)
	if len(errs) > 0 {
		return nil, together(errs)
	}
	var names []string
	root.leaves("", func(key string, _ node) { names = append(names, key) })
	slices.Sort(names)
	return names, nil
}
