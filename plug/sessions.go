package plug

import (
	"context"
	"time"

	"alisio/llm"
)

// Sessions starts and runs child sessions (spec plugins.md, "Child sessions"). A
// child is a stored conversation with a parent that goes through the same runner
// with no more permissions than any of its ancestors.
type Sessions struct {
	// Spawn makes a child in status queued. A spec that asks for more than the
	// parent's ceiling gets the ceiling.
	Spawn func(ctx context.Context, spec ChildSpec) (Child, error)
	// Run works on a prompt in a child and returns when that run has ended. The
	// run is the child's own: it ends early when ctx does, when Cancel names it or
	// an ancestor, and when the run of an ancestor is stopped. That of a cancelled
	// child is an error until SetStatus has queued it again.
	Run func(ctx context.Context, id, prompt string) (ChildOutcome, error)
	Get func(ctx context.Context, id string) (Child, error)
	// Children lists the direct children, oldest first.
	Children func(ctx context.Context, id string) ([]Child, error)
	// Ancestors lists the way up, the parent first, the root last.
	Ancestors func(ctx context.Context, id string) ([]Child, error)
	// Cancel stops the runs of a session and of all below it, and returns how many
	// were running.
	Cancel func(ctx context.Context, id string) (running int, err error)
	// Enqueue adds a text for the next turn of a session's run, or for its next
	// run: at most 20 texts of 50,000 characters.
	Enqueue   func(ctx context.Context, id, text string) error
	IsRunning func(id string) bool
	// Capabilities says what a session may do: its ceiling, not what was approved.
	Capabilities func(ctx context.Context, id string) (Capabilities, error)
	// Model is what the session's next run asks, Workspace where it works.
	Model     func(ctx context.Context, id string) (llm.Model, error)
	Workspace func(ctx context.Context, id string) (string, error)
	// SetStatus changes the status of a child that does not run.
	SetStatus func(ctx context.Context, id string, s ChildStatus) error
}

// Permission is what a spec says of an effect. The zero value is what the parent
// has.
type Permission string

// The permissions, strictest first.
const (
	PermissionDeny  Permission = "deny"
	PermissionAsk   Permission = "ask"
	PermissionAllow Permission = "allow"
)

// Permissions are those of a spec. A permission never goes beyond the parent's.
type Permissions struct {
	Write    Permission `json:"write,omitempty"`
	Process  Permission `json:"process,omitempty"`
	External Permission `json:"external,omitempty"`
}

// ToolFilter chooses tools by name; "*" in a name stands for any characters.
type ToolFilter struct {
	// Allow names those that may be used; none means all.
	Allow []string `json:"allow,omitempty"`
	// Deny wins.
	Deny []string `json:"deny,omitempty"`
}

// ChildSpec describes a child session. Its JSON is stored with the session.
type ChildSpec struct {
	// Parent is a session's id.
	Parent string `json:"parent,omitempty"`
	// ID is a UUIDv4; empty makes one.
	ID    string `json:"id,omitempty"`
	Title string `json:"title,omitempty"`
	// Agent is the label of the agent path: "general › explore".
	Agent string `json:"agent,omitempty"`
	// Instructions join those of every session.
	Instructions string     `json:"instructions,omitempty"`
	Tools        ToolFilter `json:"tools,omitzero"`
	// Model is a name that Models.Resolve takes; empty is the parent's.
	Model      string      `json:"model,omitempty"`
	ReadOnly   bool        `json:"readOnly,omitempty"`
	Permission Permissions `json:"permission,omitzero"`
	// Workspace is an absolute directory that lies in the roots of the parent, or
	// is one that the plugin has made by Git worktree; empty is the parent's.
	Workspace string `json:"workspace,omitempty"`
	// MaxTurns, TimeoutMs (active time), MaxTokens and MaxOutputTokens limit a run
	// beside the configuration's limits; zero sets none.
	MaxTurns        int   `json:"maxTurns,omitempty"`
	TimeoutMs       int64 `json:"timeoutMs,omitempty"`
	MaxTokens       int   `json:"maxTokens,omitempty"`
	MaxOutputTokens int   `json:"maxOutputTokens,omitempty"`
}

// Timeout is TimeoutMs.
func (c ChildSpec) Timeout() time.Duration { return time.Duration(c.TimeoutMs) * time.Millisecond }

// ChildStatus says where a child stands.
type ChildStatus string

// The statuses of a child. The last three and Completed are ends; a child in one
// of them can be run again (of a cancelled one, see Sessions.Run), but never is by
// itself.
const (
	ChildQueued      ChildStatus = "queued"
	ChildRunning     ChildStatus = "running"
	ChildCompleted   ChildStatus = "completed"
	ChildFailed      ChildStatus = "failed"
	ChildCancelled   ChildStatus = "cancelled"
	ChildInterrupted ChildStatus = "interrupted"
)

// Child is a session as plugins see it; of a root, Parent and Status are empty.
type Child struct {
	ID     string
	Parent string
	// Depth is 0 for a root.
	Depth   int
	Title   string
	Agent   string
	Model   string
	Status  ChildStatus
	Created time.Time
	Updated time.Time
}

// ChildOutcome is what became of a child's run.
type ChildOutcome struct {
	RunID  string
	Status ChildStatus
	Text   string
	Usage  llm.Usage
	Turns  int
	// TurnLimit: the run met its turn limit; Status is completed all the same.
	TurnLimit bool
	// Code and Error tell of a failure.
	Code  llm.Cause
	Error string
}

// Capabilities is what a session may do at most.
type Capabilities struct {
	ReadOnly   bool
	Permission Permissions
	// Tools names the tools that it may use, sorted.
	Tools []string
}
