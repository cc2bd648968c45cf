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

	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/tui/cli/base"
)

// example is a configuration that says what everybody has to say, and where the
// rest is explained. It holds no secret, and no key has a place in it.
//
//go:embed setup.jsonc
var example []byte

// runSetup writes a configuration to begin with, with what flags say of the
// server in it. One that is there is left alone.
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
	if _, err := os.Lstat(file); err == nil {
		c.Notice("%s is there already and stays as it is; alisio config show prints what is in effect", text.Line(file))
		return base.ExitDone, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return base.ExitFailed, fmt.Errorf("look for %s: %w", text.Line(file), err)
	}
	if err := config.WriteFile(file, example, 0o600); err != nil {
		return base.ExitFailed, err
	}
	for _, v := range []struct {
		key   string
		value *string
	}{
		{"provider.baseURL", c.overrides.BaseURL},
		{"provider.model", c.overrides.Model},
		{"provider.apiMode", c.overrides.APIMode},
	} {
		if v.value == nil {
			continue
		}
		data, err := json.Marshal(*v.value)
		if err == nil {
			err = config.Set(file, v.key, data)
		}
		if err != nil {
			return base.ExitFailed, err
		}
	}
	return c.Printed(fmt.Sprintf(`wrote %s

next:
  1. name a server and a model there, or with flags: --base-url URL -m NAME
  2. export OPENAI_API_KEY=…, or the variable that apiKeyEnv names; a server on
     this machine needs none
  3. alisio doctor --network shows what is missing, alisio run "…" works on a task
`, text.Line(file)))
}
