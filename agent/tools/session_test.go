package tools

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"alisio/llm/schema"
	"alisio/plug"
)

// talk is a session for the tools to work on: its resources, its state, and a
// person.
type talk struct {
	*bench
	skills []plug.Skill
	query  string // that was searched for last
	state  map[string]string
	answer func(plug.Question) (plug.Answer, error)
	asked  []plug.Question
	none   bool // nothing but the arguments
}

func newTalk(t *testing.T) *talk {
	return &talk{bench: newBench(t), state: map[string]string{}}
}

func (k *talk) call(id string, a args) *plug.Call {
	c := k.bench.call(a)
	c.SessionID, c.CallID = "s", id
	if k.none {
		return c
	}
	c.Resources = &plug.Resources{
		Search: func(_ context.Context, query string) ([]plug.Skill, error) {
			k.query = query
			return k.skills, nil
		},
		Load: func(_ context.Context, name string) (plug.SkillBody, error) {
			if name != "one" {
				return plug.SkillBody{}, errors.New("there is no skill " + name)
			}
			return plug.SkillBody{Skill: plug.Skill{Name: "one"}, Dir: "/s/\"one\x1b[2J", Body: "do\x1b[31m it\n", Files: []string{"a.md", "b\nc"}, More: true}, nil
		},
		File: func(_ context.Context, name, path string) (string, error) {
			if path == "empty" {
				return "", nil
			}
			return name + " " + path + "\x1b[31m\n", nil
		},
		Explain: func(_ context.Context, path string) (string, error) {
			if path == "/outside" {
				return "", errors.New("outside")
			}
			return "for " + path + "\n", nil
		},
	}
	c.State = plug.State{
		Get: func(_ context.Context, key string) (json.RawMessage, error) {
			if k.state[key] == "" {
				return nil, nil
			}
			return json.RawMessage(k.state[key]), nil
		},
		Set: func(_ context.Context, key string, v json.RawMessage) error {
			k.state[key] = string(v)
			return nil
		},
	}
	c.Ask = func(_ context.Context, q plug.Question) (plug.Answer, error) {
		k.asked = append(k.asked, q)
		return k.answer(q)
	}
	return c
}

// do prepares and executes a call whose plan must be harmless.
func (k *talk) do(tool plug.Tool, id string, a args) (plug.Result, error) {
	k.t.Helper()
	c := k.call(id, a)
	p, err := tool.Prepare(k.t.Context(), c)
	if err != nil {
		return plug.Result{}, err
	}
	if p.Effect != tool.Spec().Effect || p.Title == "" || len(p.Paths)+len(p.Argv)+len(p.Hosts) > 0 || p.Key != "" {
		k.t.Errorf("%s: plan %+v", tool.Spec().Name, p)
	}
	r, err := tool.Execute(k.t.Context(), c, p)
	if n := len([]rune(r.Summary)); err == nil && (n == 0 || n > 60) {
		k.t.Errorf("summary %q", r.Summary)
	}
	if strings.ContainsAny(r.PlainText(), "\x1b\x00\u202e") {
		k.t.Errorf("%s: result is not plain: %q", tool.Spec().Name, r.PlainText())
	}
	return r, err
}

func TestSessionSpecs(t *testing.T) {
	want := map[string]plug.Effect{
		"skill_load": plug.EffectRead, "skill_search": plug.EffectRead, "skill_resource": plug.EffectRead, "context_explain": plug.EffectRead,
		"ask_user_question": plug.EffectRead, "exit_plan": plug.EffectRead, "todo_write": plug.EffectInternal,
	}
	samples := map[string]string{
		"skill_load": `{"name":"x"}`, "skill_search": `{"query":"x"}`, "skill_resource": `{"name":"x","path":"y"}`, "context_explain": `{"path":"x"}`,
		"ask_user_question": `{"questions":[{"header":"h","question":"q","options":[{"label":"a","description":"d"},{"label":"b"}],"multiple":true}]}`,
		"exit_plan":         `{"plan":"p","title":"t"}`, "todo_write": `{"items":[{"content":"c","status":"pending"}]}`,
	}
	size := 0
	name := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	for _, tool := range Session() {
		s := tool.Spec()
		size += len(s.Name) + len(s.Description) + len(s.Schema)
		if !name.MatchString(s.Name) || s.Effect != want[s.Name] || s.Polling || s.Concurrent || s.Description == "" {
			t.Errorf("%+v", s)
		}
		if slices.ContainsFunc(All(), func(o plug.Tool) bool { return o.Spec().Name == s.Name }) {
			t.Errorf("%s is offered already", s.Name)
		}
		compiled, err := schema.Compile(s.Schema)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if bad := compiled.Validate(json.RawMessage(samples[s.Name])); bad != nil {
			t.Errorf("%s: %v", s.Name, bad)
		}
		delete(want, s.Name)
	}
	if len(want) != 0 || size > 3000 {
		t.Errorf("missing %v; %d bytes, want at most 3000", want, size)
	}
	t.Logf("%d bytes", size)
}

