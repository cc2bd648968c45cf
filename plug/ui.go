package plug

import (
	"context"
	"time"
)

// UI shows things to the person. Without a surface, texts are kept for one that
// comes later, and questions answer ErrNoSurface.
type UI struct {
	// Status sets the plugin's word in the status bar, at most 40 cells ("mem
	// 12"); empty takes it away.
	Status func(text string)
	// Panel sets the plugin's tree in the panel; no nodes take it away. It is kept
	// for a full-screen surface: lines and runs show no panels.
	Panel func(p Panel)
	// Select asks for one of 2 to 20 options and returns its index.
	Select func(ctx context.Context, sessionID, title string, options []Option) (int, error)
	// AskQuestions asks 1 to 4 questions.
	AskQuestions func(ctx context.Context, sessionID string, questions []Choice) ([]Chosen, error)
	// Open shows a session in a read-only view.
	Open func(sessionID string) error
	// Interactive reports whether a person can be asked.
	Interactive func() bool
}

// Panel is a tree that a surface draws without knowing what it means.
type Panel struct {
	Title string
	// Nodes in the order in which they are drawn below their parents.
	Nodes []PanelNode
	// Act, if set, carries out an action of a node.
	Act func(ctx context.Context, nodeID, action string) error
}

// PanelNode is a line of a panel; only ID and Label must be set. Panel.Check says what
// is wrong.
type PanelNode struct {
	ID     string
	Parent string
	Label  string
	// Color is a name as in Agent.Color; any other is left out.
	Color string
	// Status is one of PanelStatuses; any other is left out.
	Status string
	// Started and Ended give the time that is shown.
	Started time.Time
	Ended   time.Time
	Tokens  int
	// Detail is what it is doing now, in a few words.
	Detail string
	// Session opens in a read-only view.
	Session string
	// Actions are words that Panel.Act takes: "cancel", "background".
	Actions []string
}
