package main

import (
	"bytes"
	"context"
	"os"
	"testing"
)

// The short form of the campaign that the program runs.
func TestKilledRunsLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	c := &campaign{binary: os.Getenv(binaryEnv), dir: t.TempDir(), n: 60, seed: 7, workers: 2}
	var out bytes.Buffer
	if err := c.all(context.Background(), &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if c.tally.continued == 0 || c.tally.uncertain+c.tally.recovery == 0 {
		t.Errorf("the kills did not hit anything:\n%s", out.String())
	}
}
