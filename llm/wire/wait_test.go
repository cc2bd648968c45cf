package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWait(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name, header, text string
		want               time.Duration
	}{
		{"nothing", "", "", 0},
		{"milliseconds", "Retry-After-Ms: 1500.5", "", 1500*time.Millisecond + 500*time.Microsecond},
		{"milliseconds first", "Retry-After-Ms: 20\nRetry-After: 9", "", 20 * time.Millisecond},
		{"useless milliseconds", "Retry-After-Ms: 0\nRetry-After: 9", "", 9 * time.Second},
		{"seconds", "Retry-After: 3", "", 3 * time.Second},
		{"decimals", "Retry-After: 0.5", "", 500 * time.Millisecond},
		{"date", "Retry-After: Sun, 01 Mar 2026 12:00:30 GMT", "", 30 * time.Second},
		{"past date", "Retry-After: Sun, 01 Mar 2026 11:00:30 GMT", "", 0},
		{"negative", "Retry-After: -3", "", 0},
		{"not a number", "Retry-After: NaN", "", 0},
		{"without bound", "Retry-After: 1e300", "", maxWait},
		{"days", "Retry-After: 1382400", "", 16 * 24 * time.Hour},
		{"blanks", "Retry-After:  3 ", "", 3 * time.Second},
		{"with a unit", "Retry-After: 30s", "", 30 * time.Second},
		{"a date of another form", "Retry-After: 2026-03-01T12:00:20Z", "", 20 * time.Second},
		{"an epoch", "Retry-After: 1772366404", "", 4 * time.Second},
		{"a date in a hundred years", "Retry-After: Sun, 01 Mar 2126 12:00:30 GMT", "", maxWait},
		{"past date, then text", "Retry-After: Sun, 01 Mar 2026 11:00:30 GMT", "try again in 2s", 2 * time.Second},
		{"negative, then text", "Retry-After: -1", "try again in 2s", 2 * time.Second},
		{"header before text", "Retry-After: 3", "try again in 9s", 3 * time.Second},
		{"header before reset", "Retry-After: 3\nX-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 12", "", 3 * time.Second},
		{"nonsense, then text", "Retry-After: soon", "try again in 2s", 2 * time.Second},
		{"OpenAI reset", "X-Ratelimit-Remaining-Tokens: 0\nX-Ratelimit-Reset-Tokens: 6m0s\nX-Ratelimit-Remaining-Requests: 3\nX-Ratelimit-Reset-Requests: 9h", "", 6 * time.Minute},
		{"Azure reset", "X-Ratelimit-Remaining-Requests: 0\nX-Ratelimit-Reset-Requests: 7", "", 7 * time.Second},
		{"Azure unknown", "X-Ratelimit-Remaining-Requests: 0\nX-Ratelimit-Reset-Requests: -1", "", 0},
		{"Anthropic reset", "Anthropic-Ratelimit-Requests-Remaining: 0\nAnthropic-Ratelimit-Requests-Reset: 2026-03-01T12:00:10Z", "", 10 * time.Second},
		{"epoch milliseconds", "X-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1772366405000", "", 5 * time.Second},
		{"epoch seconds", "X-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1772366408", "", 8 * time.Second},
		{"delta seconds", "X-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 12", "", 12 * time.Second},
		{"huge epoch", "X-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1e300", "", maxWait},
		{"something remains", "X-Ratelimit-Remaining: 1\nX-Ratelimit-Reset: 12", "", 0},
		{"text", "", "please try again in 41.724s.", 41724 * time.Millisecond},
		{"text in milliseconds", "", "try again in 120ms", 120 * time.Millisecond},
		{"text in parts", "", "try again in 7m12.5s. visit", 7*time.Minute + 12500*time.Millisecond},
		{"text in words", "", "retry after 2 minutes", 2 * time.Minute},
		{"text without unit", "", `"retry_after": 20,`, 20 * time.Second},
		{"Google detail", "", `"retrydelay":"22s"`, 22 * time.Second},
		{"Google text", "", "your quota will reset after 34s.", 34 * time.Second},
		{"seconds of a key", "", `"resets_in_seconds":90`, 90 * time.Second},
		{"key with a hyphen", "", `"retry-after": "5"`, 5 * time.Second},
		{"second mark counts", "", "try again in a while; try again in 3s", 3 * time.Second},
		{"unit that is none", "", "try again in 3 requests", 0},
		{"endless text", "", "try again in " + strings.Repeat("99999999999d", 1000), maxWait},
	}
	for _, c := range cases {
		h := http.Header{}
		for line := range strings.Lines(c.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			h.Set(name, value)
		}
		if got := Wait(h, c.text, true, now); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Symptom: all retries fall into the cool-down. Trigger: 429 with Retry-After
// as seconds or date, or retry-after-ms; the error must carry the wait.
func TestC034WaitOfThe429(t *testing.T) {
	date := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	for _, h := range [][2]string{{"Retry-After", "3"}, {"Retry-After", date}, {"Retry-After-Ms", "3000"}} {
		e := (Server{}).Status(answer(429, "", h[0], h[1]))
		if e.RetryAfter < 2*time.Second || e.RetryAfter > time.Minute {
			t.Errorf("%v: got %v", h, e.RetryAfter)
		}
	}
}

// Symptom: a plain 500, or a wrong key, "asks to wait". Trigger: the headers of a used-up
// limit, which stand in every answer.
func TestResetHeadersCountForARateLimitAlone(t *testing.T) {
	for status, want := range map[int]time.Duration{429: 12 * time.Second, 400: 0, 401: 0, 500: 0, 503: 0, 529: 0} {
		e := (Server{}).Status(answer(status, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "12"))
		if e.RetryAfter != want {
			t.Errorf("%d: got %v, want %v", status, e.RetryAfter, want)
		}
		e = (Server{}).Status(answer(status, "", "Retry-After", "7"))
		if e.RetryAfter != 7*time.Second {
			t.Errorf("%d with Retry-After: got %v", status, e.RetryAfter)
		}
	}
}
