package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// faultEnv makes a process of the test binary the victim of the fault tests; its
// value is a fault in JSON.
const faultEnv = "ALISIO_TEST_FAULT"

// effectEnv makes one that is killed while a plugin's program runs; its value is the
// directory of it all.
const effectEnv = "ALISIO_TEST_EFFECT"

// TestMain is the victim itself when a fault test starts it.
func TestMain(m *testing.M) {
	if s := os.Getenv(faultEnv); s != "" {
		os.Exit(victim(s, os.Stdout, os.Stderr))
	}
	if dir := os.Getenv(effectEnv); dir != "" {
		os.Exit(inTheMiddle(dir, os.Stderr))
	}
	os.Exit(m.Run())
}

// fault says where a victim works and when it dies.
type fault struct {
	Dir string
	// Step is the call of the store, counted before and after each, at which the
	// process is killed; 0: never.
	Step int64
	// Acknowledge goes on in an uncertain session.
	Acknowledge bool
}

const faultRequest = "the-request"

// faultAnswer is the last turn's text.
const faultAnswer = "All of it is done."

// bigText is what the tool big gives: too long for a message.
func bigText() string { return strings.Repeat("0123456789abcde\n", 4000) }

// faultScript reads, writes, runs, reads in a batch, gets a result that is cut,
// and mixes them.
const faultScript = `{"turns":[
	{"text":"I look.","calls":[{"id":"c1","name":"look"}]},
	{"calls":[{"id":"c2","name":"put"}]},
	{"text":"Now a command.","calls":[{"id":"c3","name":"execute"}]},
	{"calls":[{"id":"c4","name":"look"},{"id":"c5","name":"look"}]},
	{"calls":[{"id":"c6","name":"big"}]},
	{"calls":[{"id":"c7","name":"look"},{"id":"c8","name":"put"},{"id":"c9","name":"look"}]},
	{"text":"` + faultAnswer + `","usage":{"input":9,"output":3}}]}`

// byHistory answers a request with the turn that its history has come to, so
// that a run which another process left is answered as a model would.
type byHistory struct{ turns []script.Turn }

func (b byHistory) ID() string   { return "script" }
func (b byHistory) Close() error { return nil }

func (b byHistory) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	done := 0
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			done++
		}
	}
	rest := script.Script{Turns: b.turns[min(done, len(b.turns)):]}
	return rest.Provider("script").Stream(ctx, req)
}

// counted is a tool that leaves one byte in a file of each call, before it
// returns.
type counted struct {
	name   string
	effect plug.Effect
	dir    string
	text   string
}

func (c counted) Spec() plug.ToolSpec {
	return plug.ToolSpec{Name: c.name, Effect: c.effect, Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}
}

func (c counted) Prepare(context.Context, *plug.Call) (plug.Plan, error) {
	return plug.Plan{Effect: c.effect, Title: c.name}, nil
}

func (c counted) Execute(_ context.Context, call *plug.Call, _ plug.Plan) (plug.Result, error) {
	f, err := os.OpenFile(filepath.Join(c.dir, call.CallID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return plug.Result{}, err
	}
	defer f.Close()
	if _, err := f.Write([]byte("x")); err != nil {
		return plug.Result{}, err
	}
	return plug.Text(c.text + call.CallID), nil
}

// faultApp is the application that all processes of a fault test are.
func faultApp(ctx context.Context, dir string, wrap func(*Store) session.Store) (*App, *Store, error) {
	s, err := script.Parse([]byte(faultScript))
	if err != nil {
		return nil, nil, err
	}
	store, err := OpenStore(ctx, faultStore(dir))
	if err != nil {
		return nil, nil, err
	}
	work := filepath.Join(dir, "work")
	var list []plug.Tool
	for _, t := range []counted{
		{name: "look", effect: plug.EffectRead, text: "seen by "},
		{name: "put", effect: plug.EffectWrite, text: "written by "},
		{name: "execute", effect: plug.EffectProcess, text: "run by "},
		{name: "big", effect: plug.EffectRead, text: bigText()},
	} {
		t.dir = filepath.Join(dir, "count")
		list = append(list, t)
	}
	a, err := New(ctx, Options{
		Dir: work, Dirs: config.Dirs{State: filepath.Join(dir, "state")}, Config: config.Default(),
		Policy: perm.Policy{AllowWrite: true, AllowProcess: true}, Tools: list, Store: wrap(store),
		Provider: byHistory{s.Turns}, Model: llm.Model{ID: "toy"},
	})
	return a, store, err
}

func faultStore(dir string) StoreOptions {
	return StoreOptions{Dirs: config.Dirs{State: filepath.Join(dir, "state")}}
}

// victim runs the request, prints each event as it is shown, and is killed at
// its step. On stderr it names each step that it comes to.
func victim(env string, stdout, stderr io.Writer) int {
	var f fault
	if err := json.Unmarshal([]byte(env), &f); err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	ctx := context.Background()
	d := &dying{at: f.Step, log: stderr}
	a, _, err := faultApp(ctx, f.Dir, func(s *Store) session.Store { d.Store = s; return d })
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	out, err := a.Run(ctx, "", "Do it.", RunOptions{
		RequestID: faultRequest, AcknowledgeUncertain: f.Acknowledge,
		OnEvent: func(e plug.Event) {
			line, err := json.Marshal(e)
			if err != nil {
				line = []byte(err.Error())
			}
			stdout.Write(append(line, '\n'))
		},
	})
	if err != nil || out.Status != Completed {
		fmt.Fprintf(stderr, "got %+v, %v\n", out, err)
		return 1
	}
	if err := a.Close(ctx); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stderr, "end", d.n.Load())
	return 0
}

