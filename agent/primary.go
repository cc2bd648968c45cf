package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/config"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// PrimaryAgent is an agent that a person can work with, and the plugin that added
// it; empty: the engine's own.
type PrimaryAgent struct {
	plug.Agent
	Owner string
}

// DefaultAgent is the one that nobody has to choose.
const DefaultAgent = "build"

// ownAgents are the engine's own primary agents (spec commands-tui.md, "Catalog").
func ownAgents() []plug.Agent {
	return []plug.Agent{
		{ID: DefaultAgent, Description: "works on the task, with every permission that was given"},
		{
			ID: "plan", Description: "reads and plans, changes nothing, and asks for a review of the plan", Color: "cyan",
			Persona: planPersona,
			Spec: plug.ChildSpec{ReadOnly: true, Tools: plug.ToolFilter{
				// Named, since it is offered to agents that name it; all else may be used too.
				Allow: []string{"exit_plan", "*"},
			}},
		},
	}
}

const planPersona = `You plan and change nothing: you read, search and think, and no call that changes something is open to you.
- Find out what the task needs before you plan: read the code that it touches. Ask what only the person can decide.
- When the plan stands, call exit_plan with it: what will change and where (file by file), in which order, how it will be checked, what could go wrong.
- If the person approves, you go on in the same session with the permissions that were given, and carry the plan out. If they send it back, plan again.
`

// Agents lists the primary agents, sorted by id.
func (a *App) Agents() []PrimaryAgent {
	var all []PrimaryAgent
	for _, o := range a.host.Agents() {
		all = append(all, PrimaryAgent{o.Value, o.Plugin})
	}
	slices.SortFunc(all, func(x, y PrimaryAgent) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// primary finds a primary agent; an empty id is the one that was chosen for the
// application.
func (a *App) primary(id string) (plug.Agent, error) {
	if id == "" {
		id = a.o.Agent
	}
	if id == "" {
		id = DefaultAgent
	}
	var ids []string
	for _, p := range a.Agents() {
		if p.ID == id {
			return p.Agent, nil
		}
		ids = append(ids, p.ID)
	}
	err := fmt.Errorf("there is no agent %q; the agents are: %s", id, strings.Join(ids, ", "))
	if near, ok := config.Nearest(id, ids); ok {
		err = fmt.Errorf("there is no agent %q; did you mean %q?", id, near)
	}
	return plug.Agent{}, err
}

// AgentOf names the primary agent of a session; an empty id is the next new one.
func (a *App) AgentOf(sessionID string) string {
	agent, err := a.agentOf(a.look(sessionID))
	if err != nil {
		return a.o.Agent
	}
	return agent.ID
}

// SetAgent chooses the primary agent of a session from its next turn on.
func (a *App) SetAgent(sessionID, id string) error {
	if _, err := a.primary(id); err != nil {
		return err
	}
	return a.choosing(sessionID, func(c *conversation) { c.agent = id })
}

// settings are what was chosen in a session.
func (a *App) settings(sessionID string) settings { return a.look(sessionID).chosen() }

// choosing changes what is chosen in a session that is stored, or, without an id, for
// the next new one. What a child works with is its spec's to say.
func (a *App) choosing(sessionID string, do func(c *conversation)) error {
	if sessionID != "" {
		head, err := a.store.Session(context.Background(), sessionID)
		switch {
		case err != nil:
			return session.Caused(err)
		case head.Parent != "":
			return llm.Errorf(llm.CauseBadRequest, "session %s is a child: who started it has chosen what it works with", sessionID)
		}
	}
	c, err := a.conversation(sessionID)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	do(c)
	return nil
}

// decided is told what a person said of a plan: an approved one is carried out by
// the agent that may change something.
func (a *App) decided(c *conversation) func(plug.Review, plug.Answer) {
	return func(_ plug.Review, answer plug.Answer) {
		if answer.Decision != plug.Once {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.agent = DefaultAgent
	}
}
