package config

import "alisio/agent/perm"

// row is one key of the configuration. A "*" in it stands for one name that
// the file chooses.
type row struct {
	key string
	// fallback is the default, as JSON; empty: unset.
	fallback string
	rule
}

// keys is the whole table of known keys (spec config-cli.md, "Keys"). A key
// that is not here is an error.
func keys() []row {
	return []row{
		{"schemaVersion", "1", integer(1, schemaVersion, func(*Config, string, int) {})},

		{"provider.baseURL", `"https://api.openai.com/v1"`, rule{allowed: baseURLAllowed, set: baseURL}},
		{"provider.apiKeyEnv", `"OPENAI_API_KEY"`, variable(func(c *Config, _, s string) { c.Provider.APIKeyEnv = s })},
		{"provider.model", `""`, line(func(c *Config, _, s string) { c.Provider.Model = s })},
		{"provider.apiMode", `"chat"`, oneOf([]string{"chat", "responses"},
			func(c *Config, _, s string) { c.Provider.APIMode = s })},
		{"provider.profile", "", oneOf([]string{"full", "lean"},
			func(c *Config, _, s string) { c.Provider.Profile = s })},
		{"provider.auth", `"bearer"`, oneOf([]string{"bearer", "none"},
			func(c *Config, _, s string) { c.Provider.Auth = s })},
		{"provider.tokenParameter", `"max_tokens"`, oneOf([]string{"max_tokens", "max_completion_tokens", "omit"},
			func(c *Config, _, s string) { c.Provider.TokenParameter = s })},
		{"provider.streamUsage", "true", boolean(func(c *Config, _ string, b bool) { c.Provider.StreamUsage = b })},
		{"provider.contextWindow", "", integer(1, maxWindow,
			func(c *Config, _ string, n int) { c.Provider.ContextWindow = n })},
		{"provider.caFile", "", file(func(c *Config, _, s string) { c.Provider.CAFile = s })},
		{"provider.clientCert", "", file(func(c *Config, _, s string) { c.Provider.ClientCert = s })},
		{"provider.extraBody", "", rule{allowed: bodyAllowed, set: extraBody}},
		{"provider.extraHeaders", "", rule{allowed: headersAllowed, set: extraHeaders}},

		{"models.*.contextWindow", "", integer(1, maxWindow,
			func(c *Config, id string, n int) { c.model(id, func(m *Model) { m.ContextWindow = n }) })},
		{"models.*.maxOutputTokens", "", integer(1, maxWindow,
			func(c *Config, id string, n int) { c.model(id, func(m *Model) { m.MaxOutputTokens = n }) })},
		{"models.*.price.input", "", money(func(p *Price, f float64) { p.Input = f })},
		{"models.*.price.output", "", money(func(p *Price, f float64) { p.Output = f })},
		{"models.*.price.cachedInput", "", money(func(p *Price, f float64) { p.CachedInput = f })},
		{"models.*.effort", "", list(16, "reasoning efforts, lowest first", func(w *walker, id string, all []node) {
			levels := w.effort(all)
			w.c.model(id, func(m *Model) { m.Effort = levels })
		})},

		{"limits.maxTurns", "100", integer(1, 10000,
			func(c *Config, _ string, n int) { c.Limits.MaxTurns = n })},
		{"limits.timeoutMs", "600000", limitMs(func(c *Config, _ string, n int) { c.Limits.TimeoutMs = n })},
		{"limits.firstTokenTimeoutMs", "120000", limitMs(func(c *Config, _ string, n int) { c.Limits.FirstTokenTimeoutMs = n })},
		{"limits.firstTokenRetries", "1", integer(0, 10,
			func(c *Config, _ string, n int) { c.Limits.FirstTokenRetries = n })},
		{"limits.idleTimeoutMs", "120000", limitMs(func(c *Config, _ string, n int) { c.Limits.IdleTimeoutMs = n })},
		{"limits.maxOutputTokens", "", integer(1, maxWindow,
			func(c *Config, _ string, n int) { c.Limits.MaxOutputTokens = n })},
		{"limits.truncationRecoveries", "2", integer(0, 10,
			func(c *Config, _ string, n int) { c.Limits.TruncationRecoveries = n })},
		{"limits.maxTokens", "", integer(1, mostTokens,
			func(c *Config, _ string, n int) { c.Limits.MaxTokens = n })},
		{"limits.maxCost", "", number(0.0001, 100_000,
			func(c *Config, _ string, f float64) { c.Limits.MaxCost = f })},
		{"limits.maxContextChars", "800000", integer(10_000, 10_000_000,
			func(c *Config, _ string, n int) { c.Limits.MaxContextChars = n })},

		{"compaction.auto", "true", boolean(func(c *Config, _ string, on bool) { c.Compaction.Auto = on })},
		{"compaction.threshold", "0.85", number(0.1, 0.99,
			func(c *Config, _ string, f float64) { c.Compaction.Threshold = f })},
		{"compaction.keepTurns", "2", integer(0, 20,
			func(c *Config, _ string, n int) { c.Compaction.KeepTurns = n })},
		{"compaction.maxOutputTokens", "16000", integer(512, maxWindow,
			func(c *Config, _ string, n int) { c.Compaction.MaxOutputTokens = n })},

		{"context.claudeMdFallback", "false", boolean(func(c *Config, _ string, b bool) { c.Context.ClaudeMdFallback = b })},
		{"context.maxBytes", "32768", integer(1024, 1<<20,
			func(c *Config, _ string, n int) { c.Context.MaxBytes = n })},

		{"skills", "[]", directories(func(c *Config) *[]string { return &c.Skills })},
		{"skillOverrides.*.enabled", "", boolean(func(c *Config, id string, on bool) {
			if c.SkillOverrides == nil {
				c.SkillOverrides = map[string]bool{}
			}
			c.SkillOverrides[id] = on
		})},

		{"agents.active", "", line(func(c *Config, _, s string) { c.Agents.Active = s })},
		{"agents.effort", "", line(func(c *Config, _, s string) { c.Agents.Effort = s })},

		{"builtinPlugins.*", "", rule{allowed: "an object: enabled, and what the plugin takes", set: plugin}},
		{"pluginHooks.timeoutMs", "15000", integer(100, 120_000,
			func(c *Config, _ string, n int) { c.PluginHooks.TimeoutMs = n })},
		{"pluginHooks.sessionEndTimeoutMs", "10000", integer(100, 120_000,
			func(c *Config, _ string, n int) { c.PluginHooks.SessionEndTimeoutMs = n })},
		{"pluginHooks.disposeTimeoutMs", "2000", integer(100, 10_000,
			func(c *Config, _ string, n int) { c.PluginHooks.DisposeTimeoutMs = n })},

		{"additionalDirectories", "[]", directories(func(c *Config) *[]string { return &c.AdditionalDirectories })},

		{"permissions.mode", `"ask"`, oneOf(modes(),
			func(c *Config, _, s string) { c.Permissions.Mode = perm.Mode(s) })},
	}
}

