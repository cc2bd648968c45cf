package plug

import "alisio/llm"

// The payloads of run events, one Go type a type, with the field names of spec
// events.md. Optional fields are absent, never null. Durations are in
// milliseconds.

// ModelChanged tells that the next runs of a session ask another model.
type ModelChanged struct {
	Model    string `json:"model"`
	Previous string `json:"previous"`
}

// RunStarted is the first event of a run.
type RunStarted struct {
	Model string `json:"model"`
}

// Delta is new visible text of the model.
type Delta struct {
	Delta string `json:"delta"`
}

// ReasoningText is new reasoning of the model.
type ReasoningText struct {
	Delta string `json:"delta"`
}

// TurnCompleted tells that a model's answer is stored.
type TurnCompleted struct {
	Beside
	// Turn is 1-based.
	Turn int `json:"turn"`
	// Tokens is input and output so far in this run.
	Tokens int    `json:"tokens"`
	Calls  int    `json:"calls"`
	Model  string `json:"model"`
	Usage  *Usage `json:"usage,omitempty"`
	// DurationMs is from the request sent to the response complete; TTFTMs to
	// the first delta, absent when nothing streamed.
	DurationMs int64  `json:"durationMs"`
	TTFTMs     *int64 `json:"ttftMs,omitempty"`
	// Sent tells of the request's bytes; nil of earlier versions.
	Sent *Sent `json:"sent,omitempty"`
}

// Sent is the body of a turn's request beside that of the turn before it in the session
// (spec runner.md, "Stable prefix").
type Sent struct {
	// Bytes is its length, zero where nothing goes over a wire.
	Bytes int `json:"bytes,omitempty"`
	// Shared is how many bytes it begins with that the one before began with: the place
	// of the first that differs. Nil: nothing is known of the one before.
	Shared *int `json:"shared,omitempty"`
	// About: another process sent the one before, and Shared can be some more.
	About bool `json:"about,omitempty"`
	// At says what stands there if that is no new message: "head", "tools",
	// "instructions", "message N" or "end".
	At string `json:"at,omitempty"`
	// Mark is what another process compares the next one with.
	Mark string `json:"mark,omitempty"`
	// Key stands for model, agent, tools and instructions, a word each.
	Key string `json:"key"`
}

// Usage is llm.Usage in an event.
type Usage struct {
	Input       int `json:"input"`
	Output      int `json:"output"`
	CachedInput int `json:"cachedInput,omitempty"`
	// Cost is by the price of the model, in its currency; absent where it has none.
	Cost float64 `json:"cost,omitempty"`
}

// ToolStarted tells that a call's plan stands, or that it never will.
type ToolStarted struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is JSON text as the model sent it.
	Arguments string `json:"arguments"`
	Effect    Effect `json:"effect"`
	Title     string `json:"title,omitempty"`
}

// ToolProgress is new output of a running call: at most 8 KiB an event and 20
// events a second a call.
type ToolProgress struct {
	ID   string `json:"id"`
	Data string `json:"data"`
}

// ToolCompleted ends a call, exactly once, denied, invalid and cancelled ones
// too.
type ToolCompleted struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	IsError    bool   `json:"isError"`
	DurationMs int64  `json:"durationMs"`
	// Preview is the text projection, at most 2,000 characters.
	Preview string `json:"preview"`
	Summary string `json:"summary,omitempty"`
	// Result is the whole result, for observers in this process.
	Result *Result `json:"-"`
}

// ApprovalRequested tells that a person is asked.
type ApprovalRequested struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Effect    Effect `json:"effect"`
	Label     string `json:"label,omitempty"`
	Directory string `json:"directory,omitempty"`
}

// ApprovalResolved tells of a decision on a call whose effect is neither read
// nor internal, and of every one that a person made, on a directory too.
type ApprovalResolved struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Effect   Effect    `json:"effect"`
	Decision Decision  `json:"decision"`
	By       DecidedBy `json:"by"`
}

// OutputSource says where an output limit came from.
type OutputSource string

// The sources of output limits.
const (
	SourceUser    OutputSource = "user"
	SourceModel   OutputSource = "model"
	SourceDefault OutputSource = "default"
)

// OutputBound says what left an answer less room than its limit.
type OutputBound string

// The bounds of answers beside their limit.
const (
	BoundWindow OutputBound = "window"
	BoundBudget OutputBound = "budget"
)

