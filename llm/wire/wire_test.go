package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"alisio/llm"
)

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// One row a shape of error body that servers are known to send.
var statusCases = []struct {
	name   string
	status int
	body   string
	cause  llm.Cause
	text   string // what follows "h answered N"
}{
	{"OpenAI", 401, `{"error":{"message":"Incorrect API key provided: sk-secret.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
		llm.CauseAuth, ": Incorrect API key provided: [redacted]"},
	{"vLLM, code a number", 400, `{"error":{"message":"bad tool","type":"BadRequestError","param":null,"code":400}}`, llm.CauseBadRequest, ": bad tool"},
	{"vLLM, old", 404, `{"object":"error","message":"The model does not exist.","type":"NotFoundError","code":404}`, llm.CauseBadRequest, ": The model does not exist"},
	{"llama.cpp loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.CauseServer, ": Loading model"},
	{"Ollama native", 404, `{"error":"model \"x\" not found, try pulling it first"}`, llm.CauseBadRequest, `: model "x" not found, try pulling it first`},
	{"OpenRouter with upstream", 502, `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"no capacity\"}}","provider_name":"P"}}}`,
		llm.CauseServer, ": Provider returned error: no capacity"},
	{"OpenRouter credit", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, llm.CauseQuota, ": Insufficient credits"},
	{"OpenRouter moderation", 403, `{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged"}}`,
		llm.CauseFiltered, ": Your chosen model requires moderation and your input was flagged"},
	{"forbidden", 403, `{"error":{"message":"no access to this model"}}`, llm.CauseAuth, ": no access to this model"},
	{"Gemini array", 400, `[{"error":{"code":400,"message":"Unknown name","status":"INVALID_ARGUMENT"}}]`, llm.CauseBadRequest, ": Unknown name"},
	{"Gemini key", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`,
		llm.CauseAuth, ": API key not valid. Please pass a valid API key"},
	{"Mistral", 400, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`, llm.CauseBadRequest, ": Invalid model: x"},
	{"validation list", 422, `{"detail":[{"loc":["body","messages",0,"role"],"msg":"field required","type":"value_error"},{"loc":["body"],"msg":"extra"}]}`,
		llm.CauseBadRequest, ": body.messages.0.role: field required; body: extra"},
	{"message an object", 422, `{"object":"error","message":{"detail":[{"msg":"Extra inputs are not permitted","loc":["body","store"]}]}}`,
		llm.CauseBadRequest, ": body.store: Extra inputs are not permitted"},
	{"Azure filter", 400, `{"error":{"code":"content_filter","message":"The response was filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
		llm.CauseFiltered, ": The response was filtered"},
	{"HTML", 502, "<html><head><title>502 Bad\nGateway</title></head><body>nginx</body></html>", llm.CauseServer, ": 502 Bad Gateway (an HTML page)"},
	{"HTML without title", 404, "<!doctype html><p>x", llm.CauseBadRequest, ": an HTML page"},
	{"plain text", 500, "Internal\tServer Error\r\n", llm.CauseServer, ": Internal Server Error"},
	{"empty", 500, "", llm.CauseServer, " (internal server error) without saying why"},
	{"JSON without meaning", 400, "{}", llm.CauseBadRequest, " (bad request) without saying why"},
	{"only a type", 400, `{"error":{"type":"invalid_request_error"}}`, llm.CauseBadRequest, ": invalid_request_error"},
	{"broken JSON", 400, `{"error":`, llm.CauseBadRequest, `: {"error":`},
	{"unknown status", 799, "", llm.CauseServer, " (unknown status) without saying why"},
	{"redirect", 302, "", llm.CauseBadRequest, " (found) without saying why"},
	{"time-out", 408, `{"error":"late"}`, llm.CauseServer, ": late"},
	{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.CauseServer, ": Overloaded"},
	{"deep nesting", 400, strings.Repeat(`{"error":`, 200) + `"deep"` + strings.Repeat("}", 200), llm.CauseBadRequest, " (bad request) without saying why"},

	{"rate limit", 429, `{"error":{"message":"Rate limit reached for tokens per min","type":"tokens","code":"rate_limit_exceeded"}}`,
		llm.CauseRateLimited, ": Rate limit reached for tokens per min"},
	{"too many tokens is no overflow at 429", 429, `{"message":"Too many tokens, please wait before trying again."}`,
		llm.CauseRateLimited, ": Too many tokens, please wait before trying again"},
	{"quota by text", 429, `{"error":{"message":"Your monthly limit is reached"}}`, llm.CauseQuota, ": Your monthly limit is reached"},
	{"Gemini minute quota", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"22s"}]}}]`,
		llm.CauseRateLimited, ": You exceeded your current quota, please check your plan and billing details"},
}

func TestStatus(t *testing.T) {
	s := Server{Host: "h", Key: "sk-secret"}
	for _, c := range statusCases {
		e := s.Status(answer(c.status, c.body))
		got := strings.TrimPrefix(e.Message, "h answered "+strconv.Itoa(c.status))
		if e.Cause != c.cause || got != c.text || e.Status != c.status {
			t.Errorf("%s: got %s, status %d, %q, want %s, %q", c.name, e.Cause, e.Status, got, c.cause, c.text)
		}
	}
}

// Symptom: vLLM's wording for a full context matched none of the known
// patterns. Trigger: 400 with "This model's maximum context length is …".
func TestC038OverflowOfVLLM(t *testing.T) {
	body := `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 0 output tokens and your prompt contains at least 4097 input tokens","type":"BadRequestError","code":400}}`
	if got := (Server{Host: "h"}).Status(answer(400, body)).Cause; got != llm.CauseContextLength {
		t.Errorf("got %s", got)
	}
}

// Symptom: Ollama's and llama.cpp's overflows were not recognised. Trigger: 400
// with their sentences; every other known wording.
func TestC039OverflowTable(t *testing.T) {
	for _, text := range []string{
		"prompt too long; exceeded max context length by 12 tokens",
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
		"Prompt is too long: 213000 tokens", "Your input exceeds the context window of this model",
		"This model's maximum prompt length is 131072", "Please reduce the length of the messages or completion",
		"The number of tokens is greater than the context length", "The input token count (9) exceeds the maximum number of tokens allowed (8)",
		"Prompt contains 9 tokens, too large for model with 8 maximum", "Your request exceeded model token limit: 8",
		"invalid params, context window exceeds limit", "prompt token count of 9 exceeds the limit of 8", "Too many tokens in the prompt",
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
		"Input is too long for requested model.", "Prompt exceeds max length", "Context size has been exceeded.",
		"Requested tokens (600) exceed context window of 512", "The input (8000 tokens) is longer than the model's context length (4096 tokens).",
		"Requested token count exceeds the model's maximum context length of 4096 tokens.", "Range of input length should be [1, 30720]",
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
		"Input validation error: `inputs` must have less than 1024 tokens. Given: 1500", "the input length exceeds the context length",
		"the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", "context window overflow",
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error", "code": 400}})
		for _, status := range []int{400, 413, 500} {
			if got := (Server{}).Status(answer(status, string(body))).Cause; got != llm.CauseContextLength {
				t.Errorf("%d %q: got %s", status, text, got)
			}
		}
		if got := (Server{}).Status(answer(429, string(body))).Cause; got == llm.CauseContextLength {
			t.Errorf("429 %q: got %s", text, got)
		}
	}
	for _, text := range []string{
		"Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
		"max_tokens is too large: 20000. This model supports at most 4096 completion tokens", "tools exceed the maximum of 128",
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error"}})
		if got := (Server{}).Status(answer(400, string(body))).Cause; got != llm.CauseBadRequest {
			t.Errorf("%q: got %s", text, got)
		}
	}
	for _, word := range []string{"context_length_exceeded", "exceed_context_size_error"} {
		if got := (Server{}).InBand([]byte(`{"code":"` + word + `","message":"no"}`)).Cause; got != llm.CauseContextLength {
			t.Errorf("%s: got %s", word, got)
		}
	}
	for _, status := range []int{400, 413} {
		if got := (Server{}).Status(answer(status, "")).Cause; got != llm.CauseContextLength {
			t.Errorf("%d without a body: got %s", status, got)
		}
	}
}

// Symptom: retries obey a Retry-After of days. Trigger: 429 with
// "Retry-After: 1382400" and a monthly limit. The wait is told, the cause is
// one that nobody repeats.
func TestC042RetryAfterOfDays(t *testing.T) {
	e := (Server{Host: "h"}).Status(answer(429, `{"error":{"message":"monthly limit reached"}}`, "Retry-After", "1382400"))
	if e.Cause != llm.CauseQuota || e.RetryAfter != 16*24*time.Hour {
		t.Errorf("got %s, %v", e.Cause, e.RetryAfter)
	}
}

// Symptom: a 429 for a used-up quota is retried. Trigger: code
// insufficient_quota.
func TestC043ExhaustedQuota(t *testing.T) {
	e := (Server{Host: "h"}).Status(answer(429, `{"error":{"code":"insufficient_quota","message":"quota has been exhausted. The quota will reset at 09:00"}}`, "Retry-After", "1"))
	if e.Cause != llm.CauseQuota || !strings.Contains(e.Message, "reset at 09:00") || e.Hint == "" {
		t.Errorf("got %+v", e)
	}
}

func TestInBand(t *testing.T) {
	cases := []struct {
		name, payload string
		cause         llm.Cause
		status        int
		text          string
	}{
		{"code as a status", `{"message":"upstream overloaded","code":502}`, llm.CauseServer, 502, ": upstream overloaded"},
		{"code as text", `{"message":"slow down","code":"429"}`, llm.CauseRateLimited, 429, ": slow down"},
		{"type", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.CauseServer, 0, ": Overloaded"},
		{"rate limit by type", `{"type":"rate_limit_error","message":"slow"}`, llm.CauseRateLimited, 0, ": slow"},
		{"key", `{"type":"authentication_error","message":"who"}`, llm.CauseAuth, 0, ": who"},
		{"bad request", `{"type":"invalid_request_error","message":"no"}`, llm.CauseBadRequest, 0, ": no"},
		{"general type, precise code", `{"type":"invalid_request_error","code":"context_length_exceeded","message":"no"}`, llm.CauseContextLength, 0, ": no"},
		{"no type", `{"message":"capacity"}`, llm.CauseServer, 0, ": capacity"},
		{"text", `"boom"`, llm.CauseServer, 0, ": boom"},
		{"no JSON", `boom`, llm.CauseServer, 0, ": boom"},
		{"nothing", ``, llm.CauseStream, 0, " without saying which"},
		{"empty object", `{}`, llm.CauseStream, 0, " without saying which"},
		{"list in a router's header", `{"code":429,"message":"x","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"0"}}}`, llm.CauseRateLimited, 429, ": x"},
	}
	for _, c := range cases {
		e := (Server{Host: "h"}).InBand([]byte(c.payload))
		if got := strings.TrimPrefix(e.Message, "h reported an error"); e.Cause != c.cause || e.Status != c.status || got != c.text {
			t.Errorf("%s: got %s, %d, %q, want %s, %d, %q", c.name, e.Cause, e.Status, got, c.cause, c.status, c.text)
		}
	}
}

func TestCutOff(t *testing.T) {
	for args, want := range map[string][2]bool{ // in a whole answer, in one that was cut
		`{}`: {}, `{"a":1}`: {}, `{"a":"x`: {true, true}, `{`: {true, true}, `{"a":1`: {true, true},
		`{a:1}`: {false, true}, `{"a":1}}`: {false, true}, `{"a":01}`: {false, true},
	} {
		if got := [2]bool{CutOff(args, false), CutOff(args, true)}; got != want {
			t.Errorf("%s: got %v, want %v", args, got, want)
		}
	}
}

func TestHints(t *testing.T) {
	for status, want := range map[int]string{401: "API key", 403: "API key", 402: "credit", 404: "--model", 405: "base URL", 429: "wait", 413: "smaller task"} {
		e := (Server{Key: "sk-12345"}).Status(answer(status, ""))
		if !strings.Contains(e.Hint, want) {
			t.Errorf("%d: got hint %q, want one with %q", status, e.Hint, want)
		}
	}
	if e := (Server{}).Status(answer(401, "")); !strings.Contains(e.Hint, "no key was sent") {
		t.Errorf("without a key: got hint %q", e.Hint)
	}
}

func TestBodyIsBounded(t *testing.T) {
	var read int
	resp := answer(500, "")
	resp.Body = io.NopCloser(reads(func(b []byte) (int, error) {
		read += len(b)
		for i := range b {
			b[i] = 'x'
		}
		return len(b), nil
	}))
	e := (Server{Host: "h"}).Status(resp)
	if read > 2*maxBody || len(e.Message) > 2*maxText {
		t.Errorf("read %d bytes, message of %d", read, len(e.Message))
	}
}

type reads func([]byte) (int, error)

func (f reads) Read(b []byte) (int, error) { return f(b) }

func TestClean(t *testing.T) {
	s := Server{Key: " sk-1234\n"}
	for in, want := range map[string]string{
		"a\r\n b\tc ":                       "a b c",
		"\x1b[31mred\x1b[0m\x07":            "[31mred[0m",
		"a\u202eb\u200bc\u0085d\u2028e":     "abc d e",
		"bad \xff byte":                     "bad \uFFFD byte",
		"key sk-1234.":                      "key [redacted]",
		"key sk\x00-12\u200b34 and sk-1234": "key [redacted] and [redacted]",
		strings.Repeat("ä", 500):            strings.Repeat("ä", maxText-1) + "…",
		"":                                  "",
	} {
		if got := s.Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got, want := (Server{Key: "no"}).Clean("no key"), "no key"; got != want {
		t.Errorf("short key: got %q, want %q", got, want)
	}
}

// Symptom: the token of a header stood in an error. Trigger: the server repeats it
// without its scheme, or the value holds two blanks.
func TestCleanRedactsPartsOfHeaders(t *testing.T) {
	e := NewEndpoint("http://h/v1", "", nil)
	e.SetHeaders(map[string]string{"X-A": "Bearer gwtok-1234567890-abcdefgh", "X-B": "one  two  three"})
	for in, want := range map[string]string{
		"token gwtok-1234567890-abcdefgh is wrong": "token [redacted] is wrong",
		"not Bearer gwtok-1234567890-abcdefgh":     "not [redacted]",
		"a one  two  three b":                      "a [redacted] b",
		"a one two three b":                        "a [redacted] b",
		"a two  three b":                           "a [redacted] b",
	} {
		if got := e.Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// What is left out of a text must not put a cut into a key that stands behind
// it: the cut comes when the key is gone.
func TestCleanRedactsBeforeItCuts(t *testing.T) {
	s := Server{Host: "h", Key: "sk-1234567890"}
	for _, size := range []int{6400, maxBody} {
		for _, left := range []int{5, len(s.Key) - 1} { // bytes of the key before the old cut
			text := strings.Repeat("\x00", size-left-4) + "key " + s.Key + " is wrong"
			if got := s.Clean(text); !strings.HasPrefix(got, "key [redacted]") {
				t.Errorf("%d bytes, %d of the key: got %q", size, left, got)
			}
			if got := s.Status(answer(500, text)).Message; !strings.HasPrefix(got, "h answered 500: key [redacted]") {
				t.Errorf("%d bytes of body, %d of the key: got %q", size, left, got)
			}
		}
	}
}

func FuzzStatus(f *testing.F) {
	for _, c := range statusCases {
		f.Add(c.status, c.body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		s := Server{Host: "h", Key: "sk-secret"}
		for _, e := range []*llm.Error{s.Status(answer(status, body)), s.InBand([]byte(body))} {
			if e.Cause == "" || e.Message == "" || len(e.Message) > 4*maxText+100 || strings.Contains(e.Message, s.Key) ||
				strings.ContainsFunc(e.Message, unicode.IsControl) {
				t.Errorf("%d %q: got %+v", status, body, e)
			}
		}
	})
}
