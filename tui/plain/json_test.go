package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/plug"
)

// hostile holds everything that must not reach a terminal or split a line.
const hostile = "a\"\\\b\f\n\r\t\x00\x1b[31m\x7f\u0085\u009b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\u206a\ufff9\U000e0041<>&é漢🙂\xff\xe5end"

func ttft(n int64) *int64 { return &n }

// samples has one payload of each type, filled.
func samples() []plug.Payload {
	return []plug.Payload{
		plug.ModelChanged{Model: hostile, Previous: hostile},
		plug.RunStarted{Model: hostile},
		plug.Delta{Delta: hostile},
		plug.ReasoningText{Delta: hostile},
		plug.TurnCompleted{Turn: 1, Tokens: 2, Calls: 3, Model: hostile, Usage: &plug.Usage{Input: 1, Output: 2, CachedInput: 3}, DurationMs: 4, TTFTMs: ttft(0)},
		plug.ToolStarted{ID: hostile, Name: hostile, Arguments: hostile, Effect: plug.EffectWrite, Title: hostile},
		plug.ToolProgress{ID: hostile, Data: hostile},
		plug.ToolCompleted{ID: hostile, Name: hostile, IsError: true, DurationMs: 5, Preview: hostile, Summary: hostile, Result: &plug.Result{}},
		plug.ApprovalRequested{ID: hostile, Name: hostile, Effect: plug.EffectRead, Label: hostile, Directory: hostile},
		plug.ApprovalResolved{ID: hostile, Name: hostile, Effect: plug.EffectWrite, Decision: plug.Deny, By: plug.ByHeadless},
		plug.ResponseTruncated{Turn: 1, MaxOutputTokens: 2, Source: plug.SourceModel},
		plug.RunCompleted{Tokens: 1, Text: hostile, Truncated: true, Denied: 2, Code: "permission"},
		plug.RunTurnsExceeded{Turns: 1, MaxTurns: 1},
		plug.RunFailed{
			Error: hostile, Code: "server", Hint: "not in the JSON",
			Timeout: &plug.Timeout{
				Kind: plug.TimeoutRun, Ms: 1, Model: hostile, Provider: hostile, Stage: plug.StageTool, Tool: hostile, FirstRequest: true, Attempts: 2,
			},
			Truncation: &plug.Truncation{Attempts: 1, MaxOutputTokens: 2, Source: plug.SourceUser, Model: hostile},
		},
		plug.CompactionStarted{Reason: plug.CompactAuto, Before: 1, Messages: 2},
		plug.CompactionCompleted{Reason: plug.CompactManual, Before: 1, After: 2, Replaced: 3, Structured: true, SummarizedTokens: 4, CheckpointTokens: 5,
			Plugins: map[string]string{hostile: hostile}, Partial: true},
		plug.CompactionSkipped{Reason: plug.CompactAuto, Before: 1, Detail: hostile},
		plug.CompactionFailed{Reason: plug.CompactBudget, Error: hostile},
		plug.ContextReduced{Messages: 1},
		plug.PrefixChanged{Cause: plug.PrefixTools},
		plug.UsageRecorded{Beside: plug.Beside{Spent: []plug.Spent{{For: plug.SpentOnQuestion, Model: "m"}}}},
		plug.RequestRetry{Attempt: 1, Of: 4, Reason: plug.RetryConnection, AfterMs: 500},
		plug.StreamRecovery{Attempt: 1, Of: 2, Reason: plug.RecoveryLost, KeptChars: 3},
		plug.TruncationRecovery{Attempt: 1, Of: 2, Reason: plug.CutCall, MaxOutputTokens: 3, Effort: hostile},
		plug.RunCancelled{Error: hostile},
		plug.SessionContextInjected{Tokens: 3, Sources: []string{hostile, "a"}},
		plug.PluginHookFailed{Source: hostile, Hook: hostile, Error: hostile, Continued: true},
		plug.PlanProposed{CallID: hostile, PlanID: hostile, Revision: 2, Hash: hostile, Title: hostile},
		plug.PlanDecided{CallID: hostile, PlanID: hostile, Hash: hostile, Decision: plug.PlanContext},
	}
}

