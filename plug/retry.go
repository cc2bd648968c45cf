package plug

// The payloads of events that tell of requests which did not go well (spec
// runner.md, "Limits" to "Truncation recovery").

// RetryReason says why a request is sent again.
type RetryReason string

// The reasons of retries: nothing was received.
const (
	RetryFirstToken  RetryReason = "first_token_timeout"
	RetryRateLimited RetryReason = "rate_limited"
	RetryServerError RetryReason = "server_error"
	RetryConnection  RetryReason = "connection"
)

// RequestRetry tells that a request is sent again, after a wait. Nothing was
// received for it, and nothing is appended; it is no turn.
type RequestRetry struct {
	// Attempt counts the retries of this reason's limit from 1; Of is that limit.
	Attempt int         `json:"attempt"`
	Of      int         `json:"of"`
	Reason  RetryReason `json:"reason"`
	// AfterMs is the wait before it is sent.
	AfterMs int64 `json:"afterMs"`
}

// RecoveryReason says how a stream ended that is asked to go on.
type RecoveryReason string

// The reasons of recoveries. Idle: no progress for limits.idleTimeoutMs.
const (
	RecoveryLost       RecoveryReason = "lost"
	RecoveryIdle       RecoveryReason = "idle"
	RecoveryIncomplete RecoveryReason = "incomplete"
	RecoveryEmpty      RecoveryReason = "empty"
	RecoveryError      RecoveryReason = "error"
)

// StreamRecovery tells that an answer broke off and a fresh request goes out. What
// was received is kept as a message that is marked interrupted.
type StreamRecovery struct {
	// Attempt counts from 1 those in a row; Of is how many there may be.
	Attempt int            `json:"attempt"`
	Of      int            `json:"of"`
	Reason  RecoveryReason `json:"reason"`
	// KeptChars is the number of characters of text that were kept.
	KeptChars int `json:"keptChars"`
}

// CutReason says what made a cut answer unusable.
type CutReason string

// The reasons of truncation recoveries.
const (
	CutCall  CutReason = "tool_call_cut"
	CutEmpty CutReason = "empty_response"
)

// TruncationRecovery tells that the output limit cut an answer so that it can not
// be used, and that the model is asked for the same turn again.
type TruncationRecovery struct {
	Attempt         int       `json:"attempt"`
	Of              int       `json:"of"`
	Reason          CutReason `json:"reason"`
	MaxOutputTokens int       `json:"maxOutputTokens"`
	// Effort is the reasoning effort of the next request when it was lowered.
	Effort string `json:"effort,omitempty"`
}

// TimeoutKind says which limit ended a run.
type TimeoutKind string

// The limits of time that end runs: limits.timeoutMs and limits.firstTokenTimeoutMs.
const (
	TimeoutRun        TimeoutKind = "run"
	TimeoutFirstToken TimeoutKind = "first_token"
)

// Stage says what a run was doing when its time was over.
type Stage string

// The stages of a run.
const (
	StageWaiting   Stage = "waiting_model"
	StageStreaming Stage = "streaming"
	StageTool      Stage = "tool"
	StageOther     Stage = "other"
)

// Timeout says which limit of time ended a run, and where it stood.
type Timeout struct {
	Kind TimeoutKind `json:"kind"`
	// Ms is the limit.
	Ms    int64  `json:"ms"`
	Model string `json:"model,omitempty"`
	// Provider is the server's host, or the provider's id where there is none.
	Provider string `json:"provider,omitempty"`
	Stage    Stage  `json:"stage"`
	// Tool is the name of the call that ran in StageTool.
	Tool string `json:"tool,omitempty"`
	// FirstRequest: it was the first request of the run.
	FirstRequest bool `json:"firstRequest,omitempty"`
	// Attempts counts the sends of the request that failed; zero outside of one.
	Attempts int `json:"attempts,omitempty"`
}

// Truncation says what the recoveries of a cut answer came to.
type Truncation struct {
	// Attempts counts the requests for the turn.
	Attempts        int          `json:"attempts"`
	MaxOutputTokens int          `json:"maxOutputTokens"`
	Source          OutputSource `json:"source"`
	Model           string       `json:"model"`
}

func (RequestRetry) EventType() EventType       { return TypeRequestRetry }
func (StreamRecovery) EventType() EventType     { return TypeStreamRecovery }
func (TruncationRecovery) EventType() EventType { return TypeTruncationRecovery }
