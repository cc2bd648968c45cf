package plug

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what plugins hand over (spec plugins.md). What is longer is refused where
// a Check says so, and cut elsewhere.
const (
	// MaxDescription and MaxSchema are of a tool, in bytes.
	MaxDescription = 16 << 10
	MaxSchema      = 256 << 10
	// MaxDirs is how many directories one AddResources takes.
	MaxDirs = 100
	// MaxText is of a text that joins a conversation, in characters.
	MaxText = 24_000
	// MaxStateKey and MaxStateValue are of State, in bytes.
	MaxStateKey   = 200
	MaxStateValue = 64 << 10
	// MaxQuestions is how many can be asked at once, MaxOptions of one.
	MaxQuestions = 4
	MaxOptions   = 20
	// MaxFields and MaxFieldName are of a CompactionWish; the latter in bytes.
	MaxFields    = 20
	MaxFieldName = 64
	// MaxNodes is of a Panel, MaxNodeID of the id of a node, in bytes.
	MaxNodes  = 200
	MaxNodeID = 200
)

// Times that a plugin has. The configuration may change DisposeLimit
// (pluginHooks.disposeTimeoutMs).
const (
	SetupLimit   = 10 * time.Second
	DisposeLimit = 2 * time.Second
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// wellFormed reports whether s has 1 to limit characters, the first one of first
// and the others of first or more.
func wellFormed(s, first, more string, limit int) bool {
	return s != "" && len(s) <= limit && strings.Contains(first, s[:1]) && strings.Trim(s, first+more) == ""
}

// part is something that must be there.
func part(there bool, what string) error {
	if there {
		return nil
	}
	return errors.New("it has no " + what)
}

// called checks the id of an agent, a context source or an extension, and that the
// function that it is for is there.
func called(id string, there bool, what string) error {
	if !wellFormed(id, lower+digits, "-", 64) {
		return errors.New("the name: want 1 to 64 of a-z, 0-9 and hyphen, no hyphen first")
	}
	return part(there, what)
}

// Check says what the engine refuses of a plugin.
func (p Plugin) Check() error {
	switch {
	case !wellFormed(p.ID, lower+digits, ".-", 64):
		return errors.New("the id: want 1 to 64 of a-z, 0-9, dot and hyphen, no dot or hyphen first")
	case p.APIVersion != APIVersion:
		return fmt.Errorf("it was written for version %d of the plugin contract, this is version %d", p.APIVersion, APIVersion)
	}
	return part(p.Setup != nil, "Setup")
}

// Check says what the engine refuses of a tool's spec. It looks at the outside of the
// schema alone: the engine compiles it too.
func (s ToolSpec) Check() error {
	switch {
	case !wellFormed(s.Name, lower, digits+"_", 64):
		return errors.New("the name: want 1 to 64 of a-z, 0-9 and _, a letter first")
	case !s.Effect.known():
		return fmt.Errorf("unknown effect %.40q", s.Effect)
	case len(s.Description) > MaxDescription:
		return fmt.Errorf("the description has more than %d bytes", MaxDescription)
	case len(s.Schema) > MaxSchema:
		return fmt.Errorf("the schema has more than %d bytes", MaxSchema)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(s.Schema, &object) != nil || object == nil {
		return errors.New("the schema is no JSON object")
	}
	return nil
}

// Check says what the engine refuses of a command.
func (c SlashCommand) Check() error {
	if !wellFormed(c.Name, lower, digits+"-", 41) {
		return errors.New("the name: want 1 to 41 of a-z, 0-9 and hyphen, a letter first")
	}
	return part(c.Run != nil, "Run")
}

// Colors are the names of a terminal's colours, and the empty one for none.
func Colors() []string {
	return []string{"", "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
}

// Check says what the engine refuses of an agent: what would not be understood as it
// was meant. An unknown permission must not come out as none.
func (a Agent) Check() error {
	if err := called(a.ID, true, ""); err != nil {
		return err
	}
	if !slices.Contains(Colors(), a.Color) {
		return fmt.Errorf("unknown color %.40q", a.Color)
	}
	return a.Spec.Permission.Check()
}

// Check says which of the permissions is none.
func (p Permissions) Check() error {
	for _, of := range []struct {
		effect string
		given  Permission
	}{{"write", p.Write}, {"process", p.Process}, {"external", p.External}} {
		switch of.given {
		case "", PermissionDeny, PermissionAsk, PermissionAllow:
		default:
			return fmt.Errorf("permission %s is %.40q, allowed: allow, ask, deny", of.effect, of.given)
		}
	}
	return nil
}

// Check says what the engine refuses of a provider.
func (p ProviderRegistration) Check() error {
	return cmp.Or(part(p.ID != "", "id"), part(p.Create != nil, "Create"))
}

// Check says what the engine refuses of a context source.
func (c ContextSource) Check() error { return called(c.Name, c.Text != nil, "Text") }

// Check says what the engine refuses of directories.
func (d ResourceDirs) Check() error {
	all := slices.Concat(d.Skills, d.Prompts, d.Agents)
	if len(all) > MaxDirs {
		return fmt.Errorf("more than %d directories", MaxDirs)
	}
	for _, dir := range all {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("%.200q is not absolute", dir)
		}
	}
	return nil
}

// Check says what the engine refuses of an observer.
func (o Observer) Check() error { return part(o.Event != nil, "Event") }

// Check says what the engine refuses of session hooks.
func (s SessionHooks) Check() error { return part(s.OnStart != nil || s.OnEnd != nil, "hook") }

// Check says what the engine refuses of compaction hooks.
func (c CompactionHooks) Check() error { return part(c.Before != nil || c.After != nil, "hook") }

// Check says what the engine refuses of a wish: names that can not be fields of an
// answer.
func (w CompactionWish) Check() error {
	if len(w.Fields) > MaxFields {
		return fmt.Errorf("more than %d output fields", MaxFields)
	}
	for name := range w.Fields {
		if !wellFormed(name, lower+upper, digits+"_", MaxFieldName) {
			return fmt.Errorf("output field %.80q: want 1 to %d letters, digits and _, a letter first", name, MaxFieldName)
		}
	}
	return nil
}

// Check says what the engine refuses of a mascot.
func (m Mascot) Check() error { return called(m.ID, m.Render != nil, "Render") }

// Check says what the engine refuses of a startup screen.
func (s StartupScreen) Check() error { return called(s.ID, s.Render != nil, "Render") }

// Check says what the engine refuses of a web search.
func (w WebSearch) Check() error { return called(w.ID, w.Search != nil, "Search") }

// Check says what the engine refuses of a source of facts.
func (f Facts) Check() error { return called(f.ID, f.List != nil, "List") }

// PanelStatuses are the words of PanelNode.Status, and the empty one for none.
func PanelStatuses() []string {
	return []string{
		"", "waiting", string(ChildQueued), string(ChildRunning), string(ChildCompleted), string(ChildFailed),
		string(ChildCancelled), string(ChildInterrupted),
	}
}

// Check says what the engine leaves out of a panel, or can show nothing of. The engine
// refuses no panel: what is wrong is missing on the screen. Nodes that are each other's
// parents, which it puts at the top, are not looked for.
func (p Panel) Check() error {
	if len(p.Nodes) > MaxNodes {
		return fmt.Errorf("more than %d nodes", MaxNodes)
	}
	known := make(map[string]bool)
	for i, n := range p.Nodes {
		switch {
		case n.ID == "" || len(n.ID) > MaxNodeID:
			return fmt.Errorf("node %d: want an id of 1 to %d bytes", i+1, MaxNodeID)
		case known[n.ID]:
			return fmt.Errorf("node %.80q: the id is taken", n.ID)
		case strings.TrimSpace(n.Label) == "":
			return fmt.Errorf("node %.80q has no label", n.ID)
		case !slices.Contains(Colors(), n.Color):
			return fmt.Errorf("node %.80q: unknown color %.40q", n.ID, n.Color)
		case !slices.Contains(PanelStatuses(), n.Status):
			return fmt.Errorf("node %.80q: unknown status %.40q", n.ID, n.Status)
		}
		known[n.ID] = true
	}
	for _, n := range p.Nodes {
		if n.Parent != "" && !known[n.Parent] {
			return fmt.Errorf("node %.80q: there is no node %.80q, its parent", n.ID, n.Parent)
		}
	}
	return nil
}

// CheckQuestions says what the engine refuses of what UI.AskQuestions asks.
func CheckQuestions(all []Choice) error {
	if len(all) == 0 || len(all) > MaxQuestions {
		return fmt.Errorf("want 1 to %d questions", MaxQuestions)
	}
	for i, q := range all {
		switch {
		case strings.TrimSpace(q.Question) == "":
			return fmt.Errorf("question %d asks nothing", i+1)
		case len(q.Options) > MaxOptions:
			return fmt.Errorf("question %d has more than %d options", i+1, MaxOptions)
		case slices.ContainsFunc(q.Options, func(o Option) bool { return strings.TrimSpace(o.Label) == "" }):
			return fmt.Errorf("question %d has an option without a label", i+1)
		}
	}
	return nil
}

// CheckStateKey says what the engine refuses of a key of State.
func CheckStateKey(key string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if key == "" || len(key) > MaxStateKey || !utf8.ValidString(key) || strings.ContainsFunc(key, hidden) {
		return fmt.Errorf("key %.80q: want 1 to %d bytes of plain text", key, MaxStateKey)
	}
	return nil
}

// CheckStateValue says what the engine refuses of a value of State.
func CheckStateValue(value json.RawMessage) error {
	if len(value) > MaxStateValue {
		return fmt.Errorf("a value of %d bytes: at most %d", len(value), MaxStateValue)
	}
	if !json.Valid(value) {
		return errors.New("the value is no JSON")
	}
	return nil
}
