package agent

import (
	"cmp"
	"context"

	"alisio/agent/account"
	"alisio/agent/perm"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Fill is how full the window of a session is.
type Fill = run.Fill

// Stats is what a session used so far.
type Stats struct {
	Model, Agent string
	// Begins is how many tokens, estimated, each request begins with beside instruction
	// files where requests are kept small, else zero.
	Begins int
	// Fill is how full the window is, zero where that is not known.
	Fill Fill
	Runs int
	// Cut: there are more runs, and the tokens are those of the last ones alone.
	Cut      bool
	Messages int
	Usage    llm.Usage
	// Account is what was spent on what, empty where the store keeps no events in pages.
	Account  account.Account
	Statuses []Status
}

// mostRuns bounds how many runs of a session are counted.
const mostRuns = 1000

// Stats counts what is stored of a session; an empty id is one that has not begun.
func (a *App) Stats(ctx context.Context, sessionID string) (Stats, error) {
	model, _, err := a.ModelOf(ctx, sessionID)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{Model: model.ID, Agent: a.AgentOf(sessionID), Statuses: a.Statuses()}
	s.Begins = a.begins(ctx, sessionID)
	if sessionID == "" {
		return s, nil
	}
	messages, err := a.store.Messages(ctx, sessionID)
	if err != nil {
		return s, session.Caused(err)
	}
	s.Messages = len(messages)
	s.Fill, _ = a.filled(ctx, sessionID)
	if l, ok := a.store.(session.RunList); ok {
		runs, err := l.Runs(ctx, sessionID, mostRuns+1)
		if err != nil {
			return s, session.Caused(err)
		}
		s.Cut = len(runs) > mostRuns
		runs = runs[:min(len(runs), mostRuns)]
		s.Runs = len(runs)
		for _, r := range runs {
			s.Usage = s.Usage.Add(r.Usage)
		}
	}
	if st, ok := a.store.(account.Store); ok {
		s.Account, err = account.Of(ctx, st, sessionID)
	}
	return s, session.Caused(err)
}

// Access is what may happen in a session, each effect "allow", "ask" or "deny".
type Access struct {
	Mode                     string
	ReadOnly                 bool
	Write, Process, External string
	// Remedies are what would allow what is denied, by effect.
	Remedies map[string]string
	// Granted is what a person has allowed while this program runs.
	Granted []string
}

// Access says what may happen in a session; an empty id is the next new one. What would
// be asked for is denied where nobody can be asked.
func (a *App) Access(sessionID string) Access {
	c := a.look(sessionID)
	policy := a.policyOf(c)
	remedies := make(map[string]string)
	decide := func(e plug.Effect) string {
		d := policy.Decide(string(e)).Decision
		if d == perm.Ask && a.o.Asker == nil {
			d = perm.Deny
		}
		if d == perm.Deny {
			remedies[string(e)] = policy.Remedy(string(e))
		}
		return d.String()
	}
	return Access{
		Mode: string(cmp.Or(policy.Mode, perm.ModeAsk)), ReadOnly: policy.ReadOnly,
		Write: decide(plug.EffectWrite), Process: decide(plug.EffectProcess), External: decide(plug.EffectExternal),
		Remedies: remedies,
		Granted:  c.tree.asks.Grants(),
	}
}
