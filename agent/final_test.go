package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"alisio/agent/perm"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

func TestFinalIsTheObjectOfTheSpec(t *testing.T) {
	out := func(o run.Outcome) Final {
		o.RunID = "r"
		return Outcome{SessionID: "s", Outcome: o}.Final()
	}
	for _, c := range []struct {
		name string
		f    Final
		want string
	}{
		{"completed", out(run.Outcome{Status: Completed, Text: "a\n\"b\" \xff", Usage: llm.Usage{Input: 12, Output: 3, CachedInput: 4}}),
			`{"sessionId":"s","runId":"r","status":"completed","text":"a\n\"b\" \ufffd","usage":{"input":12,"output":3,"cachedInput":4},"denied":0}`},
		{"no usage reported", out(run.Outcome{Status: Completed, Text: "a", Usage: llm.Usage{Input: 812, Output: 40}, Guessed: true}),
			`{"sessionId":"s","runId":"r","status":"completed","text":"a","denied":0}`},
		{"denied", out(run.Outcome{Status: Completed, Code: llm.CausePermission, Denied: 2, Text: "I may not."}),
			`{"sessionId":"s","runId":"r","status":"completed","code":"permission","text":"I may not.","usage":{"input":0,"output":0},"denied":2}`},
		{"turns", out(run.Outcome{Status: TurnsExceeded, Code: llm.CauseTurns}),
			`{"sessionId":"s","runId":"r","status":"turns_exceeded","code":"turns","text":"","usage":{"input":0,"output":0},"denied":0}`},
		{"failed", out(run.Outcome{Status: Failed, Code: llm.CauseOutputSchema, Err: llm.Errorf(llm.CauseOutputSchema, "no"), Text: "bad"}),
			`{"sessionId":"s","runId":"r","status":"failed","code":"output_schema","text":"bad","usage":{"input":0,"output":0},"denied":0}`},
		{"cancelled", out(run.Outcome{Status: Cancelled}),
			`{"sessionId":"s","runId":"r","status":"cancelled","text":"","usage":{"input":0,"output":0},"denied":0}`},
		{"no key", NotStarted("", llm.Errorf(llm.CauseAuth, "no key")),
			`{"sessionId":"","runId":"","status":"failed","code":"auth","text":"","usage":{"input":0,"output":0},"denied":0}`},
		{"uncertain", NotStarted("s", fmt.Errorf("run: %w", llm.Errorf(llm.CauseUncertain, "%w", &session.UncertainError{}))),
			`{"sessionId":"s","runId":"","status":"failed","code":"uncertain","text":"","usage":{"input":0,"output":0},"denied":0}`},
		{"any error", NotStarted("", errors.New("oh")),
			`{"sessionId":"","runId":"","status":"failed","code":"internal","text":"","usage":{"input":0,"output":0},"denied":0}`},
		{"stopped before", NotStarted("s", fmt.Errorf("wait: %w", context.Canceled)),
			`{"sessionId":"s","runId":"","status":"cancelled","text":"","usage":{"input":0,"output":0},"denied":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.f)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			var back Final
			if err := llm.DecodeStrict(got, &back); err != nil || back.Status != c.f.Status || (back.Usage == nil) != (c.f.Usage == nil) || back.Usage != nil && *back.Usage != *c.f.Usage {
				t.Errorf("read again: %+v, %v", back, err)
			}
		})
	}
}

func TestFinalOfRealRuns(t *testing.T) {
	a := app(t, `{"turns":[
		{"calls":[{"name":"write_file","arguments":{"path":"a","content":"x","expectedHash":null}}],"usage":{"input":10,"output":2}},
		{"text":"I may not.","usage":{"input":20,"output":3}}]}`, Options{Policy: perm.Policy{ReadOnly: true}})
	out, err := a.Run(context.Background(), "", "go", RunOptions{RunID: "mine"})
	want := Final{SessionID: out.SessionID, RunID: "mine", Status: Completed, Code: llm.CausePermission, Text: "I may not.", Denied: 1}
	got := out.Final()
	if u := got.Usage; u == nil || *u != (plug.Usage{Input: 30, Output: 5}) {
		t.Errorf("usage: got %+v", u)
	}
	if got.Usage = nil; err != nil || got != want || got.SessionID == "" {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	_, err = a.Run(context.Background(), "none", "go", RunOptions{})
	if got := NotStarted("none", err); got.Code != llm.CauseBadRequest || got.Status != Failed {
		t.Errorf("got %+v of %v", got, err)
	}
}
