package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// middleApp is the application of the process that is killed and of those after it.
func middleApp(dir string) (*App, *plug.API, error) {
	ctx := context.Background()
	dirs := config.Dirs{State: filepath.Join(dir, "state")}
	store, err := OpenStore(ctx, StoreOptions{Dirs: dirs})
	if err != nil {
		return nil, nil, err
	}
	p, err := script.Open("script", []byte(`{"turns":[{"text":"1"},{"text":"2"},{"text":"3"}]}`))
	if err != nil {
		return nil, nil, err
	}
	var api *plug.API
	a, err := New(ctx, Options{
		Dir: filepath.Join(dir, "work"), Dirs: dirs, Config: config.Default(), Store: store, Provider: p, Model: llm.Model{ID: "toy"},
		Policy: perm.Policy{AllowProcess: true}, Plugins: []plug.Plugin{plugged("toy", &api, nil)},
	})
	return a, api, err
}

// inTheMiddle has one child that is queued and one that has ended, and waits for a
// program of a plugin, which tells of itself through a FIFO.
func inTheMiddle(dir string, stderr io.Writer) int {
	ctx := context.Background()
	a, api, err := middleApp(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	out, err := a.Run(ctx, "", "go", RunOptions{})
	for _, id := range []string{childQueued, childEnded} {
		if err == nil {
			_, err = api.Sessions.Spawn(ctx, plug.ChildSpec{ID: id, Parent: out.SessionID})
		}
	}
	if err == nil {
		_, err = api.Sessions.Run(ctx, childEnded, "work")
	}
	if err == nil {
		_, err = api.Exec(ctx, out.SessionID, plug.Command{Shell: "echo $$ " + out.SessionID + " >begun; read line <goes"})
	}
	fmt.Fprintln(stderr, "it was not killed:", err)
	return 1
}

const (
	childQueued = "11111111-1111-4111-8111-111111111111"
	childEnded  = "22222222-2222-4222-8222-222222222222"
)

// fifos makes what programs of a test tell of themselves by, and wait at.
func fifos(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"begun", "goes"} {
		if out, err := exec.Command("mkfifo", filepath.Join(dir, "work", name)).CombinedOutput(); err != nil {
			t.Skipf("this system has no FIFOs: %v: %s", err, out)
		}
	}
}

// Nobody knows what a plugin's program has done whose process was killed: the session
// says so, and is not used before a person has looked.
func TestAKilledPluginCallLeavesAnUncertainSession(t *testing.T) {
	dir := realPath(t.TempDir())
	fifos(t, dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), effectEnv+"="+dir)
	var told strings.Builder
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun, over := filepath.Join(dir, "work", "begun"), make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait()
		if f, err := os.OpenFile(begun, os.O_RDWR, 0); err == nil { // so that nobody waits for ever
			f.Close()
		}
	}()
	line, err := os.ReadFile(begun) // waits for the program
	var pid int
	var id string
	if _, scanned := fmt.Sscan(string(line), &pid, &id); err != nil || scanned != nil {
		t.Fatalf("got %q, %v, %s", line, err, told.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-over
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // the program itself is nobody's now
	}

	a, api, err := middleApp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	if q, e := status(t, api, childQueued), status(t, api, childEnded); q != plug.ChildInterrupted || e != plug.ChildCompleted {
		t.Errorf("the child that was queued is %s, the other %s", q, e)
	}
	ctx := context.Background()
	if _, err := a.Run(ctx, id, "go", RunOptions{}); llm.CauseOf(err) != llm.CauseUncertain || !strings.Contains(err.Error(), "toy/exec (plugin-") {
		t.Fatalf("got %v", err)
	}
	for _, acknowledge := range []bool{false, true} {
		calls, err := a.Recover(ctx, id, acknowledge)
		if err != nil || len(calls) != 1 || calls[0].Name != "toy/exec" || calls[0].Effect != plug.EffectProcess {
			t.Errorf("got %+v, %v", calls, err)
		}
	}
	if out, err := a.Run(ctx, id, "go", RunOptions{}); err != nil || out.Status != Completed {
		t.Errorf("got %+v, %v", out, err)
	}
	// The child goes on when somebody asks, not before.
	if out, err := api.Sessions.Run(ctx, childQueued, "go"); err != nil || out.Status != plug.ChildCompleted {
		t.Errorf("got %+v, %v", out, err)
	}
}

// A plugin's program that runs is no dead one's: a prompt goes on beside it, and another
// process stays out of the session.
func TestASessionGoesOnBesideAPluginsProgram(t *testing.T) {
	dir := realPath(t.TempDir())
	fifos(t, dir)
	a, api, err := middleApp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	ctx := context.Background()
	id := went(t, a, "", "go", nil).SessionID
	ended := make(chan error, 1)
	go func() {
		exit, err := api.Exec(ctx, id, plug.Command{Shell: "echo $$ >begun; read line <goes; exit 7"})
		if err == nil && exit.Code != 7 {
			err = fmt.Errorf("got %+v", exit)
		}
		ended <- err
	}()
	if _, err := os.ReadFile(filepath.Join(dir, "work", "begun")); err != nil {
		t.Fatal(err)
	}
	if out := went(t, a, id, "go", nil); out.Text != "2" {
		t.Errorf("got %+v", out)
	}
	if calls, err := a.Recover(ctx, id, true); err != nil || len(calls) != 0 {
		t.Errorf("got %+v, %v", calls, err)
	}
	other, _, err := middleApp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx)
	busy := new(session.BusyError)
	if _, err := other.Run(ctx, id, "go", RunOptions{}); !errors.As(err, &busy) || busy.Session != id {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "work", "goes"), []byte("on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if out, err := other.Run(ctx, id, "go", RunOptions{}); err != nil || out.Status != Completed {
		t.Errorf("got %+v, %v", out, err)
	}
}
