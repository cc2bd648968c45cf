package main

import (
	"bytes"
	"context"
	"os"
	"testing"
)

// The short form of the sessions in bad weather (C048, C050, C053, C054 and all of
// their kind). Symptom: one bad answer, one broken stream or one stop at the wrong moment
// leaves a history that no server takes any more, or runs a tool twice. Trigger: random
// answers, ends of streams, statuses, silences, signals and kills.
func TestC048C050C053C054SessionsSurviveTheWeather(t *testing.T) {
	t.Parallel()
	c := &weather{binary: os.Getenv(binaryEnv), dir: t.TempDir(), n: 6, seed: 3, workers: 2}
	var out bytes.Buffer
	if err := c.all(context.Background(), &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if c.tally.ran == 0 || c.tally.events["stream_recovery"] == 0 || c.tally.killed+c.tally.stopped == 0 {
		t.Errorf("the weather was too good:\n%s", out.String())
	}
}

func TestOnceAndCommands(t *testing.T) {
	call := func(id, mark string) string {
		return `{"kind":"message","body":{"role":"assistant","calls":[{"id":"` + id + `","name":"shell","arguments":"{\"command\":\"echo ` + mark + ` >> count\"}"}]}}`
	}
	if err := messages(t, call("a", "m1"), result("a"), call("b", "m2")).once(); err != nil {
		t.Error(err)
	}
	if messages(t, call("a", "m1"), result("a"), call("a", "m2")).once() == nil {
		t.Error("an id is used twice, and nobody complains")
	}
	got := messages(t, call("a", "m1"), result("a"), call("b", "m2")).commands()
	if said, ok := got["m1"]; len(got) != 1 || !ok || said.text() != "r" {
		t.Errorf("got %v, want the result of m1 alone", got)
	}
}
