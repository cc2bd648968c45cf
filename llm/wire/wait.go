package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds hints, so that none overflows; whether to wait at all is the
// runner's decision.
const maxWait = 366 * 24 * time.Hour

// Wait returns how long a server asks to wait, zero when it does not say. The
// first of these that gives a positive time counts: retry-after-ms,
// Retry-After (seconds or date), the reset headers whose remaining count is 0,
// and a hint in text. limited: a rate limit is why the server refused. The reset
// headers stand in every answer, and of another fault they say nothing.
func Wait(h http.Header, text string, limited bool, now time.Time) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		if d := span(ms, time.Millisecond); d > 0 {
			return d
		}
	}
	if v := h.Get("Retry-After"); v != "" {
		if d := retryAfter(v, now); d > 0 {
			return d
		}
	}
	if limited {
		if d := resets(h, now); d > 0 {
			return d
		}
	}
	return textWait(text)
}

// retryAfter reads an HTTP date, or seconds and the other forms of reset, which some
// servers use here too.
func retryAfter(v string, now time.Time) time.Duration {
	if at, err := http.ParseTime(v); err == nil {
		return until(at, now)
	}
	return reset(v, now)
}

// resets is the longest wait of the limits that are used up; those with
// something left do not bind.
func resets(h http.Header, now time.Time) time.Duration {
	var longest time.Duration
	for _, limit := range []struct{ remaining, reset string }{
		{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
		{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
		{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
		{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
		{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	} {
		if strings.TrimSpace(h.Get(limit.remaining)) == "0" {
			longest = max(longest, reset(h.Get(limit.reset), now))
		}
	}
	return longest
}

// reset reads a reset header: a Go duration, an RFC 3339 time, epoch
// milliseconds, epoch seconds, or seconds from now.
func reset(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, ok := number(v); ok {
		switch {
		case n > 1e12:
			return until(time.UnixMilli(int64(min(n, 1e15))), now)
		case n > 1e9:
			return until(time.Unix(int64(n), 0), now)
		}
		return span(n, time.Second)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return max(0, min(d, maxWait))
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return until(at, now)
	}
	return 0
}

// textWait finds "try again in 41.724s", "retry after 2 minutes" or
// `"retryDelay":"22s"` in lower-case text.
func textWait(text string) time.Duration {
	for _, mark := range []string{
		"try again in", "try again after", "retry in", "retry after", "retry_after", "retry-after", "retrydelay", "please wait",
		"reset in", "resets in", "reset after", "resets_in_seconds",
	} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			if d := spoken(strings.TrimLeft(after, ` "':=`)); d > 0 {
				return d
			}
			rest = after
		}
	}
	return 0
}

// spoken reads a duration at the start of s, such as "7m12.5s", "20 seconds" or
// "20"; zero when there is none.
func spoken(s string) time.Duration {
	var sum time.Duration
	for {
		s = strings.TrimLeft(s, " ")
		digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
		n, ok := number(s[:digits])
		if !ok {
			return min(sum, maxWait)
		}
		s = strings.TrimLeft(s[digits:], " ")
		letters := len(s) - len(strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyz"))
		u := unit(s[:letters])
		if u == 0 {
			return min(sum, maxWait)
		}
		sum = min(sum+span(n, u), maxWait)
		s = s[letters:]
	}
}

// unit is the length of a unit, zero for a word that is none. A number alone
// means seconds.
func unit(name string) time.Duration {
	switch name {
	case "ms", "millisecond", "milliseconds":
		return time.Millisecond
	case "", "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// number reads a finite number.
func number(v string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// span is n units, not below zero and not above maxWait.
func span(n float64, unit time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxWait)))
}

// until is the time from now to at, zero when that has passed.
func until(at, now time.Time) time.Duration {
	return max(0, min(at.Sub(now), maxWait))
}
