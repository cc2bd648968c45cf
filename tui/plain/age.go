package plain

import (
	"fmt"
	"time"
)

// Age writes how long ago something was.
func Age(now, then time.Time) string {
	d := now.Sub(then)
	const day = 24 * time.Hour
	switch {
	case then.IsZero():
		return "?"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 100*day:
		return fmt.Sprintf("%d d", d/day)
	}
	return fmt.Sprintf("%d mo", d/(30*day))
}
