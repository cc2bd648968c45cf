package agent

import (
	"testing"
	"time"

	"alisio/agent/config"
	"alisio/agent/run"
)

func TestTheLimitsOfTheConfigurationAreThoseOfARun(t *testing.T) {
	got := limitsOf(config.Config{Limits: config.Limits{MaxTurns: 1, TimeoutMs: 2, FirstTokenTimeoutMs: 3, FirstTokenRetries: 4,
		IdleTimeoutMs: 5, MaxOutputTokens: 6, TruncationRecoveries: 7}}, "example.org")
	want := run.Limits{MaxTurns: 1, Timeout: 2 * time.Millisecond, FirstToken: 3 * time.Millisecond, FirstTokenRetries: 4,
		Idle: 5 * time.Millisecond, MaxOutputTokens: 6, TruncationRecoveries: 7}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	off := limitsOf(config.Config{}, "example.org")
	if want := (run.Limits{Timeout: -1, FirstToken: -1, FirstTokenRetries: -1, Idle: -1, TruncationRecoveries: -1}); off != want {
		t.Errorf("0: got %+v, want %+v", off, want)
	}
	for host, want := range map[string]time.Duration{
		"127.0.0.1:8080": -1, "localhost": -1, "[::1]:1": -1, "example.org:443": 2 * time.Minute, "10.0.0.1:80": 2 * time.Minute,
		"": 2 * time.Minute, // an embedder's provider
	} {
		if got := limitsOf(config.Default(), host).FirstToken; got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
}
