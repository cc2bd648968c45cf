package agent

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"alisio/plug"
)

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

// A plugin that is left out is named once.
func TestAPluginThatIsLeftOutIsTold(t *testing.T) {
	var log strings.Builder
	app(t, `{"turns":[{"text":"done"}]}`, Options{
		Log:     slog.New(slog.NewTextHandler(&log, nil)),
		Plugins: []plug.Plugin{plugged("tally", nil, func(*plug.API) error { return errors.New("no way") })},
	})
	if got, want := log.String(), `msg="set up plugin tally: no way; the plugin is left out"`+"\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
