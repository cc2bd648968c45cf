package session

import (
	"errors"
	"fmt"
	"testing"

	"alisio/llm"
)

func TestCaused(t *testing.T) {
	full := errors.New("disk full")
	for _, c := range []struct {
		err  error
		want llm.Cause
	}{
		{full, llm.CauseStore},
		{fmt.Errorf("session x: %w", ErrNotFound), llm.CauseBadRequest},
	} {
		got := Caused(c.err)
		if llm.CauseOf(got) != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v: got %v with the cause %s, want %s", c.err, got, llm.CauseOf(got), c.want)
		}
	}
	if got := Caused(nil); got != nil {
		t.Errorf("no error: got %v", got)
	}
}
