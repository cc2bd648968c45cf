package plug

import "context"

// Extensions registers providers of extension points. Of each point but Facts exactly
// one provider is used, whatever the order of loading: the highest priority, then the
// first plugin id, then the first registered. What is drawn is sanitised and cut to the
// columns and lines that the point has; an error, a panic or more than 250 ms gives the
// default, and of Facts nothing.
type Extensions struct {
	// Mascot, at most 12 lines.
	Mascot func(Mascot) (undo func(), err error)
	// StartupScreen, at most 60 lines.
	StartupScreen func(StartupScreen) (undo func(), err error)
	// WebSearch answers the tool websearch within 30 seconds; it has no default. It is
	// kept, and nothing calls it yet.
	WebSearch func(WebSearch) (undo func(), err error)
	// Facts adds lines to the startup screen; all sources are used, sorted by
	// plugin and id.
	Facts func(Facts) (undo func(), err error)
}

// Terminal is what a screen can show.
type Terminal struct {
	// Color: SGR sequences may be used.
	Color bool
	// Unicode: characters beyond ASCII may be used.
	Unicode bool
	// Columns is the width in cells.
	Columns int
	// Interactive: somebody can type.
	Interactive bool
}

// Mascot draws a mascot.
type Mascot struct {
	ID       string
	Priority int
	Render   func(ctx context.Context, c MascotContext) (string, error)
}

// MascotContext is all that a mascot knows.
type MascotContext struct {
	Terminal Terminal
	Version  string
}

// StartupScreen draws what is shown before the first prompt.
type StartupScreen struct {
	ID       string
	Priority int
	Render   func(ctx context.Context, c ScreenContext) (string, error)
}

// ScreenContext is all that a startup screen knows. Its texts hold no control
// characters.
type ScreenContext struct {
	Terminal Terminal
	Version  string
	// Directory is the working directory, shortened with "~".
	Directory string
	Model     string
	// Server is the provider's host, without path and credentials.
	Server string
	// Access says in a few words what may happen without a question.
	Access string
	User   string
	// Plugins are the ids of those that are set up.
	Plugins []string
	// Mascot is what the mascot drew.
	Mascot string
	Tips   []string
	Facts  []Fact
}

// Facts is a source of lines for the startup screen: at most 4.
type Facts struct {
	ID   string
	List func(ctx context.Context) ([]Fact, error)
}

// Fact is one line: "memory", "12 notes on this project".
type Fact struct{ Label, Text string }

// WebSearch searches the web.
type WebSearch struct {
	ID       string
	Priority int
	Search   func(ctx context.Context, query string) ([]SearchHit, error)
}

// SearchHit is one result of a web search.
type SearchHit struct{ Title, URL, Snippet string }
