package plug

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"alisio/llm"
)

// Effect is what a call does to the world (spec tools.md, "Effects").
type Effect string

// The effects. What is not known is External.
const (
	// EffectRead has no side effects.
	EffectRead Effect = "read"
	// EffectWrite changes files of the workspace.
	EffectWrite Effect = "write"
	// EffectProcess runs programs.
	EffectProcess Effect = "process"
	// EffectExternal reaches the network or something of unknown effect.
	EffectExternal Effect = "external"
	// EffectInternal changes only Alisio's own state.
	EffectInternal Effect = "internal"
)

// Quiet reports whether an effect changes nothing beyond this program: it needs no
// permission and has no row in the journal (spec tools.md, "Effects and the gate").
func (e Effect) Quiet() bool { return e == EffectRead || e == EffectInternal }

func (e Effect) known() bool {
	return e.Quiet() || e == EffectWrite || e == EffectProcess || e == EffectExternal
}

// Tool is something that a model can call. Implementations hold nothing
// between calls.
type Tool interface {
	Spec() ToolSpec
	// Prepare turns a call into a plan. It has no effects: it may read what the
	// workspace allows, to check the call and to show what will happen. An
	// error goes to the model as the call's result.
	Prepare(ctx context.Context, c *Call) (Plan, error)
	// Execute does exactly what the plan says. An error goes to the model as
	// the call's result; it means that the tool could not do its work, while a
	// command that ran and failed is a Result.
	Execute(ctx context.Context, c *Call, p Plan) (Result, error)
}

// ToolSpec describes a tool.
type ToolSpec struct {
	// Name matches ^[a-z][a-z0-9_]{0,63}$.
	Name string
	// Description is for the model; short, it is sent with every request.
	Description string
	// Schema is the JSON Schema of the arguments: an object.
	Schema json.RawMessage
	// Effect is the widest effect that a call can have.
	Effect Effect
	// Concurrent: calls may run beside others although Effect is not read.
	Concurrent bool
	// Polling: equal calls with equal results are expected.
	Polling bool
	// Spare: a model can do without it, so that it is not offered where the window is
	// small (spec providers.md, "Local models").
	Spare bool
	// Needs says what must be there for the tool to be offered.
	Needs Need
}

// Need is something without which a tool makes no sense.
type Need string

// The needs; the zero value is none.
const (
	// NeedSkills: at least one skill was found.
	NeedSkills Need = "skills"
	// NeedInstructions: at least one instruction file holds.
	NeedInstructions Need = "instructions"
	// NeedPerson: somebody can be asked.
	NeedPerson Need = "person"
	// NeedAgent: an agent that names the tool in its Tools.Allow.
	NeedAgent Need = "agent"
)

// Call is one call of a tool, with what it may use.
type Call struct {
	SessionID string
	CallID    string
	// Args are valid against the tool's schema.
	Args json.RawMessage
	// MaxChars is what the model is shown of the text of a result, in characters; zero:
	// not known. What is more is kept, and cut in the middle.
	MaxChars int
	// Files and Exec are those of the session; never nil in the engine.
	Files *Files
	Exec  *Exec
	// HTTP returns the client of a purpose; nil: the call has no network.
	HTTP func(Purpose) *http.Client
	// Resources are skills and instruction files; nil: there are none.
	Resources *Resources
	// State keeps small values of the session for the application's own tools; its
	// functions are nil where there is no store.
	State State
	// Ask puts a question to the person, in the queue of the session's tree;
	// ErrNoSurface: nobody can be asked. It is never nil in the engine.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Progress shows new output of a running call to the person who watches:
	// plain text, never stored. It is never nil in the engine, may be called
	// from any goroutine until Execute returns, and does not block for long.
	Progress func(text string)
}

// Decode decodes the arguments into a pointer to a struct.
func (c *Call) Decode(into any) error {
	if err := json.Unmarshal(c.Args, into); err != nil {
		return fmt.Errorf("decode arguments: %w", err)
	}
	return nil
}

// Access says what a call does with a path.
type Access string

// The kinds of access.
const (
	AccessRead  Access = "read"
	AccessWrite Access = "write"
)

// PlanPath is a path that a call touches.
type PlanPath struct {
	// Path is absolute with links resolved, as Target.Abs.
	Path   string
	Access Access
}

// Plan is what a call is going to do, whole. The gate decides on it, a person
// is shown it, and Execute does it.
type Plan struct {
	Effect Effect
	// Title is one line for people, without the tool's name:
	// "tax/total.go:1-80".
	Title string
	Paths []PlanPath
	// Argv or Shell is the command, if any; Dir is absolute.
	Argv  []string
	Shell string
	Dir   string
	Stdin string
	// Hosts are the names that the call contacts.
	Hosts []string
	// Preview shows what will change, for instance a diff.
	Preview *Block
	// Key is what a grant for the session of this call would cover.
	Key string
	// Data is JSON that Prepare hands to Execute.
	Data json.RawMessage
}

// Result is what a call gave.
type Result struct {
	// Parts is text, images and display blocks; the model gets the text and the
	// images alone.
	Parts   []llm.Part
	IsError bool
	// Summary is at most 60 characters for people: "6 matches".
	Summary string
}

// Text makes a result of one text.
func Text(text string) Result {
	return Result{Parts: []llm.Part{{Type: llm.PartText, Text: text}}}
}

// Error makes a result that tells the model of a failure.
func Error(format string, args ...any) Result {
	r := Text(fmt.Sprintf(format, args...))
	r.IsError = true
	return r
}

// WithSummary returns r with a summary.
func (r Result) WithSummary(format string, args ...any) Result {
	r.Summary = fmt.Sprintf(format, args...)
	return r
}

// WithBlock returns r with a display block added.
func (r Result) WithBlock(b Block) Result {
	body, err := json.Marshal(b)
	if err != nil {
		return r // a block holds strings, numbers and valid raw JSON only
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], llm.Part{Type: llm.PartUI, Block: body})
	return r
}

// PlainText returns the text projection of the result.
func (r Result) PlainText() string { return llm.PartsText(r.Parts) }
