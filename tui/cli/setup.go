package cli

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"alisio/agent/config"
	"alisio/agent/doctor"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/tui/cli/base"
)

// example is a configuration that says what everybody has to say, and where the
// rest is explained. It holds no secret, and no key has a place in it.
//
//go:embed setup.jsonc
var example []byte

// runSetup writes a configuration to begin with, with what flags say of the
// server in it. One that is there is left alone, a model apart where it names none.
func runSetup(_ context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	dirs, err := config.Home(c.Getenv)
	if err != nil && (!errors.Is(err, config.ErrNoHome) || dirs.Config == "") {
		return base.ExitUsage, err
	}
	// What the flags say is checked before a file is made of it.
	if _, err := config.Load(config.LoadOptions{Dir: dirs.Config, Getenv: func(string) string { return "" }, Overrides: c.overrides}); err != nil {
		return base.ExitUsage, err
	}
	file := filepath.Join(dirs.Config, "config.json")
	given := c.given()
	if _, err := os.Lstat(file); err == nil && len(given) > 0 {
		return c.complete(file, dirs, given)
	} else if err == nil {
		c.Notice("%s is there already and stays as it is; alisio config show prints what is in effect", text.Line(file))
		return base.ExitDone, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return base.ExitFailed, fmt.Errorf("look for %s: %w", text.Line(file), err)
	}
	if err := config.WriteFile(file, example, 0o600); err != nil {
		return base.ExitFailed, err
	}
	for _, v := range given {
		if err := config.Set(file, v.key, v.value); err != nil {
			return base.ExitFailed, err
		}
	}
	return c.Printed("wrote " + text.Line(file) + "\n\nnext:\n" + c.nextSteps())
}

// complete writes the model into a configuration that names none, and refuses what it
// says otherwise.
func (c *call) complete(file string, dirs config.Dirs, given []setting) (int, error) {
	cfg, err := config.Load(config.LoadOptions{Dirs: config.Dirs{Config: dirs.Config}, Dir: dirs.Config, Getenv: func(string) string { return "" }})
	if err != nil {
		return base.ExitUsage, err
	}
	says := make(map[string]string)
	for _, v := range cfg.Values() {
		says[v.Key] = v.JSON
	}
	named := cfg.Provider.Model != ""
	if slices.ContainsFunc(given, func(v setting) bool {
		return says[v.key] != string(v.value) && (named || v.key != modelKey)
	}) {
		return base.ExitFailed, unapplied(file, given)
	}
	if named || c.overrides.Model == nil {
		c.Notice("%s says so already and stays as it is", text.Line(file))
		return base.ExitDone, nil
	}
	for _, v := range given {
		if v.key == modelKey {
			if err := config.Set(file, v.key, v.value); err != nil {
				return base.ExitFailed, err
			}
		}
	}
	return c.Printed("wrote the model into " + text.Line(file) + ", which named none\n")
}

const modelKey = "provider.model"

// setting is a key of the configuration with its value, as JSON.
type setting struct {
	key   string
	value []byte
}

// given are the keys that flags set.
func (c *call) given() []setting {
	var list []setting
	for _, v := range []struct {
		key   string
		value *string
	}{
		{"provider.baseURL", c.overrides.BaseURL},
		{modelKey, c.overrides.Model},
		{"provider.apiMode", c.overrides.APIMode},
	} {
		if v.value == nil {
			continue
		}
		if data, err := json.Marshal(*v.value); err == nil { // of a string there always is one
			list = append(list, setting{v.key, data})
		}
	}
	return list
}

// unapplied refuses to change a configuration that somebody has written, and says
// what to write there.
func unapplied(file string, given []setting) error {
	var lines []string
	for _, v := range given {
		lines = append(lines, text.Line(v.key+": "+string(v.value)))
	}
	return &llm.Error{
		Message: text.Line(file) + " is there already and stays as it is: what the flags say was not written",
		Hint:    "set in it " + strings.Join(lines, ", "),
	}
}

// nextSteps are what is left to do before a first task.
func (c *call) nextSteps() string {
	var steps []string
	switch server, model := c.overrides.BaseURL != nil, c.overrides.Model != nil; {
	case !server && !model:
		steps = append(steps, "name a server and a model there, or with flags: --base-url URL -m NAME")
	case !server:
		steps = append(steps, "name a server there, or with a flag: --base-url URL")
	case !model:
		steps = append(steps, "name a model there, or with a flag: -m NAME")
	}
	key := "export OPENAI_API_KEY=…, or the variable that apiKeyEnv names; a server on\n     this machine needs none"
	if url := c.overrides.BaseURL; url != nil && doctor.OnThisMachine(*url) {
		key = "no key is needed: the server is on this machine, and asked without one"
	}
	steps = append(steps, key,
		"alisio doctor --network shows what is missing, alisio run \"…\" works on a task")
	var b strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s)
	}
	return b.String()
}
