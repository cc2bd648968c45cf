package agent

import (
	"context"
	"slices"
	"sync"

	"alisio/agent/gate"
	"alisio/agent/perm"
	"alisio/agent/prefix"
	"alisio/agent/run"
	"alisio/agent/session/child"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// tree is what a root session and all below it share: the queue of questions, the
// grants, and the directories that were approved.
type tree struct {
	root  string
	asks  *gate.Tree
	files *workspace.Workspace
}

// conversation is what the engine holds of a session that was used. Whoever has
// locked the session in the store owns it; mu guards what a person changes between
// runs, and reads.
type conversation struct {
	id, parent string
	tree       *tree
	// label is the agent path of a child, spec what it was started with; ceiling is
	// the most that it may do.
	label   string
	spec    plug.ChildSpec
	ceiling perm.Ceiling
	// files are those of the tree, or of a child with a workspace of its own in dir.
	files *workspace.Workspace
	dir   string
	plans *run.Plans
	last  *prefix.Last
	// over: the child's run has ended. App.mu guards it.
	over bool

	mu sync.Mutex
	// agent, model and effort were chosen in the session; empty: the application's.
	agent, model, effort string
	// texts are the instructions by agent, as they were when it was first used.
	texts map[string]string
	// lean is the window that its requests are made small for, zero for none.
	lean int
	// toldMuch: it was told that they are not small.
	toldMuch bool
	// hasFiles: instruction files are part of them.
	hasFiles bool
	// used: a run was begun; left: its end hooks were called.
	used, left bool
}

// settings are what a person chose for a session.
type settings struct{ agent, model, effort string }

func (c *conversation) chosen() settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return settings{c.agent, c.model, c.effort}
}

// instructed reports whether instruction files are part of what a session's requests
// start with; before the first one, whether they would be.
func (a *App) instructed(c *conversation) bool {
	c.mu.Lock()
	has, known := c.hasFiles, c.hasFiles || len(c.texts) > 0
	c.mu.Unlock()
	if known {
		return has
	}
	context, err := a.contextFiles(c)
	return err == nil && context.Text != ""
}

// conversation finds or makes what the engine holds of a root session. That of the
// empty id is what was chosen for the next new session, which takes it over.
func (a *App) conversation(id string) (*conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, llm.Errorf(llm.CauseInternal, "the application is closed")
	}
	c := a.sessions[id]
	if c == nil {
		t := a.treeOf(id)
		c = &conversation{id: id, dir: a.o.Dir, tree: t, files: t.files, plans: &run.Plans{}, last: &prefix.Last{}, texts: make(map[string]string)}
		a.sessions[id] = c
	}
	return c, nil
}

// look is what the engine holds of a session, a child too, or would hold of one that
// it has not touched; that is kept by nobody.
func (a *App) look(id string) *conversation {
	a.mu.Lock()
	c := a.sessions[id]
	a.mu.Unlock()
	if c != nil {
		return c
	}
	c = &conversation{id: id, dir: a.o.Dir, tree: &tree{root: id, asks: gate.NewTree(a.o.Asker, a.waits)}, files: a.files, texts: make(map[string]string)}
	if head, err := a.store.Session(context.Background(), id); a.children != nil && id != "" && err == nil && head.Parent != "" {
		c.parent = head.Parent
		c.ceiling, _ = a.children.Ceiling(context.Background(), id) // the strictest, when it can not be read
	}
	return c
}

// begun moves what was chosen for the next new session to the one that begins.
func (a *App) begun(id string) error {
	next, err := a.conversation("")
	if err != nil {
		return err
	}
	c, err := a.conversation(id)
	if err != nil {
		return err
	}
	next.mu.Lock()
	agent, model, effort := next.agent, next.model, next.effort
	next.agent, next.model, next.effort = "", "", ""
	next.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent, c.model, c.effort = agent, model, effort
	return nil
}