// modes are the permission modes, strictest first.
func modes() []string {
	return []string{string(perm.ModeAsk), string(perm.ModeAuto), string(perm.ModeFull)}
}

// projectKeys are what the configuration of a trusted project may set: a closed
// list (spec config-cli.md, "Files and layers"). looser compares a value with
// the one in force without the project; nil: any value is as good.
func projectKeys() []projectRow {
	return []projectRow{
		{key: "schemaVersion"},
		{key: "provider.model"},
		{key: "context.claudeMdFallback"},
		{key: "context.maxBytes"},
		{key: "skills", within: true},
		{key: "skillOverrides.*.enabled"},
		{key: "agents.active"},
		{key: "agents.effort"},
		{key: "limits.maxTurns", looser: larger},
		{key: "limits.timeoutMs", looser: longer},
		{key: "limits.firstTokenTimeoutMs", looser: longer},
		{key: "limits.firstTokenRetries", looser: larger},
		{key: "limits.idleTimeoutMs", looser: longer},
		{key: "limits.maxOutputTokens", looser: larger},
		{key: "limits.truncationRecoveries", looser: larger},
		{key: "limits.maxTokens", looser: larger},
		{key: "limits.maxCost", looser: dearer},
		{key: "limits.maxContextChars", looser: larger},
		{key: "compaction.auto"},
		{key: "compaction.threshold"},
		{key: "compaction.keepTurns"},
		{key: "compaction.maxOutputTokens"},
		{key: "permissions.mode", looser: laxer},
	}
}

// bodyKeys are the members of a request that the client sets itself, or that would
// have a server keep the conversation.
func bodyKeys() []string {
	return []string{"model", "messages", "input", "instructions", "stream", "stream_options", "store", "include",
		"tools", "tool_choice", "previous_response_id", "conversation", "background"}
}

// responsesKeys are those that it sets where provider.apiMode is "responses" alone.
func responsesKeys() []string { return []string{"parallel_tool_calls", "prompt_cache_key"} }

// ownHeaders are headers that the client, the connection or the key decide
// about, in lower case. One that ends in "-" stands for all that start so.
func ownHeaders() []string {
	return []string{"authorization", "proxy-", "cookie", "cookie2", "set-cookie", "host", "content-", "connection", "keep-alive",
		"cache-control", "te", "trailer", "transfer-encoding", "upgrade", "expect", "accept", "accept-", "user-agent", "http2-settings"}
}
