package plug

// The payloads of events that tell of a conversation which became too long (spec
// runner.md, "Compaction" and "Stable prefix").

// CompactionReason says who wanted a compaction.
type CompactionReason string

// The reasons of compactions. Budget: the context is over limits.maxContextChars
// although everything was shortened.
const (
	CompactManual CompactionReason = "manual"
	CompactAuto   CompactionReason = "auto"
	CompactBudget CompactionReason = "budget"
)

// CompactionStarted tells that the model is about to be asked for a checkpoint.
type CompactionStarted struct {
	Reason CompactionReason `json:"reason"`
	// Before is what the conversation takes, in tokens; Messages how many there are.
	Before   int `json:"before"`
	Messages int `json:"messages"`
}

// CompactionCompleted tells that a checkpoint stands in the place of older messages.
type CompactionCompleted struct {
	Beside
	Reason CompactionReason `json:"reason"`
	// Before and After are tokens, estimated where the server did not report them.
	Before int `json:"before"`
	After  int `json:"after"`
	// Replaced counts the messages that the checkpoint stands for.
	Replaced   int  `json:"replaced"`
	Structured bool `json:"structured"`
	// SummarizedTokens is the input, CheckpointTokens the output of the request.
	SummarizedTokens int `json:"summarizedTokens"`
	CheckpointTokens int `json:"checkpointTokens"`
	// Plugins are the reports of plugins, by id.
	Plugins map[string]string `json:"plugins"`
	// Partial: the output limit cut the checkpoint.
	Partial bool `json:"partial,omitempty"`
}

// CompactionSkipped tells that nothing was compacted, and why.
type CompactionSkipped struct {
	Beside
	Reason CompactionReason `json:"reason"`
	Before int              `json:"before"`
	Detail string           `json:"detail"`
}

// CompactionFailed tells that no checkpoint came of it; nothing was replaced.
type CompactionFailed struct {
	Beside
	Reason CompactionReason `json:"reason"`
	Error  string           `json:"error"`
}

// ContextReduced tells that so many messages were shortened to make room. Images: what is
// gone are pictures that the server did not take.
type ContextReduced struct {
	Messages int  `json:"messages"`
	Images   bool `json:"images,omitempty"`
}

// PrefixCause says what changed bytes that servers keep from request to request.
type PrefixCause string

// The causes of changed prefixes.
const (
	PrefixCompaction   PrefixCause = "compaction"
	PrefixClip         PrefixCause = "clip"
	PrefixUndo         PrefixCause = "undo"
	PrefixModel        PrefixCause = "model"
	PrefixAgent        PrefixCause = "agent"
	PrefixTools        PrefixCause = "tools"
	PrefixInstructions PrefixCause = "instructions"
)

// PrefixChanged tells that the next request does not begin with the bytes of the one
// before it.
type PrefixChanged struct {
	Cause PrefixCause `json:"cause"`
}

func (CompactionStarted) EventType() EventType   { return TypeCompactionStarted }
func (CompactionCompleted) EventType() EventType { return TypeCompactionCompleted }
func (CompactionSkipped) EventType() EventType   { return TypeCompactionSkipped }
func (CompactionFailed) EventType() EventType    { return TypeCompactionFailed }
func (ContextReduced) EventType() EventType      { return TypeContextReduced }
func (PrefixChanged) EventType() EventType       { return TypePrefixChanged }
