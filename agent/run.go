package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"alisio/agent/clock"
	"alisio/agent/config"
	"alisio/agent/output"
	"alisio/agent/ports"
	"alisio/agent/profile"
	"alisio/agent/request"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// RunOptions shape one run.
type RunOptions struct {
	// RunID is preassigned by the embedder; empty makes a random one.
	RunID         string
	CorrelationID string
	// RequestID makes the run happen once, in its session or, for a new session,
	// in the workspace: see Run.
	RequestID   string
	Attachments []llm.Attachment
	// Display is what the person typed, where the prompt says more: a template's
	// name. It is what people are shown.
	Display string
	// MaxOutputTokens caps each answer; zero leaves it to the configuration.
	MaxOutputTokens int
	// OutputSchema is a JSON Schema that the final answer has to fit; the Text of a
	// completed run is then the JSON alone. Nil: any text. The deltas are what the
	// model says, a fence and an answer that it is asked to repair included.
	OutputSchema json.RawMessage
	// AcknowledgeUncertain: the person knows that it is not known whether calls
	// of the session took effect, and wants to go on.
	AcknowledgeUncertain bool
	// OnBegin is called once before the first event of a run that is about to ask
	// a model, not for one that is shown again. It may be nil.
	OnBegin func()
	// OnEvent is called in line with every event of the run. The answers of a run
	// that is shown again come as text deltas with Seq 0.
	OnEvent func(plug.Event)
}

// Run works on one prompt in a session and returns when the run has ended. An
// empty id starts a new session. The error tells that no run was started.
//
// With a request id, a run that has it already is not repeated: one that ended
// is shown again from the store, one that a dead process left is taken to its
// end, and one that somebody works on is waited for, for a short while, and then
// refused.
func (a *App) Run(ctx context.Context, sessionID, prompt string, o RunOptions) (Outcome, error) {
	if strings.TrimSpace(prompt) == "" && len(o.Attachments) == 0 {
		return Outcome{}, llm.Errorf(llm.CauseBadRequest, "the prompt is empty")
	}
	form, err := a.form(o.OutputSchema)
	if err != nil {
		return Outcome{}, err
	}
	in := run.Input{
		SessionID: sessionID, RunID: o.RunID, CorrelationID: o.CorrelationID, RequestID: o.RequestID,
		Acknowledge: o.AcknowledgeUncertain, Prompt: prompt, Display: o.Display,
		Attachments: o.Attachments, Output: form, MaxOutputTokens: o.MaxOutputTokens, OnEvent: o.OnEvent,
	}
	out, err := a.requests().Once(ctx, in, func(in run.Input) (request.Outcome, error) { return a.attempt(ctx, in, o.OnBegin) })
	return Outcome(out), err
}

func (a *App) requests() request.Book {
	return request.Book{Store: a.store, Workspace: a.root, Log: a.o.Log}
}

// form reads the schema of an answer, and says what of it is not checked.
func (a *App) form(raw json.RawMessage) (*output.Schema, error) {
	form, err := output.New(raw)
	if places := form.Unchecked(); len(places) > 0 {
		a.o.Log.Warn("the output schema says more than is checked: " + strings.Join(places, ", "))
	}
	return form, err
}

// attempt locks the session and runs in it.
func (a *App) attempt(ctx context.Context, in run.Input, onBegin func()) (out request.Outcome, err error) {
	choice, err := a.modelFor(ctx, in.SessionID, "")
	if err != nil {
		return out, err
	}
	if in.SessionID == "" {
		in.SessionID = NewID()
		in.Fresh = a.fresh(in.SessionID, cmp.Or(in.Display, in.Prompt), choice)
		if err := a.begun(in.SessionID); err != nil {
			return out, err
		}
	}
	unlock, head, err := a.lock(ctx, in.SessionID, in.Fresh)
	if err != nil {
		return out, err
	}
	defer unlock()
	if in.Fresh == nil {
		if err := a.sameServer(ctx, head, choice); err != nil {
			return out, err
		}
		a.tellInterrupted(ctx, in.SessionID)
	}
	stands, err := a.requests().Stands(ctx, in.SessionID, in.Continues)
	if err != nil {
		return out, err
	}
	if stands {
		in.Prompt, in.Display, in.Attachments = "", "", nil
	}
	if onBegin != nil {
		onBegin()
	}
	done, err := a.enter(ctx, head, choice, in)
	if err != nil {
		return out, err
	}
	return request.Outcome{Outcome: done, SessionID: in.SessionID}, nil
}

