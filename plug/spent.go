package plug

// Beside is what an event tells of requests beside that of the turn: those that ended
// since the event before which could tell of them (spec runner.md, "Budgets are hard").
// It is absent where there were none.
type Beside struct {
	Spent []Spent `json:"spent,omitempty"`
}

// Requests are those that an event tells of, whatever its type.
func (b Beside) Requests() []Spent { return b.Spent }

// SpentOn says what a request was for.
type SpentOn string

// What requests are for. SpentOnTurn is told by turn_completed itself, SpentOnRetry is
// one whose answer was of no use.
const (
	SpentOnTurn       SpentOn = "turn"
	SpentOnRetry      SpentOn = "retry"
	SpentOnCompaction SpentOn = "compaction"
	SpentOnPlugin     SpentOn = "plugin"
	SpentOnQuestion   SpentOn = "question"
)

// Spent is what one request took, in tokens.
type Spent struct {
	For SpentOn `json:"for"`
	// By is the plugin that asked.
	By    string `json:"by,omitempty"`
	Model string `json:"model"`
	Usage
	// Estimated: the server reported nothing.
	Estimated bool `json:"estimated,omitempty"`
}

// UsageRecorded tells of requests that belong to no run: a question beside the task while
// none is under way, a completion for a plugin. It has a run id of its own and no row among
// the runs.
type UsageRecorded struct {
	Beside
}

func (UsageRecorded) EventType() EventType { return TypeUsageRecorded }
