package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"alisio/agent"
	"alisio/tui/cli/base"
)

// broken is an output that takes nothing.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "out", Err: b.err}
}

// Symptom: a run exited with 0 although its one object was lost. Trigger: the disk is
// full, or the reader gone.
func TestWhatIsNotDeliveredIsNoSuccess(t *testing.T) {
	failed := errors.New("worse")
	for _, c := range []struct {
		code     int
		err      error
		meets    error
		want     int
		wantFail error
	}{
		{base.ExitDone, nil, nil, base.ExitDone, nil},
		{base.ExitDone, nil, syscall.ENOSPC, base.ExitFailed, syscall.ENOSPC},
		{base.ExitDone, nil, syscall.EPIPE, base.ExitCancelled, nil},
		{base.ExitDone, nil, io.ErrClosedPipe, base.ExitCancelled, nil},
		{base.ExitProvider, failed, syscall.ENOSPC, base.ExitProvider, failed},
		{base.ExitProvider, failed, syscall.EPIPE, base.ExitProvider, failed},
		{base.ExitTurns, nil, syscall.ENOSPC, base.ExitTurns, syscall.ENOSPC},
		{base.ExitTurns, nil, syscall.EPIPE, base.ExitTurns, nil},
	} {
		e := env("run", "x")
		if c.meets != nil {
			e.Stdout = broken{c.meets}
		}
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := call.deliver(c.code, c.err, "{}\n")
		if got != c.want || !errors.Is(err, c.wantFail) || (err == nil) != (c.wantFail == nil) {
			t.Errorf("%d, %v, and writing meets %v: got %d, %v", c.code, c.err, c.meets, got, err)
		}
	}
}

// Symptom: --json=final printed nothing. Trigger: a signal came while standard input
// was read, or something else failed before the run was started.
func TestOneObjectWhateverFails(t *testing.T) {
	for _, c := range []struct {
		code   int
		err    error
		status string
	}{
		{base.ExitUsage, errNoTask, "failed bad_request"},
		{base.ExitFailed, errors.New("disk"), "failed internal"},
		{base.ExitCancelled, errCancelled, "cancelled "},
	} {
		var out strings.Builder
		e := env("run", "--json=final", "x")
		e.Stdout = &out
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		code, err := call.oneTask(ctx, func(context.Context, worker) (int, error) {
			if c.code == base.ExitCancelled {
				cancel()
			}
			return c.code, c.err
		})
		cancel()
		var f agent.Final
		if e := json.Unmarshal([]byte(out.String()), &f); e != nil || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%v: got %q, %v", c.err, out.String(), e)
		}
		if got := fmt.Sprintf("%s %s", f.Status, f.Code); got != c.status || code != c.code || !errors.Is(err, c.err) {
			t.Errorf("got %s, %d, %v", got, code, err)
		}
	}
}