// enter runs in a session that is locked: a root, or a child, which is bound by its
// ancestors whoever talks to it.
func (a *App) enter(ctx context.Context, head session.Session, choice profile.Choice, in run.Input) (run.Outcome, error) {
	if head.Parent != "" {
		return a.childRun(ctx, head, in)
	}
	c, err := a.conversation(in.SessionID)
	if err != nil {
		return run.Outcome{}, err
	}
	return a.do(ctx, c, choice, in)
}

// do works on an input. What can stop it stops all that runs below the session; its
// clock stands still while a person is waited for there.
func (a *App) do(ctx context.Context, c *conversation, choice profile.Choice, in run.Input) (run.Outcome, error) {
	if c.parent == "" { // who runs below a session has its skills
		a.findSkills(ctx)
	}
	c.mu.Lock()
	c.used, c.left = true, false
	c.mu.Unlock()
	var active clock.Active
	if a.children != nil {
		var end func()
		ctx, end = a.children.Running(ctx, c.id)
		defer end()
	}
	defer a.waits.Bind(c.id, c.parent, &active)()
	active.Start()
	surface := in.OnEvent
	in.OnEvent = func(e plug.Event) {
		if surface != nil {
			surface(e)
		}
		a.host.Publish(e)
	}
	o := a.runOptions(c, choice, &active)
	book, closeBook := a.budget(ctx, c, in.Continues)
	defer closeBook()
	o.Ledger = book
	return run.Do(ctx, o, in)
}

// runOptions are what the runs of a session work with.
func (a *App) runOptions(c *conversation, choice profile.Choice, active *clock.Active) run.Options {
	c.fitTo(a.lean(choice))
	limits := limitsOf(a.o.Config, choice.Local)
	spec := c.spec
	if agent, err := a.agentOf(c); err == nil && c.parent == "" {
		spec = agent.Spec
	}
	if n := spec.MaxTurns; n > 0 && (limits.MaxTurns == 0 || n < limits.MaxTurns) {
		limits.MaxTurns = n
	}
	if d := spec.Timeout(); d > 0 && (limits.Timeout == 0 || d < limits.Timeout) {
		limits.Timeout, limits.TimeoutGiven = d, true
	}
	return run.Options{
		Provider: choice.Provider, Model: choice.Model, Effort: a.effortOf(c.chosen()), Turn: a.turnOf(c),
		Start: a.starts(c), Nested: a.nested(c), Call: a.callParts(c), Plans: c.plans, Last: c.last, Decided: a.decided(c),
		Secrets: choice.Secrets, Store: a.store, Keep: a.Blobs().Keeper(), Alive: a.outside.Alive,
		Files: ports.Files(c.files, a.Blobs().Opener(c.id), choice.Secrets),
		Exec:  ports.Exec(c.files, choice.Secrets, a.o.Hermetic), Limits: limits,
		Compaction: a.compaction(c), Clock: active, Server: choice.Host,
	}
}

// limitsOf are the limits of runs that ask a server, which is on this machine or not.
func limitsOf(c config.Config, local bool) run.Limits {
	l := c.Limits
	output, ceiling := l.MaxOutputTokens, 0
	if c.OfProject("limits.maxOutputTokens") { // a project lowers what holds without it
		output, ceiling = 0, output
	}
	return run.Limits{MaxTurns: l.MaxTurns, MaxOutputTokens: output, OutputCeiling: ceiling, Timeout: time.Duration(l.TimeoutMs) * time.Millisecond,
		FirstToken: c.FirstToken(local), FirstTokenRetries: l.FirstTokenRetries,
		Idle: time.Duration(l.IdleTimeoutMs) * time.Millisecond, TruncationRecoveries: l.TruncationRecoveries, MaxContextChars: l.MaxContextChars}
}

// starts calls the start hooks of a session (run.Options.Start).
func (a *App) starts(c *conversation) func(context.Context) ([]run.Injected, []run.HookFailure) {
	return func(ctx context.Context) (texts []run.Injected, failures []run.HookFailure) {
		said, failed := a.host.Start(ctx, a.info(ctx, c))
		for _, in := range said {
			texts = append(texts, run.Injected(in))
		}
		return texts, hookFailures(failed)
	}
}

