package plug

// Block is a piece of a result that a screen can draw better than text. Its
// JSON field names are those that results are stored with (spec
// plugins.md). Kind says which of the other fields are used.
type Block struct {
	Kind BlockKind `json:"kind"`
	// Path, Patch: a diff in unified form.
	Path  string `json:"path,omitempty"`
	Patch string `json:"patch,omitempty"`
	// Command, CWD, Output, ExitCode, DurationMs, Truncated: a terminal.
	Command    string `json:"command,omitempty"`
	CWD        string `json:"cwd,omitempty"`
	Output     string `json:"output,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"`
	// Code, Caption: text to be shown as it is.
	Code    string `json:"code,omitempty"`
	Caption string `json:"caption,omitempty"`
}

// BlockKind says how a block is drawn. An unknown kind is shown as the
// result's text projection.
type BlockKind string

// The kinds in use.
const (
	BlockDiff     BlockKind = "diff"
	BlockTerminal BlockKind = "terminal"
	BlockCode     BlockKind = "code"
)
