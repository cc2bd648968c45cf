package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
	"alisio/tui/cli/sessions"
)

// settings is what flags set; a zero field was not given. What the configuration
// knows too goes through overrides, so that its checks and its order of layers
// hold for flags as well.
type settings struct {
	base.Call
	overrides config.Overrides
	policy    perm.Policy
	task      taskFlags
	sessions  sessions.Flags
	config    string
	agent     string
	effort    string
	disable   []string
	final     bool
	schema    string
	hermetic  bool
	continued bool
	noTUI     bool
	noBanner  bool
	network   bool
	noColor   bool
	keep      bool
	store     bool
	fix       bool
	words     bool
	trust     bool
	version   bool
	help      bool
}

// taskFlags say which session a task goes to, and what goes with it.
type taskFlags struct {
	session       string
	requestID     string
	correlationID string
	images        []string
	// acknowledge: calls of which nobody knows whether they had their effect do
	// not hold the run up.
	acknowledge bool
}

// flag is one row of the table of flags.
type flag = args.Flag[settings]

// taskVerbs are the commands that work on a task with a model; the empty one is
// the program without a command.
func taskVerbs() []string { return []string{"", "run", "resume"} }

// settingVerbs are the commands that read the configuration, and so take what
// flags say over it.
func settingVerbs() []string {
	return append(taskVerbs(), "config show", "context explain", "doctor", "models", "plugins doctor", "plugins list",
		"skills list", "skills validate", "templates list", "templates validate")
}

// storeVerbs are the commands that open the session database.
func storeVerbs() []string {
	list := append(taskVerbs(), "doctor", "plugins doctor")
	for _, v := range sessionVerbs() {
		list = append(list, "sessions "+v.Name)
	}
	return list
}

