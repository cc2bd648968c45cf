package config

import (
	"path/filepath"
	"strconv"
)

// LoadOptions says what Load reads.
type LoadOptions struct {
	// Dirs are those of Home; config.json is read from Dirs.Config, unless that
	// is empty.
	Dirs Dirs
	// File is that of --config, empty for none. It must exist.
	File string
	// Dir is the absolute working directory, for relative paths of flags.
	Dir string
	// Getenv reads the environment.
	Getenv func(string) string
	// Plugins are the ids of the built-in plugins; nil lets every id pass.
	Plugins []string
	// Overrides are the flags.
	Overrides Overrides
}

// Overrides are values that flags set; nil means not given.
type Overrides struct {
	BaseURL  *string
	Model    *string
	Mode     *string
	MaxTurns *int
	// AddDirs join the directories of the files.
	AddDirs []string
}

// Load reads and checks all layers: the global file, which may be missing, the
// file of --config, the environment, the flags. A later one wins, objects
// merge key by key. The error joins one error for each thing that is wrong.
func Load(o LoadOptions) (Config, error) {
	layers, errs := files(o)
	layers = append(layers, environment(o.Getenv), flags(o.Overrides, o.Dir))

	// Each layer is checked alone: what a later layer overrides must be right
	// too, or the error would wait for the day the override is gone.
	root := node{kind: isObject}
	for _, layer := range layers {
		scratch := Default()
		errs = append(errs, check(layer, &scratch, o.Plugins)...)
		root = merge(root, layer)
	}
	if len(errs) > 0 {
		return Config{}, together(errs)
	}
	c := Default()
	if errs := check(root, &c, o.Plugins); len(errs) > 0 {
		return Config{}, together(errs)
	}
	c.root = root
	return c, nil
}

// files reads the layers that are files, the least wanted first.
func files(o LoadOptions) (layers []node, errs []error) {
	read := func(path string, must bool) {
		src, err := readSource(path, must)
		if err != nil {
			errs = append(errs, err)
		}
		if src == nil {
			return
		}
		root, bad := parse(src)
		errs = append(errs, bad...)
		if len(bad) == 0 {
			layers = append(layers, root)
		}
	}
	if o.Dirs.Config != "" {
		read(filepath.Join(o.Dirs.Config, "config.json"), false)
	}
	if o.File != "" {
		path := o.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		read(filepath.Clean(path), true)
	}
	return layers, errs
}

// environment is the layer of environment variables. An empty one counts as
// unset, as users of env files expect.
func environment(getenv func(string) string) node {
	layer := node{kind: isObject}
	for _, v := range []struct{ name, section, key string }{
		{"OPENAI_BASE_URL", "provider", "baseURL"},
		{"ALISIO_MODEL", "provider", "model"},
	} {
		if s := getenv(v.name); s != "" {
			layer = merge(layer, given("environment "+v.name, v.section, v.key, node{kind: isString, text: s}))
		}
	}
	return layer
}

// flags is the layer of flags.
func flags(o Overrides, dir string) node {
	layer := node{kind: isObject}
	text := func(flag, section, key string, s *string) {
		if s != nil {
			layer = merge(layer, given("flag "+flag, section, key, node{kind: isString, text: *s}))
		}
	}
	text("--base-url", "provider", "baseURL", o.BaseURL)
	text("--model", "provider", "model", o.Model)
	text("--mode", "permissions", "mode", o.Mode)
	if o.MaxTurns != nil {
		layer = merge(layer, given("flag --max-turns", "limits", "maxTurns",
			node{kind: isNumber, text: strconv.Itoa(*o.MaxTurns)}))
	}
	if len(o.AddDirs) > 0 {
		src := &source{label: "flag --add-dir", dir: dir}
		all := node{kind: isArray, src: src, adds: true}
		for _, d := range o.AddDirs {
			all.items = append(all.items, node{kind: isString, src: src, text: d})
		}
		layer.fields = append(layer.fields, field{name: "additionalDirectories", value: all})
	}
	return layer
}

// given is an object that holds one value which came from no file.
func given(label, section, key string, v node) node {
	v.src = &source{label: label}
	inner := node{kind: isObject, src: v.src, fields: []field{{name: key, value: v}}}
	return node{kind: isObject, src: v.src, fields: []field{{name: section, value: inner}}}
}
