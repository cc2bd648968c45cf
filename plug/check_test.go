package plug

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
)

// checked is what a plugin hands over.
type checked interface{ Check() error }

func TestChecks(t *testing.T) {
	setup := func(context.Context, *API) error { return nil }
	run := func(context.Context, string, string) (string, error) { return "", nil }
	text := func(context.Context, string) (string, error) { return "", nil }
	mascot := func(context.Context, MascotContext) (string, error) { return "", nil }
	screen := func(context.Context, ScreenContext) (string, error) { return "", nil }
	search := func(context.Context, string) ([]SearchHit, error) { return nil, nil }
	facts := func(context.Context) ([]Fact, error) { return nil, nil }
	create := func(context.Context, ProviderSettings) (llm.Provider, error) { return nil, nil }
	spec := func(name string, effect Effect, schema string) ToolSpec {
		return ToolSpec{Name: name, Effect: effect, Schema: json.RawMessage(schema)}
	}
	fields := func(names ...string) CompactionWish {
		w := CompactionWish{Fields: map[string]string{}}
		for _, n := range names {
			w.Fields[n] = ""
		}
		return w
	}
	numbered := make([]string, MaxFields+1)
	for i := range numbered {
		numbered[i] = fmt.Sprint("f", i)
	}
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		what checked
		want string // part of the error; empty: none
	}{
		{Plugin{ID: "a.b-1", APIVersion: 1, Setup: setup}, ""},
		{Plugin{ID: long(64), APIVersion: 1, Setup: setup}, ""},
		{Plugin{ID: long(65), APIVersion: 1, Setup: setup}, "the id"},
		{Plugin{ID: "-a", APIVersion: 1, Setup: setup}, "the id"},
		{Plugin{ID: "Toy", APIVersion: 1, Setup: setup}, "the id"},
		{Plugin{ID: "a", APIVersion: 2, Setup: setup}, "for version 2"},
		{Plugin{ID: "a", APIVersion: 1}, "no Setup"},

		{Panel{}, ""},
		{Panel{Nodes: []PanelNode{{ID: "b", Label: "b", Parent: "a", Status: "waiting", Color: "red"}, {ID: "a", Label: "a", Status: "running"}}}, ""},
		{Panel{Nodes: make([]PanelNode, MaxNodes+1)}, "more than 200 nodes"},
		{Panel{Nodes: []PanelNode{{Label: "a"}}}, "node 1: want an id"},
		{Panel{Nodes: []PanelNode{{ID: long(MaxNodeID + 1), Label: "a"}}}, "node 1: want an id"},
		{Panel{Nodes: []PanelNode{{ID: "a", Label: "a"}, {ID: "a", Label: "b"}}}, "the id is taken"},
		{Panel{Nodes: []PanelNode{{ID: "a", Label: " "}}}, "has no label"},
		{Panel{Nodes: []PanelNode{{ID: "a", Label: "a", Color: "pink"}}}, "unknown color"},
		{Panel{Nodes: []PanelNode{{ID: "a", Label: "a", Status: "ru\x1bn"}}}, `unknown status "ru\x1bn"`},
		{Panel{Nodes: []PanelNode{{ID: "a", Label: "a", Parent: "b"}}}, `no node "b"`},

		{spec("a_1", EffectInternal, " {} "), ""},
		{spec(long(64), EffectExternal, "{}"), ""},
		{spec(long(65), EffectRead, "{}"), "the name"},
		{spec("", EffectRead, "{}"), "the name"},
		{spec("1a", EffectRead, "{}"), "the name"},
		{spec("a-b", EffectRead, "{}"), "the name"},
		{spec("a", "", "{}"), "unknown effect"},
		{spec("a", "ma\x1bgic", "{}"), `unknown effect "ma\x1bgic"`},
		{spec("a", EffectRead, ""), "no JSON object"},
		{spec("a", EffectRead, "null"), "no JSON object"},
		{spec("a", EffectRead, "[]"), "no JSON object"},
		{spec("a", EffectRead, `{"a":"`+long(MaxSchema)+`"}`), "the schema has"},
		{ToolSpec{Name: "a", Effect: EffectRead, Schema: json.RawMessage("{}"), Description: long(MaxDescription + 1)}, "the description has"},

		{SlashCommand{Name: "a-1", Run: run}, ""},
		{SlashCommand{Name: long(41), Run: run}, ""},
		{SlashCommand{Name: long(42), Run: run}, "the name"},
		{SlashCommand{Name: "/a", Run: run}, "the name"},
		{SlashCommand{Name: "a"}, "no Run"},

		{Agent{ID: "1-a", Color: "red", Spec: ChildSpec{Permission: Permissions{Write: PermissionAsk}}}, ""},
		{Agent{ID: "a.b"}, "the name"},
		{Agent{ID: "a", Color: "\x1b[31m"}, `unknown color "\x1b[31m"`},
		{Agent{ID: "a", Spec: ChildSpec{Permission: Permissions{External: "always"}}}, `permission external is "always"`},
		{Permissions{Process: "no"}, `permission process is "no"`},

		{ProviderRegistration{ID: "a", Create: create}, ""},
		{ProviderRegistration{Create: create}, "no id"},
		{ProviderRegistration{ID: "a"}, "no Create"},
		{ContextSource{Name: "a", Text: text}, ""},
		{ContextSource{Name: "a/b", Text: text}, "the name"},
		{ContextSource{Name: "a"}, "no Text"},
		{ResourceDirs{Skills: []string{"", t.TempDir()}}, ""},
		{ResourceDirs{Agents: []string{"x\n"}}, `"x\n" is not absolute`},
		{ResourceDirs{Prompts: make([]string, MaxDirs+1)}, "more than 100"},
		{Observer{Event: func(context.Context, Event) {}}, ""},
		{Observer{}, "no Event"},
		{SessionHooks{OnEnd: func(context.Context, SessionInfo) error { return nil }}, ""},
		{SessionHooks{}, "no hook"},
		{CompactionHooks{Before: func(context.Context, CompactionInput) (CompactionWish, error) { return CompactionWish{}, nil }}, ""},
		{CompactionHooks{}, "no hook"},
		{fields("a", "B_2"), ""},
		{fields(numbered[:MaxFields]...), ""},
		{fields(numbered...), "more than 20"},
		{fields("_a"), "output field"},
		{fields("a b"), "output field"},
		{Mascot{ID: "a", Render: mascot}, ""},
		{Mascot{ID: "a"}, "no Render"},
		{Mascot{Render: mascot}, "the name"},
		{StartupScreen{ID: "a", Render: screen}, ""},
		{StartupScreen{ID: "a"}, "no Render"},
		{WebSearch{ID: "a", Search: search}, ""},
		{WebSearch{ID: "a"}, "no Search"},
		{Facts{ID: "a", List: facts}, ""},
		{Facts{ID: "a"}, "no List"},
	} {
		err := c.what.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T %.100v: got %v, want %q", c.what, c.what, err, c.want)
		}
		if err != nil && (len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x1b\n")) {
			t.Errorf("%T: %q", c.what, err)
		}
	}
}

