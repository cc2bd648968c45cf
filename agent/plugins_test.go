package agent

import "testing"

func TestKindsAreWords(t *testing.T) {
	for _, c := range []struct {
		n          int
		kind, want string
	}{{1, "session-hook", "1 session hook"}, {2, "compaction-hook", "2 compaction hooks"}, {1, "tool", "1 tool"}, {3, "websearch", "3 websearches"}} {
		if got := numbered(c.n, c.kind); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
