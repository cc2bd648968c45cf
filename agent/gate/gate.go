// Package gate holds the one decision on every call: whether a plan may be
// carried out. It is part of the trusted code.
//
// The order is fixed (spec tools.md, "Effects and the gate"): the session's tools,
// paths against the roots and the approved directories, what --read-only or the
// session's ceiling forbid, protected paths, then flags, mode and grants, then a question
// to the person, which without a person is a no. Nothing that a model, a tool or a
// repository says can change the order or the policy.
//
// Every question of a session tree, those of tools and plugins too, goes through one
// queue, which checks the answers: see Tree.Ask.
package gate

import (
	"context"
	"fmt"
	"slices"

	"alisio/agent/perm"
	"alisio/agent/workspace"
	"alisio/plug"
)

// Gate decides on the calls of one session. It is safe for concurrent use.
type Gate struct {
	policy perm.Policy
	files  *workspace.Workspace
	label  string
	tree   *Tree
}

// Options is what a gate is made from.
type Options struct {
	// Policy is what was allowed beforehand, with the session's ceiling.
	Policy perm.Policy
	Files  *workspace.Workspace
	// Label is the agent path of a child ("general › explore"), empty for a root.
	Label string
	// Tree is that of the root session.
	Tree *Tree
}

// New makes the gate of a session.
func New(o Options) *Gate {
	return &Gate{policy: o.Policy, files: o.Files, label: o.Label, tree: o.Tree}
}

// Offers reports whether any call of a tool with that widest effect could be
// allowed; a tool that can not is not even offered to the model.
func (g *Gate) Offers(tool string, effect plug.Effect) bool {
	return g.policy.Ceiling.Admits(tool) && g.policy.Offers(string(effect), g.tree.asker != nil)
}

// Remedy says what would have a tool be offered that is not; empty: it is offered, or
// nothing would.
func (g *Gate) Remedy(tool string, effect plug.Effect) string {
	if !g.policy.Ceiling.Admits(tool) || g.Offers(tool, effect) {
		return ""
	}
	return g.policy.Remedy(string(effect))
}

// Request is a call that waits for the decision.
type Request struct {
	SessionID string
	CallID    string
	Tool      string
	Plan      plug.Plan
	// Observe is told what was asked and decided; it may be nil.
	Observe func(plug.Payload)
}

// Verdict is the gate's answer.
type Verdict struct {
	Allowed bool
	// Reason tells the model, and the person, why not and what would help.
	Reason string
	// Opened: a directory was approved on the way, so that the plan was made
	// without its files. Prepare it again and decide anew.
	Opened bool
	// Release takes back what was approved for this call alone; call it when
	// the call has ended. It is never nil.
	Release func()
}

// Decide decides on a plan. The error is that of ctx or of the asker; a no is
// no error.
func (g *Gate) Decide(ctx context.Context, r Request) (Verdict, error) {
	r.Plan.Effect = Effect(r.Plan)
	if !g.policy.Ceiling.Admits(r.Tool) {
		g.resolved(r, false, plug.Deny, plug.ByFlag)
		return verdict(false, "this session was started without that tool"), nil
	}
	d, err := g.directories(ctx, r)
	if err != nil || d.Opened || d.Reason != "" {
		return d, err
	}
	v := g.policy.Decide(string(r.Plan.Effect))
	protected := g.protected(r.Plan)
	q := plug.Question{
		Kind: plug.AskCall, SessionID: r.SessionID, CallID: r.CallID, Label: g.label, Tool: r.Tool, Plan: r.Plan,
		Protected: protected, Remedy: g.policy.Remedy(string(r.Plan.Effect)),
	}
	switch {
	case v.Decision == perm.Deny:
		g.resolved(r, false, plug.Deny, by(v))
		return verdict(false, q.Remedy), nil
	case protected != "":
		q.Remedy = fmt.Sprintf("%s is protected: only a person's yes in an interactive session can change it", protected)
	case v.Decision == perm.Allow:
		g.resolved(r, false, plug.Once, by(v))
		return verdict(true, ""), nil
	case g.tree.granted(r.Plan.Key):
		g.resolved(r, false, plug.Session, plug.ByGrant)
		return verdict(true, ""), nil
	}
	a, err := g.ask(ctx, r, q)
	if err == nil && a.Decision == plug.Session && protected == "" {
		g.tree.grant(r.Plan.Key)
	}
	return verdict(err == nil && a.Decision != plug.Deny, reason(a, q)), err
}

// Effect is what a plan does by what stands in it, whatever it calls itself: a
// plan that writes a path is no read, one that runs a program is no write, one
// that contacts a host is external.
func Effect(p plug.Plan) plug.Effect {
	writes := slices.ContainsFunc(p.Paths, func(path plug.PlanPath) bool { return path.Access != plug.AccessRead })
	switch {
	case len(p.Hosts) > 0:
		return plug.EffectExternal
	case (len(p.Argv) > 0 || p.Shell != "") && (p.Effect.Quiet() || p.Effect == plug.EffectWrite):
		return plug.EffectProcess
	case writes && p.Effect.Quiet():
		return plug.EffectWrite
	}
	return p.Effect
}

