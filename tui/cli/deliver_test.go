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
		{exitDone, nil, nil, exitDone, nil},
		{exitDone, nil, syscall.ENOSPC, exitFailed, syscall.ENOSPC},
		{exitDone, nil, syscall.EPIPE, exitCancelled, nil},
		{exitDone, nil, io.ErrClosedPipe, exitCancelled, nil},
		{exitProvider, failed, syscall.ENOSPC, exitProvider, failed},
		{exitProvider, failed, syscall.EPIPE, exitProvider, failed},
		{exitTurns, nil, syscall.ENOSPC, exitTurns, syscall.ENOSPC},
		{exitTurns, nil, syscall.EPIPE, exitTurns, nil},
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
		{exitUsage, errNoTask, "failed bad_request"},
		{exitFailed, errors.New("disk"), "failed internal"},
		{exitCancelled, errCancelled, "cancelled "},
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
			if c.code == exitCancelled {
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
