package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"alisio/agent/clock"
	"alisio/agent/gate"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// A call goes through these steps; any of them can answer it, and then only end
// is left:
//
//	begin   known? ─► arguments ─► Prepare ─► tool_started ─► instruct ─► decide ─┐
//	           │          │           │             ▲  opened a  │          │     │
//	           └──────────┴───────────┴─► refuse    └──directory─┼──────────┤     │
//	                             files to read first: back ◄─────┘          │     │
//	end     Execute ◄── allowed ─────────────────────────────────────────────┘◄────┘
//	           └─► files ─► redact ─► bound ─► journal and tool_completed, exactly once
//
// work is a call between its plan and its end. Either answer is set, and
// nothing is executed, or plan stands and was allowed.
type work struct {
	llm.ToolCall
	tool    *tool
	call    plug.Call
	plan    plug.Plan
	planned bool
	notes   []string
	started time.Time
	// took is how long it was executed: the time of a person who thinks is none of it.
	took    clock.Active
	release []func()
	answer  *plug.Result
	denied  bool
	// files are instruction files that go with the result; back: the call goes back
	// to the model, which has not read them.
	files []Instruction
	back  bool
}

// begin takes a call to the point where it may be executed: known, valid,
// planned, allowed. tool_started is emitted when the plan stands, or at once
// when it never will.
func (l *loop) begin(c llm.ToolCall) *work {
	w := &work{ToolCall: c, started: time.Now()}
	t, ok := l.tools[c.Name]
	if !ok {
		l.started(w, l.declared(c.Name))
		return w.refuse("unknown tool %q; the tools are: %s", text.Short(c.Name, 80), strings.Join(l.offeredNames(), ", "))
	}
	w.tool = t
	args, err := w.arguments()
	if err == nil {
		w.call = l.callOf(w, args)
		err = l.prepare(w)
	}
	if err != nil {
		l.started(w, t.spec.Effect)
		return w.refuse("%s", err)
	}
	l.started(w, w.plan.Effect)
	if !quiet(w.plan) {
		l.instruct(w)
	}
	if w.answer == nil {
		l.decide(w)
	}
	if w.answer == nil && quiet(w.plan) {
		l.instruct(w)
	}
	return w
}

// declared is the widest effect of a tool; what is not known counts as external.
func (l *loop) declared(name string) plug.Effect {
	if t, ok := l.tools[name]; ok {
		return t.spec.Effect
	}
	return plug.EffectExternal
}

// started tells that a call has begun. It is held: what is decided about the call
// and the journal's row follow at once, or something that flushes.
func (l *loop) started(w *work, effect plug.Effect) {
	l.hold(plug.ToolStarted{
		ID: w.ID, Name: text.Short(w.Name, 80), Arguments: w.Arguments, Effect: effect, Title: text.OneLine(w.plan.Title, maxTitle),
	})
}

func (w *work) refuse(format string, args ...any) *work {
	r := plug.Error(format, args...)
	w.answer = &r
	return w
}

// arguments repairs what can be repaired without loss and validates the rest.
func (w *work) arguments() (json.RawMessage, error) {
	var broken map[string]string
	if json.Unmarshal([]byte(w.Arguments), &broken) == nil && len(broken) == 1 {
		if raw, ok := broken[brokenKey]; ok {
			if err := checkJSON(raw); err != nil {
				return nil, fmt.Errorf("the arguments are no valid JSON (%w); nothing was run. Send the call again", err)
			}
		}
	}
	fixed, notes := w.tool.schema.Repair([]byte(w.Arguments))
	problems := w.tool.schema.Validate(fixed)
	if len(problems) == 0 {
		w.notes = notes
		return fixed, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the arguments of %s do not fit its schema; nothing was run", w.Name)
	for i, p := range problems {
		if i == 5 {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", p)
	}
	return nil, errors.New(b.String())
}

// prepare asks the tool for its plan. What a tool declares as its widest
// effect, its plans can not exceed.
func (l *loop) prepare(w *work) error {
	err := guard(w.Name, func() (err error) {
		w.plan, err = w.tool.Prepare(l.ctx, &w.call)
		return err
	})
	if err != nil {
		return err
	}
	if w.plan.Effect == "" {
		w.plan.Effect = w.tool.spec.Effect
	}
	w.planned = true
	if !within(w.plan.Effect, w.tool.spec.Effect) {
		return fmt.Errorf("tool %s planned a call of effect %q beyond its declared %q", w.Name, w.plan.Effect, w.tool.spec.Effect)
	}
	return nil
}

// within reports whether a plan's effect is covered by the declared one.
func within(plan, declared plug.Effect) bool {
	return plan == declared || plan == plug.EffectRead
}

// maxOpened is how often a call may lead to further directories. A plan that
// changes its mind each time it is made must not ask, or be answered, for ever.
const maxOpened = 8

// decide asks the gate, and prepares anew when a directory was opened.
func (l *loop) decide(w *work) {
	for opened := 0; ; {
		v, err := l.now.Gate.Decide(l.ctx, gate.Request{
			SessionID: l.in.SessionID, CallID: w.ID, Tool: w.Name, Plan: w.plan, Observe: l.decided,
		})
		if v.Release != nil {
			w.release = append(w.release, v.Release)
		}
		switch {
		case l.ctx.Err() != nil:
			w.refuse("not run: the run was stopped")
			return
		case err != nil:
			w.refuse("not run: %s", err)
			return
		case v.Opened:
			if opened++; opened > maxOpened {
				w.refuse("not run: its plan leads to ever more directories outside the workspace")
				return
			}
			if err := l.prepare(w); err != nil {
				w.refuse("%s", err)
				return
			}
			if !quiet(w.plan) {
				if l.instruct(w); w.answer != nil {
					return
				}
			}
		case !v.Allowed:
			w.denied = true
			w.refuse("not allowed: %s", v.Reason)
			return
		default:
			return
		}
	}
}

// end executes a call that stands and reports its end, exactly once.
func (l *loop) end(w *work) done {
	d := l.perform(w)
	l.journalEnd(w, &d.result) // a failure ends the run
	return d
}

// perform executes a call that stands, and gives back what was approved for it.
func (l *loop) perform(w *work) done {
	defer func() {
		for _, release := range slices.Backward(w.release) {
			release()
		}
	}()
	if w.answer == nil {
		r := session.Storable(l.execute(w))
		w.answer = &r
	}
	r, chars := withFiles(own(*w.answer), w.files)
	if len(w.notes) > 0 {
		note := llm.Part{Type: llm.PartText, Text: "[" + strings.Join(w.notes, "; ") + "]"}
		r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], note)
	}
	limit := resultChars(l.o.Model.ContextWindow)
	return l.bound(done{result: l.redact(r), denied: w.denied, back: w.back, files: min(chars, limit)}, limit)
}