// flags is the table of flags, sorted by name.
func flags() []flag {
	list := slices.Concat(commonFlags(), taskFlagRows(), sessionFlagRows())
	slices.SortFunc(list, func(a, b flag) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// commonFlags are those of all commands, of all that work on a task, and of
// single ones without much of their own.
func commonFlags() []flag {
	return []flag{
		{Name: "add-dir", In: settingVerbs(), Arg: "DIR", Help: "open one more directory to the tools; may be repeated",
			Set: func(s *settings, v string) error {
				s.overrides.AddDirs = append(s.overrides.AddDirs, v)
				return nil
			}},
		{Name: "agent", Arg: "AGENT", Help: "work as this primary agent, as plan",
			Set: args.Named(func(s *settings) *string { return &s.agent })},
		{Name: "allow-external", Help: "allow calls to the network or of unknown effect",
			Set: args.On(func(s *settings) *bool { return &s.policy.AllowExternal })},
		{Name: "allow-process", Help: "allow running programs",
			Set: args.On(func(s *settings) *bool { return &s.policy.AllowProcess })},
		{Name: "allow-write", Help: "allow changing files of the workspace",
			Set: args.On(func(s *settings) *bool { return &s.policy.AllowWrite })},
		{Name: "api-mode", In: append(settingVerbs(), "setup"), Arg: "MODE", Values: []string{"chat", "responses"}, Help: "the protocol to speak: chat or responses",
			Set: func(s *settings, v string) error { s.overrides.APIMode = &v; return nil }},
		{Name: "base-url", In: append(settingVerbs(), "setup"), Arg: "URL", Help: "the server to ask, as http://127.0.0.1:8080/v1",
			Set: func(s *settings, v string) error { s.overrides.BaseURL = &v; return nil }},
		{Name: "config", In: settingVerbs(), Arg: "FILE", Help: "read this configuration over the global one",
			Set: args.Named(func(s *settings) *string { return &s.config })},
		{Name: "continue", Short: "c", In: []string{""}, Prompt: true, Help: "go on with the last session of this workspace",
			Set: args.On(func(s *settings) *bool { return &s.continued })},
		{Name: "cwd", Arg: "DIR", In: slices.Concat(settingVerbs(), lastVerbs(), []string{"sessions list", "trust revoke"}), Help: "work in this directory",
			Set: args.Named(func(s *settings) *string { return &s.Cwd })},
		{Name: "db", Arg: "FILE", In: storeVerbs(), Help: "use this session database",
			Set: args.Named(func(s *settings) *string { return &s.DB })},
		{Name: "disable-plugin", In: settingVerbs(), Arg: "PLUGIN", Help: "leave a built-in plugin out; may be repeated",
			Set: func(s *settings, v string) error { s.disable = append(s.disable, v); return nil }},
		{Name: "effort", Arg: "LEVEL", Values: efforts(), Help: "reasoning effort, from none to max",
			Set: setEffort},
		{Name: "fix", In: []string{"doctor"}, Help: "with --store: repair what can be, after a backup",
			Set: args.On(func(s *settings) *bool { return &s.fix })},
		{Name: "help", Everywhere: true, Short: "h", Help: "print help",
			Set: args.On(func(s *settings) *bool { return &s.help })},
		{Name: "hermetic", Help: "read no file of person or project but --config",
			Set: args.On(func(s *settings) *bool { return &s.hermetic })},
		{Name: "json", Arg: "final", Inline: true, Values: []string{"final"}, In: jsonVerbs(), Help: "print JSON lines alone; =final: one object at the end",
			Set: setJSON},
		{Name: "keep", In: []string{"demo"}, Help: "keep the demonstration's repository, and say where",
			Set: args.On(func(s *settings) *bool { return &s.keep })},
		{Name: "max-cost", In: settingVerbs(), Arg: "AMOUNT", Help: "the most that a run may cost, by models.<id>.price",
			Set: aNumber(func(s *settings) **string { return &s.overrides.MaxCost })},
		{Name: "max-tokens", In: settingVerbs(), Arg: "N", Help: "the most tokens that a run may take with all below it",
			Set: aNumber(func(s *settings) **string { return &s.overrides.MaxTokens })},
		{Name: "max-turns", In: settingVerbs(), Arg: "N", Help: "stop after so many answers of the model; default: 100",
			Set: setMaxTurns},
		{Name: "mode", In: settingVerbs(), Arg: "MODE", Values: []string{"ask", "auto", "full"}, Help: "permission mode: ask, auto (writes allowed), full",
			Set: func(s *settings, v string) error { s.overrides.Mode = &v; return nil }},
		{Name: "model", Short: "m", In: append(settingVerbs(), "setup"), Arg: "NAME", Help: "the model to ask",
			Set: func(s *settings, v string) error { s.overrides.Model = &v; return nil }},
		{Name: "network", In: []string{"doctor"}, Help: "check the hosts that a run would contact",
			Set: args.On(func(s *settings) *bool { return &s.network })},
		{Name: "no-banner", Help: "begin a conversation without the startup screen",
			Set: args.On(func(s *settings) *bool { return &s.noBanner })},
		{Name: "no-color", Everywhere: true, Help: "print without colour, as NO_COLOR does",
			Set: args.On(func(s *settings) *bool { return &s.noColor })},
		{Name: "no-tui", Help: "talk in lines, not on a screen; a run does neither",
			Set: args.On(func(s *settings) *bool { return &s.noTUI })},
		{Name: "output-schema", Arg: "FILE", Help: "the answer must fit this JSON Schema",
			Set: args.Named(func(s *settings) *string { return &s.schema })},
		{Name: "quiet", Everywhere: true, Help: "print nothing but the answer, or the list, and errors",
			Set: args.On(func(s *settings) *bool { return &s.Quiet })},
		{Name: "read-only", Help: "allow no change of anything, whatever else is said",
			Set: args.On(func(s *settings) *bool { return &s.policy.ReadOnly })},
		{Name: "store", In: []string{"doctor"}, Help: "check the session database",
			Set: args.On(func(s *settings) *bool { return &s.store })},
		{Name: "timeout", In: settingVerbs(), Arg: "TIME", Help: "end a run after so long, as 90s or 1h30m; 0: no limit",
			Set: setTimeout},
		{Name: "trust-project", In: settingVerbs(), Help: "take this repository's own configuration, for now",
			Set: args.On(func(s *settings) *bool { return &s.trust })},
		{Name: "words", In: []string{"completion"}, Help: "for its script: what can stand as the last word",
			Set: args.On(func(s *settings) *bool { return &s.words })},
		{Name: "version", Everywhere: true, Short: "V", Help: "print the version",
			Set: args.On(func(s *settings) *bool { return &s.version })},
	}
}

// jsonVerbs are the commands that print events or lists.
func jsonVerbs() []string {
	return append(taskVerbs(), "config show", "context explain", "demo", "doctor", "models", "plugins doctor", "plugins list",
		"sessions delete", "sessions list", "sessions recover", "sessions search", "sessions show", "skills list", "templates list", "trust list")
}

func setJSON(s *settings, v string) error {
	switch v {
	case "":
		s.JSON = true
	case "final":
		s.JSON, s.final = true, true
	default:
		return fmt.Errorf("found %s, allowed: --json, or --json=final", base.Clipped(v))
	}
	return nil
}

func efforts() []string {
	return agent.Efforts()
}

func setEffort(s *settings, v string) error {
	if !slices.Contains(efforts(), v) {
		return args.Unknown("effort", v, efforts())
	}
	s.effort = v
	return nil
}

func setMaxTurns(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil {
		return fmt.Errorf("found %s, allowed: a whole number from 1 to 10000", base.Clipped(v))
	}
	s.overrides.MaxTurns = &n
	return nil
}

// aNumber makes a setter of a number whose range the configuration knows.
func aNumber(field func(*settings) **string) func(*settings, string) error {
	return func(s *settings, v string) error {
		var n json.Number
		if err := json.Unmarshal([]byte(v), &n); err != nil || string(n) != v {
			return fmt.Errorf("found %s, allowed: a number", base.Clipped(v))
		}
		*field(s) = &v
		return nil
	}
}

// setTimeout takes a time with its unit: a bare number could be seconds, as for others,
// or milliseconds, as in the configuration.
func setTimeout(s *settings, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d != 0 && (d < config.LeastTime || d > config.MostTime) {
		return fmt.Errorf("found %s, allowed: a time with its unit from 100ms to 24h, as 90s, 10m or 1h30m, or 0 for no limit", base.Clipped(v))
	}
	s.overrides.Timeout = &d
	return nil
}
