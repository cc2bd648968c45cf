package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

var writing = []string{"write_file", "edit_file", "run_process", "shell"}

// The plan agent is offered nothing that changes something, until a person approves
// the plan: from the next turn of the same run on, its session is that of build.
func TestAPlanIsCarriedOutWhenItIsApproved(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		p := newScripts(t, map[string]string{"go": `
			{"calls":[{"name":"write_file","arguments":{"path":"a","content":"x","expectedHash":null}}]},
			{"calls":[{"name":"exit_plan","arguments":{"plan":"one"}}]},
			{"calls":[{"name":"exit_plan","arguments":{"plan":"two"}}]},
			{"calls":[{"name":"exit_plan","arguments":{"plan":"three"}}]},
			{"calls":[{"name":"write_file","arguments":{"path":"a","content":"x","expectedHash":null}}]},
			{"text":"done"}`})
		answers := []plug.Answer{{Decision: plug.Feedback, Reason: "more"}, {Decision: plug.Deny}, {Decision: plug.Once}}
		var asked []plug.Question
		a := engine(t, kind, dir, Options{
			Provider: p, Agent: "plan", Policy: perm.Policy{AllowWrite: true, AllowProcess: true},
			Asker: answering(func(_ context.Context, q plug.Question) (plug.Answer, error) {
				asked = append(asked, q)
				return answers[len(asked)-1], nil
			}),
		})
		out := went(t, a, "", "go", nil)
		requests := p.of("go")
		for i, r := range requests {
			names, approved := offered(r), i >= 4
			for _, name := range writing {
				if slices.Contains(names, name) != approved {
					t.Errorf("turn %d: %s among %v: %v", i+1, name, names, !approved)
				}
			}
			if slices.Contains(names, "exit_plan") == approved || strings.Contains(r.Instructions, "You plan and change nothing") == approved {
				t.Errorf("turn %d has %v", i+1, names)
			}
		}
		if len(requests) != 6 || len(asked) != 3 || a.AgentOf(out.SessionID) != "build" || a.AgentOf("") != "plan" {
			t.Fatalf("%d requests, %d questions, agent %s", len(requests), len(asked), a.AgentOf(out.SessionID))
		}
		for _, tool := range a.Tools(out.SessionID) {
			if tool.Name == "exit_plan" && !strings.HasPrefix(tool.Why, "only while the agent plan, ") {
				t.Errorf("exit_plan is not offered, why: %q", tool.Why)
			}
		}
		for i, want := range []string{"not allowed: ", "feedback", "skipped", "approved", "a: created"} {
			wantPrefix(t, "call", strings.ToLower(resultsOf(t, a, out.SessionID)[i]), want)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "work", "a")); err != nil || string(got) != "x" {
			t.Errorf("the file holds %q, %v", got, err)
		}
		_, types := storedEvents(t, a, out.SessionID)
		if n := len(slices.DeleteFunc(types, func(e plug.EventType) bool { return e != plug.TypePlanDecided })); n != 3 {
			t.Errorf("%d plans decided", n)
		}
	})
}

// Where nobody can be asked, a plan can not be reviewed, and no question is offered.
func TestNobodyReviewsAPlanWithoutASurface(t *testing.T) {
	p := newScripts(t, map[string]string{"go": `
		{"calls":[{"name":"exit_plan","arguments":{"plan":"one"}}]},
		{"calls":[{"name":"ask_user_question","arguments":{"questions":[{"question":"a?","options":[{"label":"x"},{"label":"y"}]}]}}]},
		{"text":"the plan"}`})
	a := engine(t, "sqlite", realPath(t.TempDir()), Options{Provider: p, Agent: "plan"})
	out := went(t, a, "", "go", nil)
	if names := offered(p.of("go")[0]); !slices.Contains(names, "exit_plan") || slices.Contains(names, "ask_user_question") {
		t.Errorf("offered: %v", names)
	}
	results := resultsOf(t, a, out.SessionID)
	wantPrefix(t, "plan", results[0], "unavailable")
	wantPrefix(t, "question", results[1], "unknown tool")
	if a.AgentOf(out.SessionID) != "plan" {
		t.Errorf("the agent is %s", a.AgentOf(out.SessionID))
	}
}

func TestAnUnknownAgentIsAnError(t *testing.T) {
	p := newScripts(t, nil)
	a, err := New(context.Background(), Options{Dir: t.TempDir(), Provider: p, Agent: "plna"})
	if a != nil || llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), `there is no agent "plna"; did you mean "plan"?`) {
		t.Errorf("got %v, %v", a, err)
	}
	b := engine(t, "memory", realPath(t.TempDir()), Options{Provider: p})
	if err := b.SetAgent("", "nobody-knows"); err == nil || !strings.Contains(err.Error(), "the agents are: build, plan") || b.AgentOf("") != "build" {
		t.Errorf("got %v, %s", err, b.AgentOf(""))
	}
}

// What a plugin's agent leaves of tools, model and turns binds the session's own calls.
func TestAPluginsAgentIsAProfile(t *testing.T) {
	p := newScripts(t, map[string]string{"go": `
		{"calls":[{"name":"shell","arguments":{"command":"true"}}]},
		{"calls":[{"name":"list_files","arguments":{}}]},
		{"text":"never"}`})
	a := engine(t, "sqlite", realPath(t.TempDir()), Options{
		Provider: p, Agent: "narrow", Policy: perm.Policy{Mode: perm.ModeFull},
		Plugins: []plug.Plugin{plugged("toy", nil, func(api *plug.API) error {
			_, err := api.AddAgent(plug.Agent{ID: "narrow", Persona: "Be narrow.", Spec: plug.ChildSpec{
				Model: "script/small", MaxTurns: 2, Permission: plug.Permissions{Process: plug.PermissionDeny},
				Tools: plug.ToolFilter{Deny: []string{"edit_*"}},
			}})
			return err
		})},
	})
	out, err := a.Run(context.Background(), "", "go", RunOptions{})
	if err != nil || out.Status != TurnsExceeded || out.Turns != 2 {
		t.Errorf("got %+v, %v", out, err)
	}
	r := p.of("go")[0]
	if names := offered(r); slices.Contains(names, "shell") || slices.Contains(names, "edit_file") || !slices.Contains(names, "write_file") {
		t.Errorf("offered: %v", names)
	}
	if r.Model != "small" || !strings.Contains(r.Instructions, "Be narrow.") {
		t.Errorf("asked %s", r.Model)
	}
	wantPrefix(t, "shell", resultsOf(t, a, out.SessionID)[0], "not allowed: ")
	if m, err := a.SetModel(context.Background(), out.SessionID, "large"); err != nil || m.ID != "large" {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, _, err := a.ModelOf(context.Background(), out.SessionID); err != nil || m.ID != "large" {
		t.Errorf("the person chose, and the agent's model is asked: %+v, %v", m, err)
	}
}
