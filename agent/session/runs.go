package session

import (
	"context"
	"encoding/json"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// RunStatus is where a run stands (spec store.md, "Runs"):
//
//	queued → running → completed | turns_exceeded | failed | cancelled | interrupted
type RunStatus string

// The states of runs. The last five are never left.
const (
	RunQueued        RunStatus = "queued"
	RunRunning       RunStatus = "running"
	RunCompleted     RunStatus = "completed"
	RunTurnsExceeded RunStatus = "turns_exceeded"
	RunFailed        RunStatus = "failed"
	RunCancelled     RunStatus = "cancelled"
	RunInterrupted   RunStatus = "interrupted"
)

// Ended reports whether the state is one that is never left.
func (s RunStatus) Ended() bool { return s != RunQueued && s != RunRunning }

// Run is the row of one run.
type Run struct {
	ID            string
	Session       string
	Status        RunStatus
	RequestID     string
	CorrelationID string
	// OwnerPID is the process that works, or worked, on it.
	OwnerPID int
	Model    string
	Created  time.Time
	Started  time.Time
	Ended    time.Time
	// Error is why it failed, for people.
	Error string
	Usage llm.Usage
}

// Begin is a run that is to be recorded, with all that is stored along with it:
// when the row is there, so is its prompt.
type Begin struct {
	Run Run
	// Fresh, if set, is the session to create with the run. A request id is
	// then looked for in all sessions of its workspace.
	Fresh *Session
	// Messages go to the end of the history.
	Messages []llm.Message
	// Events are the run's first ones.
	Events []plug.Event
	// Continues names an interrupted run of the session, whose request id this
	// run takes over.
	Continues string
}

// RunEnd is how a run ended.
type RunEnd struct {
	ID     string
	Status RunStatus
	Error  string
	Usage  llm.Usage
	// Messages is the last answer, if it is not stored yet.
	Messages []llm.Message
}

// RequestKey finds a run by the id that its caller gave it, in a session or,
// when that is empty, in all sessions of a workspace.
type RequestKey struct {
	Session   string
	Workspace string
	RequestID string
}

// RunJournal is what a store implements that keeps runs. The engine works
// without, unjournalled.
type RunJournal interface {
	// BeginRun stores a run and returns it with the numbers of its first events. If
	// its request id was used already, it stores nothing and returns the run that
	// has it: the id tells. Of concurrent callers one wins.
	BeginRun(ctx context.Context, b Begin) (Run, []int64, error)
	// EndRun stores a run's end and its last events, together, and returns the
	// events' numbers in order. ErrEnded if it has ended already.
	EndRun(ctx context.Context, end RunEnd, last ...plug.Event) ([]int64, error)
	// RunByRequest returns the run of a request id, or ErrNotFound.
	RunByRequest(ctx context.Context, k RequestKey) (Run, error)
}

// RunList is what a store implements that can tell of its runs.
type RunList interface {
	// Runs returns a session's runs, the newest first, at most limit.
	Runs(ctx context.Context, id string, limit int) ([]Run, error)
	// InterruptRuns marks the runs, and the child sessions, that dead processes
	// left open, and returns how many runs there were.
	InterruptRuns(ctx context.Context) (int, error)
}

// Pager is what a store implements that can show a long session piece by piece.
type Pager interface {
	// MessagesPage returns up to limit messages behind the number after, also
	// those that are no longer active.
	MessagesPage(ctx context.Context, id string, after int64, limit int) ([]Stored, error)
	// EventsPage returns up to limit events behind the number after.
	EventsPage(ctx context.Context, id string, after int64, limit int) ([]plug.Event, error)
}

// EventFinder is what a store implements that finds events by their type.
type EventFinder interface {
	// EventsOf returns the last events of a type in a session, the newest first.
	EventsOf(ctx context.Context, id string, t plug.EventType, limit int) ([]plug.Event, error)
}

// Stored is a message as it lies in the store.
type Stored struct {
	// Seq grows within the store.
	Seq     int64
	RunID   string
	Message llm.Message
	// Body is the stored JSON.
	Body json.RawMessage
	// Compacted: a later checkpoint or copy stands for it.
	Compacted bool
	// CopyOf is the Seq of the message of which this is a copy; zero: none.
	CopyOf int64
	// Err tells why Body could not be read; Message is then empty.
	Err error
}
