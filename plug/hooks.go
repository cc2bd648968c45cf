package plug

import (
	"context"
	"encoding/json"

	"alisio/llm"
)

// SessionHooks are called as sessions begin and end; either may be nil. One that
// fails, panics or takes longer than pluginHooks allows is left out
// (plugin_hook_failed), and the session goes on.
type SessionHooks struct {
	// OnStart may return text that is injected once into a new, empty session, at
	// most 24,000 characters. It is not called for a child, which begins with what its
	// ChildSpec says, nor for one that goes on.
	OnStart func(ctx context.Context, s SessionInfo) (string, error)
	// OnEnd is called when the person leaves a session in which something was
	// said: by /clear, /exit, or the end of the program.
	OnEnd func(ctx context.Context, s SessionInfo) error
}

// SessionInfo describes a session to a hook.
type SessionInfo struct {
	SessionID string
	// Parent is the session that started a child, empty for a root.
	Parent string
	// Workspace is absolute.
	Workspace string
	Model     string
	Agent     string
}

// CompactionHooks join a compaction; either may be nil. They fail as session
// hooks do.
type CompactionHooks struct {
	// Before adds to the one request in which the model writes the checkpoint.
	Before func(ctx context.Context, c CompactionInput) (CompactionWish, error)
	// After gets what came of it.
	After func(ctx context.Context, c CompactionResult) (CompactionReport, error)
}

// CompactionInput is what is about to be replaced.
type CompactionInput struct {
	Session SessionInfo
	// Reason is manual, auto or budget.
	Reason string
	// Messages are those that the checkpoint replaces; they are not to be changed.
	Messages []llm.Message
}

// CompactionWish is what a plugin wants of the summary.
type CompactionWish struct {
	// Instructions are added to the summarizer's.
	Instructions string
	// Fields are further output fields, name to description.
	Fields map[string]string
}

// CompactionResult is a finished checkpoint.
type CompactionResult struct {
	Session SessionInfo
	Reason  string
	// Checkpoint is its JSON, or JSON text when it is not structured.
	Checkpoint json.RawMessage
	Structured bool
	// Fields are those that this plugin asked for, as the model wrote them: not
	// validated.
	Fields map[string]json.RawMessage
}

// CompactionReport is what a plugin made of a checkpoint.
type CompactionReport struct {
	// Inject is text that joins the conversation, at most 24,000 characters.
	Inject string
	// Report is one line for people and the compaction_completed event.
	Report string
}
