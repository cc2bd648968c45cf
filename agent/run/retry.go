package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// How often and how long a request is tried for which nothing was received (spec
// runner.md, "Transport faults").
const (
	maxSends  = 5
	maxWait   = time.Minute
	maxTrying = 5 * time.Minute

	// firstWait is what the waits grow from, to at most lastWait. Limits of a rate
	// are counted by the minute: behind them the waits are longer.
	firstWait     = 500 * time.Millisecond
	firstRateWait = 2 * time.Second
	lastWait      = 16 * time.Second
)

// silence answers a request for which the server said nothing in time.
func (r *request) silence() error {
	limit, of := r.o.Limits.FirstToken, r.o.Limits.FirstTokenRetries
	if r.silent < of && r.sends < max(maxSends, of+1) {
		r.silent++
		r.emit(plug.RequestRetry{Attempt: r.silent, Of: of, Reason: plug.RetryFirstToken})
		return r.storeError()
	}
	r.ended.timeout = r.timeout(plug.TimeoutFirstToken, limit)
	return llm.Errorf(llm.CauseTimeout, "%s said nothing for %s (limits.firstTokenTimeoutMs)%s",
		r.ended.timeout.Provider, text.Duration(limit), after(r.sends)).
		WithHint("check the server, or raise limits.firstTokenTimeoutMs if the model needs longer to begin")
}

// faulted answers a fault of the transport: it waits for the next send of the same
// request, or gives up.
func (r *request) faulted(e *llm.Error) error {
	wait := backoff(e, r.faults)
	if r.sends >= maxSends || time.Since(r.first)+wait > maxTrying {
		return tried(e, r.sends)
	}
	r.faults++
	r.emit(plug.RequestRetry{Attempt: r.faults, Of: maxSends - 1, Reason: retryReason(e), AfterMs: wait.Milliseconds()})
	return r.pause(wait)
}

func retryReason(e *llm.Error) plug.RetryReason {
	switch {
	case e.Cause == llm.CauseRateLimited:
		return plug.RetryRateLimited
	case e.Cause == llm.CauseServer, e.Stream == llm.StreamFailed:
		return plug.RetryServerError
	}
	return plug.RetryConnection
}

// backoff is how long to wait behind the n-th fault, from 0: what the server asks
// for, which is at most maxWait, or twice as long each time, and never at the same
// moment as others.
func backoff(e *llm.Error, n int) time.Duration {
	if e.RetryAfter > 0 {
		return min(e.RetryAfter+jitter(min(e.RetryAfter/10, time.Second)), maxWait)
	}
	if e.Cause == llm.CauseRateLimited {
		return grown(firstRateWait, n)
	}
	return grown(firstWait, n)
}

// grown is the n-th of the waits that grow from first.
func grown(first time.Duration, n int) time.Duration {
	wait := min(first<<min(n, maxSends), lastWait)
	return wait - jitter(wait/4)
}

func jitter(most time.Duration) time.Duration { return rand.N(most + 1) }

// pause waits, unless the run ends.
func (r *request) pause(d time.Duration) error {
	r.during(plug.StageWaiting)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.storeError()
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// tried says how often a request was sent in vain.
func tried(e *llm.Error, sends int) *llm.Error {
	f := *e
	f.Message += after(sends)
	return &f
}

// after is what stands behind the last fault of several tries, which need not have
// met the same one.
func after(tries int) string {
	if tries < 2 {
		return ""
	}
	return fmt.Sprintf(", after %d tries", tries)
}

// tooLong is the failure of a request whose server asks to wait for longer than
// anybody wants to without a word.
func tooLong(e *llm.Error, sends int) *llm.Error {
	f := *tried(e, sends)
	f.Message = fmt.Sprintf("%s; it asks to wait until %s, in %s", f.Message, time.Now().Add(e.RetryAfter).Format("2006-01-02 15:04 MST"), minutes(e.RetryAfter))
	return &f
}

// minutes is a long time as people say it: "5 min", "2 h 5 min", "16 days".
func minutes(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	switch {
	case m < 60:
		return fmt.Sprintf("%d min", m)
	case m >= 48*60:
		return fmt.Sprintf("%d days", m/(24*60))
	}
	return fmt.Sprintf("%d h %d min", m/60, m%60)
}