func TestSkillLoad(t *testing.T) {
	k := newTalk(t)
	r, err := k.do(skillLoad{}, "c", args{"name": "one"})
	want := "<skill name=\"one\" directory=\"/s/'one\">\ndo it\n</skill>\nIts files, which skill_resource reads and paths in the text mean:\n- a.md\n- b c\n(there are others)"
	if err != nil || r.PlainText() != want || r.Summary != "1 line" {
		t.Errorf("got %q, %q, %v", r.PlainText(), r.Summary, err)
	}
	if _, err := k.do(skillLoad{}, "c", args{"name": "no"}); err == nil || err.Error() != "there is no skill no" {
		t.Errorf("got %v", err)
	}
	if _, err := k.do(skillLoad{}, "c", args{"name": " "}); err == nil {
		t.Error("an empty name was taken")
	}
}

func TestSkillSearch(t *testing.T) {
	k := newTalk(t)
	k.skills = []plug.Skill{{Name: "pdf", Description: "read"}, {Name: "docs", Description: "write a PDF\x1b[2J\nfile"}}
	r, err := k.do(skillSearch{}, "c", args{"query": "PDF read"})
	if err != nil || r.PlainText() != "load one with skill_load:\n- pdf: read\n- docs: write a PDF file" || r.Summary != "2 matches" || k.query != "PDF read" {
		t.Errorf("%q: got %q, %q, %v", k.query, r.PlainText(), r.Summary, err)
	}
	k.skills = nil
	if r, err := k.do(skillSearch{}, "c", args{"query": "zzz"}); err != nil || r.PlainText() != "no skill matches; other words may, or none is needed" {
		t.Errorf("got %q, %v", r.PlainText(), err)
	}
	for range 30 {
		k.skills = append(k.skills, plug.Skill{Name: "n" + strings.Repeat("x", len(k.skills)), Description: strings.Repeat("many ", 1000)})
	}
	r, err = k.do(skillSearch{}, "c", args{"query": "many"})
	if err != nil || !strings.HasSuffix(r.PlainText(), "\n(10 more match: further words find fewer)") || len(r.PlainText()) > maxOutput {
		t.Errorf("got %d bytes, %v", len(r.PlainText()), err)
	}
}

func TestSkillResourceAndExplain(t *testing.T) {
	k := newTalk(t)
	for _, c := range []struct {
		tool          plug.Tool
		a             args
		want, summary string
	}{
		{skillResource{}, args{"name": "one", "path": "a.md"}, "one a.md\n", "1 line"},
		{skillResource{}, args{"name": "one", "path": "empty"}, "(the file is empty)", "empty"},
		{contextExplain{}, args{"path": "a/b"}, "for a/b\n", "1 line"},
	} {
		if r, err := k.do(c.tool, "c", c.a); err != nil || r.PlainText() != c.want || r.Summary != c.summary {
			t.Errorf("%v: got %q, %q, %v", c.a, r.PlainText(), r.Summary, err)
		}
	}
	if _, err := k.do(contextExplain{}, "c", args{"path": "/outside"}); err == nil {
		t.Error("no error")
	}
	if _, err := k.do(skillResource{}, "c", args{"name": "", "path": ""}); err == nil {
		t.Error("empty arguments were taken")
	}
}

// A session may have none of it.
func TestWithoutResources(t *testing.T) {
	k := newTalk(t)
	k.none = true
	for _, c := range []struct {
		tool plug.Tool
		a    args
		want error
	}{
		{skillLoad{}, args{"name": "one"}, errNoSkills}, {skillSearch{}, args{"query": "one"}, errNoSkills},
		{skillResource{}, args{"name": "one", "path": "x"}, errNoSkills}, {contextExplain{}, args{"path": "x"}, errNoFiles},
	} {
		if _, err := k.do(c.tool, "c", c.a); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", c.tool.Spec().Name, err)
		}
	}
}

func TestBadArguments(t *testing.T) {
	k := newTalk(t)
	for _, tool := range Session() {
		c := k.call("c", nil)
		c.Args = json.RawMessage(`[1]`)
		if _, err := tool.Prepare(t.Context(), c); err == nil {
			t.Errorf("%s: prepared", tool.Spec().Name)
		}
		if _, err := tool.Execute(t.Context(), c, plug.Plan{}); err == nil {
			t.Errorf("%s: executed", tool.Spec().Name)
		}
	}
}