func TestCheckQuestions(t *testing.T) {
	options := []Option{{Label: "a"}, {Label: "b"}}
	one := Choice{Question: "q?", Options: options}
	for _, c := range []struct {
		all  []Choice
		want string
	}{
		{[]Choice{one}, ""},
		{slices.Repeat([]Choice{one}, MaxQuestions), ""},
		{nil, "want 1 to 4"},
		{slices.Repeat([]Choice{one}, MaxQuestions+1), "want 1 to 4"},
		{[]Choice{one, {Question: " "}}, "question 2 asks nothing"},
		{[]Choice{{Question: "q?", Options: slices.Repeat(options, 11)}}, "more than 20"},
		{[]Choice{{Question: "q?", Options: []Option{{}}}}, "without a label"},
	} {
		err := CheckQuestions(c.all)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.all, err, c.want)
		}
	}
}

func TestCheckState(t *testing.T) {
	for key, ok := range map[string]bool{
		"a": true, "a b/ä": true, strings.Repeat("x", MaxStateKey): true,
		"": false, "a\n": false, "a\xff": false, "a\u202e": false, strings.Repeat("x", MaxStateKey+1): false,
	} {
		if err := CheckStateKey(key); (err == nil) != ok {
			t.Errorf("key %q: got %v", key, err)
		}
	}
	value := `"` + strings.Repeat("x", MaxStateValue-2) + `"`
	for text, ok := range map[string]bool{"1": true, value: true, "{": false, "": false, value + " ": false} {
		if err := CheckStateValue(json.RawMessage(text)); (err == nil) != ok {
			t.Errorf("value %.20q: got %v", text, err)
		}
	}
}

func TestQuiet(t *testing.T) {
	for effect, want := range map[Effect]bool{
		EffectRead: true, EffectInternal: true, EffectWrite: false, EffectProcess: false, EffectExternal: false, "": false, "magic": false,
	} {
		if got := effect.Quiet(); got != want {
			t.Errorf("%q: got %v", effect, got)
		}
	}
}