func TestEveryTypeDecodesStrictly(t *testing.T) {
	seen := map[plug.EventType]bool{}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	for i, p := range samples() {
		want := plug.Event{RunID: "r" + hostile, SessionID: "s", Seq: int64(i + 1), Time: at, CorrelationID: hostile, Data: p}
		if !p.EventType().Ephemeral() {
			want.ID = int64(100 + i)
		}
		seen[p.EventType()] = true
		var out bytes.Buffer
		j := NewJSON(&out, func() { t.Error("stopped") })
		j.Event(want)
		line := out.Bytes()
		got, err := plug.DecodeEvent(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		// encoding/json is the reference for what the line means.
		reference, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		meant, err := plug.DecodeEvent(reference)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(meant)
		if !bytes.Equal(a, b) {
			t.Errorf("%s:\n got %s\nwant %s", p.EventType(), a, b)
		}
		harmless(t, line)
	}
	for _, typ := range plug.EventTypes() {
		if !seen[typ] {
			t.Errorf("no sample of %s", typ)
		}
	}
}

// harmless checks one line: valid UTF-8, one line in every reader's eyes, no
// control and no bidi character.
func harmless(t *testing.T, line []byte) {
	t.Helper()
	if !utf8.Valid(line) {
		t.Errorf("not UTF-8: %q", line)
	}
	body, ok := bytes.CutSuffix(line, []byte("\n"))
	if !ok {
		t.Errorf("no newline at the end: %q", line)
	}
	for _, r := range string(body) {
		switch {
		case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e,
			r >= 0x2066 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
			t.Errorf("%U in %q", r, line)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add(hostile)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		line := append(appendString(nil, s), '\n')
		harmless(t, line)
		var got string
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		// As encoding/json, every invalid byte is one U+FFFD.
		reference, _ := json.Marshal(s)
		var want string
		json.Unmarshal(reference, &want)
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// broken is a pipe whose reader is gone after some bytes.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestAClosedPipeStopsOnce(t *testing.T) {
	stopped := 0
	j := NewJSON(&broken{left: 300}, func() { stopped++ })
	for range 10 {
		j.Event(plug.Event{Data: plug.Delta{Delta: "x"}})
	}
	if stopped != 1 || !errors.Is(j.Err(), io.ErrClosedPipe) {
		t.Errorf("stopped %d times, error %v", stopped, j.Err())
	}
}

func BenchmarkDelta(b *testing.B) {
	j := NewJSON(io.Discard, func() {})
	e := plug.Event{RunID: strings.Repeat("r", 36), SessionID: strings.Repeat("s", 36), Time: time.Now(),
		Data: plug.Delta{Delta: strings.Repeat("word ", 8)}}
	b.ReportAllocs()
	for b.Loop() {
		e.Seq++
		j.Event(e)
	}
}

// What another version wrote goes out as it was stored: the order of keys, the
// form of numbers, keys twice. Only what acts on a screen is escaped.
func TestAnUnknownEventIsPrintedAsItWasStored(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"b": 1.50e+2, "a": {"x": null},"a":[ ]}`, `{"b":1.50e+2,"a":{"x":null},"a":[]}`},
		{"{\"a\":\n\"\u202e\u2028\u0085\\u009b\xff\"}", `{"a":"\u202e\u2028\u0085\u009b\ufffd"}`},
		{`{"big":12345678901234567890123,"lone":"\ud800"}`, `{"big":12345678901234567890123,"lone":"\ud800"}`},
		{`not json`, `{}`},
	} {
		var out bytes.Buffer
		NewJSON(&out, func() { t.Error("stopped") }).Event(plug.Event{
			RunID: "r", Seq: 1, ID: 7, Data: plug.Unknown{Type: "some_future\u2028event", Body: json.RawMessage(c.body)},
		})
		want := `"type":"some_future\u2028event"`
		if got := out.String(); !strings.Contains(got, `"data":`+c.want+`,"eventId":"7"`) || !strings.Contains(got, want) {
			t.Errorf("%q: got %s", c.body, got)
		}
		harmless(t, out.Bytes())
	}
}

func TestEscapeJSON(t *testing.T) {
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	got, err := EscapeJSON(nil, []byte("[ "+string(quoted)+" ,\n1 ]"))
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, append(got, '\n'))
	var a, b []any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte("["+string(quoted)+",1]"), &b) != nil || a[0] != b[0] {
		t.Errorf("got %s", got)
	}
	if _, err := EscapeJSON(nil, []byte("{\x1b[2J")); err == nil {
		t.Error("what is no JSON passed")
	}
}