func verdict(allowed bool, reason string) Verdict {
	return Verdict{Allowed: allowed, Reason: reason, Release: func() {}}
}

// directories asks for each directory outside the roots that the plan touches.
// The verdict has a reason when one was refused, and then nothing counts as opened: a
// no is the end of the call.
func (g *Gate) directories(ctx context.Context, r Request) (v Verdict, err error) {
	v = verdict(false, "")
	defer func() {
		if err != nil || v.Reason != "" {
			v.Opened = false
		}
	}()
	var once []func()
	v.Release = func() {
		for _, revoke := range once {
			revoke()
		}
	}
	for _, p := range planPaths(r.Plan) {
		t, err := g.files.Resolve(p.Path)
		if err != nil {
			v.Reason = err.Error()
			return v, nil
		}
		if t.Inside {
			continue
		}
		q := plug.Question{
			Kind: plug.AskDirectory, SessionID: r.SessionID, CallID: r.CallID, Label: g.label, Tool: r.Tool, Plan: r.Plan,
			Directory: t.Approve,
			Remedy:    fmt.Sprintf("outside the workspace; --add-dir %s opens it", t.Approve),
		}
		a, err := g.ask(ctx, r, q)
		if err != nil || a.Decision == plug.Deny {
			v.Reason = reason(a, q)
			return v, err
		}
		revoke, err := g.files.Approve(t.Approve)
		if err != nil {
			v.Reason = err.Error()
			return v, nil
		}
		if a.Decision == plug.Once {
			once = append(once, revoke)
		}
		v.Opened = true
	}
	return v, nil
}

// planPaths returns the paths of a plan and the directory of its command.
func planPaths(p plug.Plan) []plug.PlanPath {
	if p.Dir == "" {
		return p.Paths
	}
	return append(p.Paths[:len(p.Paths):len(p.Paths)], plug.PlanPath{Path: p.Dir, Access: plug.AccessRead})
}

// protected names the first protected path that the plan writes, and why it is
// one. What can not be resolved counts as protected.
func (g *Gate) protected(p plug.Plan) string {
	for _, path := range p.Paths {
		if path.Access == plug.AccessRead {
			continue
		}
		t, err := g.files.Resolve(path.Path)
		if err != nil {
			return fmt.Sprintf("%s, which can not be resolved (%s),", path.Path, err)
		}
		if why, ok := g.files.Protected(t); ok {
			return fmt.Sprintf("%s (%s)", t.Name, why)
		}
	}
	return ""
}

// ask puts a question to the person, or answers for the missing one.
func (g *Gate) ask(ctx context.Context, r Request, q plug.Question) (plug.Answer, error) {
	asked := g.tree.asker != nil
	if asked && r.Observe != nil {
		r.Observe(plug.ApprovalRequested{ID: r.CallID, Name: r.Tool, Effect: r.Plan.Effect, Label: g.label, Directory: q.Directory})
	}
	a, err := g.tree.Ask(ctx, q)
	if err != nil {
		return plug.Answer{Decision: plug.Deny}, err
	}
	g.resolved(r, asked, a.Decision, a.By)
	return a, nil
}

// Ask implements plug.Asker for what a call or a plugin asks: questions and reviews
// of plans, in the queue of the tree. What a call may do is asked by Decide alone.
func (g *Gate) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	if !isQuestion(q) {
		return plug.Answer{Decision: plug.Deny}, fmt.Errorf("ask: kind %q is no question and no review", q.Kind)
	}
	q.Label = g.label
	return g.tree.Ask(ctx, q)
}

// by says who decided, in the words of events, which know a mode and else flags: so
// does a run that is --read-only, and so do, of a child, the ceiling of its spec and,
// of what needs no permission, its effect.
func by(v perm.Verdict) plug.DecidedBy {
	if v.By == perm.ByMode {
		return plug.ByMode
	}
	return plug.ByFlag
}

// resolved reports a decision: every one on an effect that is not quiet, and every one
// that somebody was asked for (spec events.md, "Per call").
func (g *Gate) resolved(r Request, asked bool, d plug.Decision, by plug.DecidedBy) {
	if r.Observe == nil || (r.Plan.Effect.Quiet() && !asked) {
		return
	}
	r.Observe(plug.ApprovalResolved{ID: r.CallID, Name: r.Tool, Effect: r.Plan.Effect, Decision: d, By: by})
}

// reason is what the model is told after a no.
func reason(a plug.Answer, q plug.Question) string {
	switch {
	case a.Decision != plug.Deny:
		return ""
	case a.Reason != "":
		return a.Reason
	case a.By == plug.ByHeadless:
		return q.Remedy
	}
	return "the person said no"
}
