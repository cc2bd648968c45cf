// Package config reads Alisio's configuration: a strict JSON file with
// comments, the environment and the flags, in that order, each value checked
// and each kept with where it came from.
//
// It refuses what it does not know: an unknown key, a wrong type or a value
// out of range is an error that names file, line, key, what was found and what
// is allowed. It reads no .env file, holds no secret (only the name of the
// variable that does) and contacts nobody.
package config

import (
	"encoding/json"

	"alisio/agent/perm"
)

// Config is the checked configuration (spec config-cli.md, "Keys"). It is not
// changed after Load.
type Config struct {
	Provider Provider
	// Models describes models by id, over what a catalog says.
	Models      map[string]Model
	Limits      Limits
	Compaction  Compaction
	Context     Context
	Permissions Permissions
	PluginHooks PluginHooks
	// Skills are absolute directories; SkillOverrides says which are on, by name.
	Skills         []string
	SkillOverrides map[string]bool
	Agents         Agents
	// AdditionalDirectories are absolute and clean; they need not exist.
	AdditionalDirectories []string

	plugins map[string]Plugin
	// root is what all layers say together; Origin looks into it.
	root node
}

// Provider is the endpoint that a run uses when no profile is active.
type Provider struct {
	// BaseURL is http or https, without credentials, query and trailing slash.
	BaseURL string
	// APIKeyEnv names the environment variable of the key.
	APIKeyEnv string
	// Model is empty when none is chosen.
	Model string
	// APIMode is "chat" or "responses".
	APIMode string
	// Profile is "full" or "lean"; empty: lean for small windows on this machine.
	Profile string
	// Auth is "bearer", or "none" for a server that takes no key.
	Auth string
	// TokenParameter is "max_tokens", "max_completion_tokens" or "omit".
	TokenParameter string
	StreamUsage    bool
	// ContextWindow is in tokens, zero when unset.
	ContextWindow int
	// CAFile and ClientCert are absolute and clean, empty when unset. Nobody has
	// looked at the files yet.
	CAFile     string
	ClientCert string
	// ExtraBody is a JSON object whose members join every request, nil when
	// unset. None of them is one of those that decide what a request means.
	ExtraBody json.RawMessage
	// ExtraHeaders holds, by the names of headers in their canonical form, the
	// names of the environment variables of their values.
	ExtraHeaders map[string]string
}

// Context says which instruction files go to the model.
type Context struct {
	// ClaudeMdFallback takes CLAUDE.md where a directory has no AGENTS.md.
	ClaudeMdFallback bool
	// MaxBytes bounds all instruction files together.
	MaxBytes int
}

// Permissions is what may happen without a question.
type Permissions struct {
	Mode perm.Mode
}

// Agents chooses the primary agent and its reasoning effort; both may be empty.
type Agents struct {
	Active string
	Effort string
}

// PluginHooks bounds what plugins may take, in milliseconds.
type PluginHooks struct {
	// TimeoutMs is for start and compaction hooks.
	TimeoutMs int
	// SessionEndTimeoutMs is for end hooks, DisposeTimeoutMs for taking a plugin down.
	SessionEndTimeoutMs int
	DisposeTimeoutMs    int
}

// Plugin is the configuration of one built-in plugin.
type Plugin struct {
	Enabled bool
	// Options is a JSON object, nil when there is none: everything but
	// "enabled". The plugin checks it.
	Options json.RawMessage
}

// Default returns the configuration of somebody who wrote none.
func Default() Config {
	c := Config{root: defaults()}
	check(c.root, &c, nil)
	return c
}

// Plugin returns the configuration of a built-in plugin; what nobody
// configured is enabled.
func (c Config) Plugin(id string) Plugin {
	if p, ok := c.plugins[id]; ok {
		return p
	}
	return Plugin{Enabled: true}
}

// Given reports whether any layer of Load has a dotted key, be it with the value of
// Default.
func (c Config) Given(key string) bool {
	n, ok := c.root.find(key)
	given := ok && len(n.fields) == 0 && n.src.label != byDefault
	n.leaves("", func(_ string, v node) { given = given || v.src.label != byDefault })
	return given
}
