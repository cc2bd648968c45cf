package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LoadOptions says what Load reads.
type LoadOptions struct {
	// Dirs are those of Home; config.json is read from Dirs.Config, unless that
	// is empty.
	Dirs Dirs
	// Project is the configuration of a trusted project, nil for none. It is not
	// used beside File.
	Project *Project
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
	APIMode  *string
	Model    *string
	Mode     *string
	MaxTurns *int
	// MaxTokens and MaxCost are numbers as they were typed.
	MaxTokens, MaxCost *string
	// Timeout is a whole number of milliseconds.
	Timeout *time.Duration
	// AddDirs join the directories of the files.
	AddDirs []string
}

// Load reads and checks all layers: the global file, which may be missing, the
// project or the file of --config, the environment, the flags. A later one wins,
// objects merge key by key. The error joins one error for each thing that is
// wrong.
func Load(o LoadOptions) (Config, error) {
	layers, errs := files(o)
	layers = append(layers, environment(o.Getenv), flags(o.Overrides, o.Dir))

	// Each layer is checked alone: what a later layer overrides must be right
	// too, or the error would wait for the day the override is gone.
	root := defaults()
	for _, layer := range layers {
		w := walker{c: &Config{}, known: o.Plugins}
		if layer.src != nil && layer.src.project {
			w.project = &ceiling{below: root, global: o.global()}
		}
		errs = append(errs, w.check(layer)...)
		root = merge(root, layer)
	}
	if len(errs) > 0 {
		return Config{}, together(errs)
	}
	c := Config{root: root}
	errs = append(check(root, &c, o.Plugins), prices(&c, root)...)
	errs = append(errs, bodyOfMode(&c, root)...)
	if err := keyStays(root); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return Config{}, together(errs)
	}
	return c, nil
}

// global is the path of the global file, empty without a home.
func (o LoadOptions) global() string {
	if o.Dirs.Config == "" {
		return ""
	}
	return filepath.Join(o.Dirs.Config, "config.json")
}

// files reads the layers that are files, the least wanted first.
func files(o LoadOptions) (layers []node, errs []error) {
	add := func(src *source, err error) {
		if err != nil {
			errs = append(errs, err)
		}
		if src == nil || err != nil {
			return
		}
		root, bad := parse(src)
		errs = append(errs, bad...)
		if len(bad) == 0 {
			layers = append(layers, root)
		}
	}
	if path := o.global(); path != "" {
		add(readSource(path, false))
	}
	switch path := o.File; {
	case path != "":
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		add(readSource(filepath.Clean(path), true))
	case o.Project != nil:
		add(o.Project.source())
	}
	return layers, errs
}

// defaults is the lowest layer.
func defaults() node {
	layer := node{kind: isObject}
	for _, r := range keys() {
		if r.fallback == "" {
			continue
		}
		only, _ := parse(&source{label: byDefault, data: []byte(`{"":` + r.fallback + `}`)})
		if v, ok := only.get(""); ok {
			layer = merge(layer, nest(v, strings.Split(r.key, ".")...))
		}
	}
	return layer
}

// environment is the layer of environment variables. An empty one counts as
// unset, as users of env files expect.
func environment(getenv func(string) string) node {
	layer := node{kind: isObject}
	for _, v := range []struct{ name, key string }{
		{"OPENAI_BASE_URL", "baseURL"},
		{"ALISIO_MODEL", "model"},
		{"ALISIO_API_MODE", "apiMode"},
	} {
		if s := getenv(v.name); s != "" {
			src := &source{label: "environment " + v.name}
			layer = merge(layer, nest(node{kind: isString, src: src, text: s}, "provider", v.key))
		}
	}
	return layer
}

// flags is the layer of flags.
func flags(o Overrides, dir string) node {
	layer := node{kind: isObject}
	given := func(flag string, v node, section, key string) {
		v.src = &source{label: "flag " + flag}
		layer = merge(layer, nest(v, section, key))
	}
	text := func(flag, section, key string, s *string) {
		if s != nil {
			given(flag, node{kind: isString, text: *s}, section, key)
		}
	}
	text("--base-url", "provider", "baseURL", o.BaseURL)
	text("--api-mode", "provider", "apiMode", o.APIMode)
	text("--model", "provider", "model", o.Model)
	text("--mode", "permissions", "mode", o.Mode)
	if o.MaxTurns != nil {
		given("--max-turns", node{kind: isNumber, text: strconv.Itoa(*o.MaxTurns)}, "limits", "maxTurns")
	}
	number := func(flag, key string, s *string) {
		if s != nil {
			given(flag, node{kind: isNumber, text: *s}, "limits", key)
		}
	}
	number("--max-tokens", "maxTokens", o.MaxTokens)
	number("--max-cost", "maxCost", o.MaxCost)
	if o.Timeout != nil {
		given("--timeout", node{kind: isNumber, text: strconv.FormatInt(o.Timeout.Milliseconds(), 10)}, "limits", "timeoutMs")
	}
	if len(o.AddDirs) > 0 {
		src := &source{label: "flag --add-dir", dir: dir}
		all := node{kind: isArray, src: src, adds: true}
		for _, d := range o.AddDirs {
			all.items = append(all.items, node{kind: isString, src: src, text: d})
		}
		layer = merge(layer, nest(all, "additionalDirectories"))
	}
	return layer
}