func (a *App) fresh(id, prompt string, choice profile.Choice) *session.Session {
	now := time.Now()
	return &session.Session{
		ID: id, Workspace: a.root, Provider: a.server(choice), Model: choice.Model.ID,
		Title: title(prompt), Created: now, Updated: now,
	}
}

// lock takes a session and returns its head; one that is not fresh must exist.
func (a *App) lock(ctx context.Context, id string, fresh *session.Session) (unlock func(), head session.Session, err error) {
	if fresh != nil {
		head = *fresh
	} else if head, err = a.store.Session(ctx, id); err != nil {
		return nil, head, session.Caused(err)
	}
	unlock, err = a.locks.Run(ctx, id)
	var busy *session.BusyError
	switch {
	case errors.As(err, &busy) && !busy.Doubtful:
		return nil, head, llm.Errorf(llm.CauseStore, "%w", err).WithHint(BusyHint)
	case err != nil: // how to go on beside who is in doubt, the surface says
		return nil, head, session.Caused(err)
	}
	return unlock, head, nil
}

// server is the provider as sessions keep it: its id and where it is, without the
// key that an address can hold.
func (a *App) server(c profile.Choice) string {
	if a.o.Provider != nil {
		return c.Provider.ID()
	}
	return c.Provider.ID() + ":" + llm.Redact(a.o.Config.Provider.BaseURL, c.Secrets...)
}

// sameServer sees to it that what was said to one server does not go to another
// unnoticed: never to the one that nobody has named, and else with a word.
func (a *App) sameServer(ctx context.Context, head session.Session, c profile.Choice) error {
	_, was, known := strings.Cut(head.Provider, ":")
	now := llm.Redact(a.o.Config.Provider.BaseURL, c.Secrets...)
	if !known || a.o.Provider != nil || was == now {
		return nil
	}
	was = llm.Redact(was, c.Secrets...) // as earlier versions kept it
	if now == config.Default().Provider.BaseURL && !a.o.NamedServer {
		return llm.Errorf(llm.CauseBadRequest, "session %s was with the server at %s, and no server is named for this run", head.ID, was).
			WithHint("name it with --base-url or in the configuration: what was said there would go to " + now)
	}
	a.o.Log.Warn("the session was with the server at " + was + "; all of it goes to " + now + " now")
	return a.storeModel(ctx, head.ID, c)
}

// tellInterrupted says that the last run of a session has no end.
func (a *App) tellInterrupted(ctx context.Context, id string) {
	l, ok := a.store.(session.RunList)
	if !ok {
		return
	}
	if runs, err := l.Runs(ctx, id, 1); err == nil && len(runs) == 1 && runs[0].Status == session.RunInterrupted {
		a.o.Log.Warn("the last run of this session was interrupted; all that it had stored is kept")
	}
}

// Recover answers what a dead process left open in a session. The calls of
// which nobody knows whether they took effect are returned; they are recorded as
// such only with acknowledge, and until then the session does not run.
func (a *App) Recover(ctx context.Context, sessionID string, acknowledge bool) ([]session.Call, error) {
	unlock, _, err := a.lock(ctx, sessionID, nil)
	if err != nil {
		return nil, err
	}
	defer unlock()
	messages, err := a.store.Messages(ctx, sessionID)
	if err != nil {
		return nil, session.Caused(err)
	}
	r := session.Recovery{Effect: a.effectOf, Alive: a.outside.Alive}
	_, err = session.Reconcile(context.WithoutCancel(ctx), a.store, sessionID, messages, r)
	var uncertain *session.UncertainError
	switch {
	case !errors.As(err, &uncertain):
		return nil, session.Caused(err)
	case !acknowledge:
		return uncertain.Calls, nil
	}
	r.Acknowledge = true
	_, err = session.Reconcile(context.WithoutCancel(ctx), a.store, sessionID, messages, r)
	return uncertain.Calls, session.Caused(err)
}

// effectOf is the widest effect of a tool; what is not known counts as external.
func (a *App) effectOf(tool string) plug.Effect {
	for _, t := range a.host.Tools() {
		if s := t.Spec(); s.Name == tool {
			return s.Effect
		}
	}
	return plug.EffectExternal
}

// maxTitle bounds the title of a session, in characters (as session.Rename does).
const maxTitle = 200

// title is the first line of a prompt that holds something.
func title(prompt string) string {
	for line := range strings.Lines(prompt) {
		if line = text.OneLine(line, maxTitle); line != "" {
			return line
		}
	}
	return ""
}
