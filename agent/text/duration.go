package text

import (
	"fmt"
	"strconv"
	"time"
)

// Duration writes a length of time as people say it: 300 ms, 1.5 s, 90 s, 2 min,
// 2 min 5 s. From a second on it is rounded to tenths, from two minutes on to seconds.
func Duration(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	if d = d.Round(100 * time.Millisecond); d < 2*time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	d = d.Round(time.Second)
	minutes, seconds := d/time.Minute, d%time.Minute/time.Second
	if seconds == 0 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d min %d s", minutes, seconds)
}