// dying is a store that kills its process at the at-th step. A step is the
// moment before, or after, a call that stores something; the optional methods
// of the store stay.
type dying struct {
	*Store
	at  int64
	n   atomic.Int64
	log io.Writer
}

func (d *dying) step(name string) {
	n := d.n.Add(1)
	fmt.Fprintln(d.log, name)
	if n == d.at {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill() // nothing is run after it
		}
		select {}
	}
}

// around makes one step before and one after what it does.
func (d *dying) around(name string) (after func()) {
	d.step("before " + name)
	return func() { d.step("after " + name) }
}

func (d *dying) Append(ctx context.Context, id, runID string, messages ...llm.Message) error {
	name := "Append"
	for _, m := range messages {
		name += " " + string(m.Role)
	}
	defer d.around(name)()
	return d.Store.Append(ctx, id, runID, messages...)
}

func (d *dying) AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (int64, error) {
	defer d.around("AddEvent " + string(e.Data.EventType()))()
	return d.Store.AddEvent(ctx, e, messages...)
}

func (d *dying) BeginCall(ctx context.Context, c session.Call, events ...plug.Event) ([]int64, error) {
	defer d.around("BeginCall " + c.ID)()
	return d.Store.BeginCall(ctx, c, events...)
}

func (d *dying) EndCall(ctx context.Context, c session.Call, e plug.Event, messages ...llm.Message) (int64, error) {
	defer d.around("EndCall " + c.ID)()
	return d.Store.EndCall(ctx, c, e, messages...)
}

func (d *dying) BeginRun(ctx context.Context, b session.Begin) (session.Run, []int64, error) {
	defer d.around("BeginRun")()
	return d.Store.BeginRun(ctx, b)
}

func (d *dying) EndRun(ctx context.Context, end session.RunEnd, last ...plug.Event) ([]int64, error) {
	defer d.around("EndRun")()
	return d.Store.EndRun(ctx, end, last...)
}

func (d *dying) InterruptRuns(ctx context.Context) (int, error) {
	defer d.around("InterruptRuns")()
	return d.Store.InterruptRuns(ctx)
}

func (d *dying) PutBlob(ctx context.Context, id string, data []byte, mime string, w, h int) (string, error) {
	defer d.around("PutBlob")()
	return d.Store.PutBlob(ctx, id, data, mime, w, h)
}

func (d *dying) Lock(ctx context.Context, id string) (func(), error) {
	defer d.around("Lock")()
	unlock, err := d.Store.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	return func() { defer d.around("unlock")(); unlock() }, nil
}

// counts returns how often each call ran.
func counts(dir string) (map[string]int64, error) {
	list, err := os.ReadDir(filepath.Join(dir, "count"))
	if err != nil {
		return nil, err
	}
	out := make(map[string]int64)
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		out[e.Name()] = info.Size()
	}
	return out, nil
}

// faultDirs makes what a victim needs.
func faultDirs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"work", "state", "count"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
