package run

import (
	"time"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// where is what a run is doing, for the case that its time is over meanwhile.
type where struct {
	stage plug.Stage
	tool  string
	// attempts counts the sends of the request at hand; first: it is the run's first.
	attempts int
	first    bool
}

// at notes what the run is doing. What it did when it was told to end stays.
func (l *loop) at(w where) {
	if l.ctx.Err() == nil {
		l.where = w
	}
}

// timeout is what a run that met a limit of time tells of it.
func (l *loop) timeout(kind plug.TimeoutKind, limit time.Duration) *plug.Timeout {
	server := l.o.Server
	if server == "" {
		server = l.o.Provider.ID()
	}
	return &plug.Timeout{
		Kind: kind, Ms: limit.Milliseconds(), Model: l.o.Model.ID, Provider: server, Stage: l.where.stage, Tool: l.where.tool,
		FirstRequest: l.where.first, Attempts: l.where.attempts,
	}
}

// timeUsedUp is the failure of a run that met its Timeout.
func (l *loop) timeUsedUp() *llm.Error {
	doing := "at work"
	switch w := l.where; w.stage {
	case plug.StageWaiting:
		doing = "waiting for the model"
	case plug.StageStreaming:
		doing = "receiving an answer"
	case plug.StageTool:
		doing = "running " + w.tool
	}
	key, hint := " (limits.timeoutMs)", "--timeout and limits.timeoutMs give a run more time"
	if l.o.Limits.TimeoutGiven {
		key, hint = "", "prompt again to go on, or give the run more time"
	}
	l.ended.timeout = l.timeout(plug.TimeoutRun, l.o.Limits.Timeout)
	return llm.Errorf(llm.CauseTimeout, "the run used up its %s%s while it was %s", text.Duration(l.o.Limits.Timeout), key, doing).
		WithHint(hint)
}
