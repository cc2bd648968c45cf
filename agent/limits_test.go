package agent

import (
	"path/filepath"
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
	if want := (run.Limits{}); off != want {
		t.Errorf("0: got %+v, want %+v", off, want)
	}
	for local, want := range map[bool]time.Duration{true: 0, false: 2 * time.Minute} {
		if got := limitsOf(config.Default(), local).FirstToken; got != want {
			t.Errorf("on this machine %v: got %v, want %v", local, got, want)
		}
	}
}

// A project lowers what one answer may hold, and never raises what the model's catalog
// or the default allows.
func TestAProjectOnlyLowersTheOutput(t *testing.T) {
	dir := t.TempDir()
	c, err := config.Load(config.LoadOptions{
		Dir: dir, Getenv: func(string) string { return "" },
		Project: &config.Project{File: filepath.Join(dir, "config.json"), Data: []byte(`{"limits": {"maxOutputTokens": 900000}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := limitsOf(c, false); got.MaxOutputTokens != 0 || got.OutputCeiling != 900_000 {
		t.Errorf("got %+v", got)
	}
}
