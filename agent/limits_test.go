package agent

import (
	"testing"
	"time"

	"alisio/agent/config"
	"alisio/agent/run"
)

func TestTheLimitsOfTheConfigurationAreThoseOfARun(t *testing.T) {
	got := limitsOf(config.Config{Limits: config.Limits{MaxTurns: 1, TimeoutMs: 2, FirstTokenTimeoutMs: 3, FirstTokenRetries: 4,
		IdleTimeoutMs: 5, MaxOutputTokens: 6, TruncationRecoveries: 7}}, false)
	want := run.Limits{MaxTurns: 1, Timeout: 2 * time.Millisecond, FirstToken: 3 * time.Millisecond, FirstTokenRetries: 4,
		Idle: 5 * time.Millisecond, MaxOutputTokens: 6, TruncationRecoveries: 7}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	off := limitsOf(config.Config{}, false)
	if want := (run.Limits{Timeout: -1, FirstToken: -1, FirstTokenRetries: -1, Idle: -1, TruncationRecoveries: -1}); off != want {
		t.Errorf("0: got %+v, want %+v", off, want)
	}
	for local, want := range map[bool]time.Duration{true: -1, false: 2 * time.Minute} {
		if got := limitsOf(config.Default(), local).FirstToken; got != want {
			t.Errorf("on this machine %v: got %v, want %v", local, got, want)
		}
	}
}