// treeOf finds or makes the tree of a root; a.mu is held.
func (a *App) treeOf(root string) *tree {
	t := a.trees[root]
	if t == nil {
		t = &tree{root: root, asks: gate.NewTree(a.o.Asker, a.waits), files: a.files.View()}
		a.trees[root] = t
	}
	return t
}

// policyOf is what a session may do, whatever its agent: what the application may, below
// the ceiling of a child.
func (a *App) policyOf(c *conversation) perm.Policy {
	policy := a.o.Policy
	policy.Ceiling = policy.Ceiling.Meet(c.ceiling)
	return policy
}

// gateOf makes the gate of a session for one agent. The agent's own limits are a
// profile: they bind this session's calls and none of its children's.
func (a *App) gateOf(c *conversation, agent plug.Agent) *gate.Gate {
	policy := a.policyOf(c)
	policy.Ceiling = policy.Ceiling.Meet(child.Ceiling(agent.Spec))
	return gate.New(gate.Options{Policy: policy, Files: c.files, Label: c.label, Tree: c.tree.asks})
}

// turnOf says what the turns of a session work with.
func (a *App) turnOf(c *conversation) func(context.Context) (run.Turn, error) {
	return func(ctx context.Context) (run.Turn, error) {
		agent, err := a.agentOf(c)
		if err != nil {
			return run.Turn{}, llm.Errorf(llm.CauseBadRequest, "%w", err)
		}
		g := a.gateOf(c, agent)
		text, err := a.instructions(c, agent, g)
		if err != nil {
			return run.Turn{}, err
		}
		tools := a.toolsFor(c, agent)
		if c.isLean() {
			a.tellMuch(c, begins(text, tools, g))
		}
		skilled := slices.ContainsFunc(tools, func(t plug.Tool) bool {
			s := t.Spec()
			return s.Needs == plug.NeedSkills && g.Offers(s.Name, s.Effect)
		})
		return run.Turn{Agent: agent.ID, Instructions: text, Tools: tools, Gate: g, Context: a.contextOf(ctx, c, skilled)}, nil
	}
}

// agentOf is what the calls of a session are those of: its primary agent, or what a
// child was started with.
func (a *App) agentOf(c *conversation) (plug.Agent, error) {
	if c.parent != "" {
		return plug.Agent{ID: c.spec.Agent, Persona: c.spec.Instructions}, nil
	}
	return a.primary(c.chosen().agent)
}

// toolsFor are the tools of which the parts are there.
func (a *App) toolsFor(c *conversation, agent plug.Agent) []plug.Tool {
	return slices.DeleteFunc(a.host.Tools(), func(t plug.Tool) bool { return a.lacks(c, agent, t.Spec()) != "" })
}

// lacks says what is missing for a tool to be offered at all; empty: nothing.
func (a *App) lacks(c *conversation, agent plug.Agent, s plug.ToolSpec) string {
	if s.Spare && c.isLean() {
		return "left out to keep requests small (provider.profile)"
	}
	switch s.Needs {
	case plug.NeedSkills:
		if !a.hasSkills() {
			return "no skill was found"
		}
	case plug.NeedPerson:
		if a.o.Asker == nil {
			return "nobody can be asked"
		}
	case plug.NeedInstructions:
		if !a.instructed(c) {
			return "no instruction file holds"
		}
	case plug.NeedAgent:
		if !slices.Contains(agent.Spec.Tools.Allow, s.Name) {
			return "only while the agent plan, or another that names it, is active"
		}
	}
	return ""
}

// contextOf is what plugins say to the model now, and the list of skills where a tool
// loads them: empty when there are none any more.
func (a *App) contextOf(ctx context.Context, c *conversation, skilled bool) []run.Injected {
	list := run.Injected{Source: "skills"}
	if skilled {
		list.Text = a.skillList()
	}
	all := []run.Injected{list}
	for _, in := range a.host.Context(ctx, c.id) {
		all = append(all, run.Injected(in))
	}
	return all
}