// ResponseTruncated tells that the output limit cut a usable answer. Bound is empty
// where the limit was that of Source.
type ResponseTruncated struct {
	Turn            int          `json:"turn"`
	MaxOutputTokens int          `json:"maxOutputTokens"`
	Source          OutputSource `json:"source"`
	Bound           OutputBound  `json:"bound,omitempty"`
}

// RunCompleted ends a run whose model had nothing more to do.
type RunCompleted struct {
	Beside
	Tokens    int    `json:"tokens"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
	// Denied counts the calls that were not allowed. Code is "permission" when
	// that was all that the last turn with calls tried.
	Denied int       `json:"denied,omitempty"`
	Code   llm.Cause `json:"code,omitempty"`
}

// RunTurnsExceeded ends a run that met its turn limit; everything is kept.
type RunTurnsExceeded struct {
	Beside
	Turns    int `json:"turns"`
	MaxTurns int `json:"maxTurns"`
}

// RunFailed ends a run with a readable sentence and its cause.
type RunFailed struct {
	Beside
	Error string    `json:"error"`
	Code  llm.Cause `json:"code"`
	// Timeout is set when the code is "timeout", Truncation when it is
	// "output_truncated".
	Timeout    *Timeout    `json:"timeout,omitempty"`
	Truncation *Truncation `json:"truncation,omitempty"`
	// Hint tells a person what to do next. It is not part of the JSON.
	Hint string `json:"-"`
}

// RunCancelled ends a run that was stopped by the person or the program.
type RunCancelled struct {
	Beside
	Error string `json:"error"`
}

// SessionContextInjected tells that plugins gave a new session text to begin with.
type SessionContextInjected struct {
	// Tokens is an estimate, four characters each.
	Tokens  int      `json:"tokens"`
	Sources []string `json:"sources"`
}

// PluginHookFailed tells that a hook was left out.
type PluginHookFailed struct {
	Source string `json:"source"`
	Hook   string `json:"hook"`
	Error  string `json:"error"`
	// Continued is true: the session goes on without what the hook would have given.
	Continued bool `json:"continued"`
}

// PlanProposed tells that a person is asked to review a plan.
type PlanProposed struct {
	CallID string `json:"callId"`
	PlanID string `json:"planId"`
	// Revision counts the versions of a plan from 1; Hash is the SHA-256 of its text.
	Revision int    `json:"revision"`
	Hash     string `json:"hash"`
	Title    string `json:"title"`
}

// PlanDecision is what a person said of a plan.
type PlanDecision string

// The decisions on plans. Context: not yet, the person said what to change.
const (
	PlanApprove PlanDecision = "approve"
	PlanSkip    PlanDecision = "skip"
	PlanContext PlanDecision = "context"
)

// PlanDecided tells what a person said of the plan that was proposed before. A plan
// that nobody could be asked about has no decision.
type PlanDecided struct {
	CallID   string       `json:"callId"`
	PlanID   string       `json:"planId"`
	Hash     string       `json:"hash"`
	Decision PlanDecision `json:"decision"`
}

func (RunStarted) EventType() EventType        { return TypeRunStarted }
func (Delta) EventType() EventType             { return TypeTextDelta }
func (ReasoningText) EventType() EventType     { return TypeReasoningDelta }
func (TurnCompleted) EventType() EventType     { return TypeTurnCompleted }
func (ToolStarted) EventType() EventType       { return TypeToolStarted }
func (ToolProgress) EventType() EventType      { return TypeToolProgress }
func (ToolCompleted) EventType() EventType     { return TypeToolCompleted }
func (ApprovalRequested) EventType() EventType { return TypeApprovalRequested }
func (ApprovalResolved) EventType() EventType  { return TypeApprovalResolved }
func (ResponseTruncated) EventType() EventType { return TypeResponseTruncated }
func (RunCompleted) EventType() EventType      { return TypeRunCompleted }
func (RunTurnsExceeded) EventType() EventType  { return TypeRunTurnsExceeded }
func (RunFailed) EventType() EventType         { return TypeRunFailed }
func (RunCancelled) EventType() EventType      { return TypeRunCancelled }

func (ModelChanged) EventType() EventType           { return TypeModelChanged }
func (SessionContextInjected) EventType() EventType { return TypeSessionContextInjected }
func (PluginHookFailed) EventType() EventType       { return TypePluginHookFailed }
func (PlanProposed) EventType() EventType           { return TypePlanProposed }
func (PlanDecided) EventType() EventType            { return TypePlanDecided }
