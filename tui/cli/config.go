package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/doctor"
	"alisio/agent/text"
	"alisio/tui/cli/base"
)

func configVerbs() []verb {
	return []verb{
		{Name: "show", Args: "[KEY]", Help: "print values and where they come from", Run: runConfigShow},
	}
}

// effective is a value of the configuration as --json prints it.
type effective struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"`
}

// runConfigShow prints every value in effect, or those of a key and of what is
// below it, each with its origin.
func runConfigShow(_ context.Context, c *call) (int, error) {
	key, err := c.AtMostOne("one key")
	if err != nil {
		return base.ExitUsage, err
	}
	o, err := c.options()
	if err != nil {
		return base.ExitUsage, err
	}
	var t text.Table
	shown, hide := 0, agent.Hiding(o)
	for _, v := range o.Config.Values() {
		if key != "" && !within(v.Key, key) {
			continue
		}
		shown++
		v.JSON = hide(v.JSON)
		if c.JSON {
			if err := c.PrintJSON(json.Marshal(effective{Key: v.Key, Value: json.RawMessage(v.JSON), Origin: v.Origin})); err != nil {
				return base.ExitFailed, err
			}
			continue
		}
		t = append(t, []string{text.Line(v.Key), text.Line(v.JSON), text.Line(v.Origin) + unless(o.Config, v.Key)})
	}
	if shown == 0 {
		return base.ExitUsage, unsetKey(key)
	}
	return c.Printed(t.String())
}

// unless says where a limit does not hold that nobody set; empty: it holds.
func unless(c config.Config, key string) string {
	switch {
	case c.Given(key):
		return ""
	case key == "limits.timeoutMs":
		return ", off where you talk"
	case key == "limits.firstTokenTimeoutMs" && doctor.OnThisMachine(c.Provider.BaseURL):
		return ", off: the server is on this machine"
	}
	return ""
}

// within reports whether a dotted key is another, or one below it.
func within(key, of string) bool {
	return key == of || len(key) > len(of) && key[:len(of)] == of && key[len(of)] == '.'
}

// activeAgent is the key that has no default here: the engine chooses.
const activeAgent = "agents.active"

// unsetKey tells why a key has no value: there is no such key, or nobody set it. A
// name that the file chooses may be any.
func unsetKey(key string) error {
	if within(activeAgent, key) {
		return fmt.Errorf("%s is not set: new sessions begin with the agent build; alisio help agents tells more", base.Clipped(key))
	}
	var names []string
	for _, k := range config.Keys() {
		names = append(names, k.Name)
		before, _, chosen := strings.Cut(k.Name, "<id>")
		if within(k.Name, key) || chosen && strings.HasPrefix(key, before) {
			return fmt.Errorf("%s is not set and has no default; alisio help config lists the keys", base.Clipped(key))
		}
	}
	if near, ok := config.Nearest(key, names); ok {
		return fmt.Errorf("unknown key %s, did you mean %q? alisio help config lists them", base.Clipped(key), near)
	}
	return fmt.Errorf("unknown key %s; alisio help config lists them", base.Clipped(key))
}
