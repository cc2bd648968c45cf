package config

import (
	"testing"
	"time"
)

func TestALocalServerMayBeSilent(t *testing.T) {
	const none = 0
	for _, c := range []struct {
		name, file  string
		local, away time.Duration
	}{
		{"unset", `{}`, none, 2 * time.Minute},
		{"set", `{"limits": {"firstTokenTimeoutMs": 100}}`, 100 * time.Millisecond, 100 * time.Millisecond},
		{"set to the default", `{"limits": {"firstTokenTimeoutMs": 120000}}`, 2 * time.Minute, 2 * time.Minute},
		{"off", `{"limits": {"firstTokenTimeoutMs": 0}}`, none, none},
	} {
		cfg, _, err := load(t, c.file)
		if err != nil {
			t.Fatal(err)
		}
		if local, away := cfg.FirstToken(true), cfg.FirstToken(false); local != c.local || away != c.away {
			t.Errorf("%s: got %v and %v, want %v and %v", c.name, local, away, c.local, c.away)
		}
	}
	embedded := Default()
	embedded.Limits.FirstTokenTimeoutMs = 50
	if got := embedded.FirstToken(true); got != 50*time.Millisecond {
		t.Errorf("set in the field: got %v", got)
	}
}
