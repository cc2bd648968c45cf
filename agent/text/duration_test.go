package text

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond:                "300 ms",
		time.Second - 1:                       "999 ms",
		time.Second:                           "1 s",
		1540 * time.Millisecond:               "1.5 s",
		90 * time.Second:                      "90 s",
		2*time.Minute - 10*time.Millisecond:   "2 min",
		125*time.Second + 40*time.Millisecond: "2 min 5 s",
		24 * time.Hour:                        "1440 min",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns: got %q, want %q", d, got, want)
		}
	}
}