// decided tells what was decided about a call: a question at once, since
// somebody waits for the answer, an answer with what it leads to.
func (l *loop) decided(p plug.Payload) {
	if p.EventType() == plug.TypeApprovalResolved {
		l.hold(p)
		return
	}
	l.emit(p)
}

// journalBegin stores that a call is about to be executed: what has an effect as
// a row of the journal.
func (l *loop) journalBegin(c session.Call) error {
	if c.Effect.Quiet() {
		return l.flush()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.storeHeld(func(ctx context.Context, events []plug.Event, _ []llm.Message) ([]int64, error) {
		return l.o.Store.BeginCall(ctx, c, events...)
	})
}

// journalEnd stores a call's result, with the message that answers the call if it
// is known, and tells of it.
func (l *loop) journalEnd(w *work, r *plug.Result, answer ...llm.Message) error {
	c := l.journal(w)
	c.Done, c.Result, c.Ended = true, *r, time.Now()
	return l.emitBy(plug.ToolCompleted{
		ID: w.ID, Name: text.Short(w.Name, 80), IsError: r.IsError, DurationMs: w.took.Elapsed().Milliseconds(),
		Preview: text.Short(r.PlainText(), previewChars), Summary: r.Summary, Result: r,
	}, func(ctx context.Context, e plug.Event) (int64, error) { return l.o.Store.EndCall(ctx, c, e, answer...) })
}

// journal is the journal's row of a call. Its effect is what the plan does, not
// what it calls itself.
func (l *loop) journal(w *work) session.Call {
	e := l.declared(w.Name)
	if w.planned {
		e = gate.Effect(w.plan)
	}
	return session.Call{
		Session: l.in.SessionID, ID: w.ID, RunID: l.in.RunID, Name: text.Short(w.Name, 80), Effect: e, Started: w.started,
	}
}

// redact takes the secrets out of a result: the model does not need them, and a
// stored key is a lost one.
func (l *loop) redact(r plug.Result) plug.Result {
	secrets := l.o.Secrets
	quoted := slices.Clone(secrets)
	for _, secret := range secrets {
		in, _ := json.Marshal(secret) // A string has no error.
		quoted = append(quoted, string(in[1:len(in)-1]))
	}
	parts := make([]llm.Part, len(r.Parts))
	for i, p := range r.Parts {
		p.Text = llm.Redact(p.Text, secrets...)
		if len(p.Block) > 0 {
			p.Block = json.RawMessage(llm.Redact(string(p.Block), quoted...))
		}
		parts[i] = p
	}
	r.Parts, r.Summary = parts, llm.Redact(r.Summary, secrets...)
	return r
}

func (l *loop) execute(w *work) plug.Result {
	if l.ctx.Err() != nil {
		return plug.Error("not run: the run was stopped")
	}
	// What has an effect is in the journal before it begins; without that it
	// does not begin.
	if err := l.journalBegin(l.journal(w)); err != nil {
		return plug.Error("not run: %s", err)
	}
	p := &progress{id: w.ID, take: llm.NewRedaction(l.o.Secrets...), emit: l.emit}
	w.call.Progress = p.add
	var r plug.Result
	w.took.Start()
	err := guard(w.Name, func() (err error) {
		r, err = w.tool.Execute(l.ctx, &w.call, w.plan)
		return err
	})
	w.took.Pause()
	p.close()
	switch {
	case err == nil:
		return r
	case errors.Is(context.Cause(l.ctx), clock.ErrLimit):
		return plug.Error("stopped: the time of the run was used up while this call was running; it may have done a part of its work")
	case l.ctx.Err() != nil:
		return plug.Error("stopped: the run was cancelled while this call was running; it may have done a part of its work")
	}
	return plug.Error("%s", err)
}

// guard makes a panic of a tool the tool's failure.
func guard(name string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("tool %s: panic: %v", name, p)
		}
	}()
	return do()
}

func (l *loop) offeredNames() []string {
	names := make([]string, len(l.offered))
	for i, t := range l.offered {
		names[i] = t.Name
	}
	return names
}
