package chatapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/llm/llmtest"
)

func provider(base string, client *http.Client) llm.Provider {
	return New(Config{ID: "test", BaseURL: base, Key: llmtest.Key, HTTP: client, StreamUsage: true, UserAgent: "alisio/test"})
}

// Each file of the suite is one shape that servers send.
func TestShapes(t *testing.T) { llmtest.Run(t, "chat", "s*", provider) }

// Symptom: a heartbeat of a bare colon kills the turn.
// Trigger: ":" and ": keepalive" before, between and behind the data lines.
func TestC001Heartbeats(t *testing.T) { llmtest.Run(t, "chat", "c001-*", provider) }

// Symptom: a keep-alive comment is glued in front of every later event.
// Trigger: a comment and the first delta in one write, and byte for byte.
func TestC002CommentBeforeData(t *testing.T) { llmtest.Run(t, "chat", "c002-*", provider) }

// Symptom: a parser that looks for empty LF lines only drops the stream.
// Trigger: CRLF, CR, mixed line ends, and a cut between CR and LF.
func TestC003LineEnds(t *testing.T) { llmtest.Run(t, "chat", "c003-*", provider) }

// Symptom: bufio.Scanner stops with "token too long".
// Trigger: data lines of 70,000 characters, 300 KiB of arguments, 4 and 10 MB.
func TestC004LongLines(t *testing.T) { llmtest.Run(t, "chat", "c004-*", provider) }

// Symptom: the accumulator crashes on a missing index.
// Trigger: a whole call without index.
func TestC006CallWithoutIndex(t *testing.T) { llmtest.Run(t, "chat", "c006-*", provider) }

// Symptom: a missing index decodes to 0 and two calls are merged.
// Trigger: two calls without index, by id and by position.
func TestC007TwoCallsWithoutIndex(t *testing.T) { llmtest.Run(t, "chat", "c007-*", provider) }

// Symptom: parallel calls at index 0 are concatenated.
// Trigger: three whole calls with index 0 and ids a, b, c.
func TestC008AllIndexZero(t *testing.T) { llmtest.Run(t, "chat", "c008-*", provider) }

// Symptom: one broken call per fragment.
// Trigger: a head with id, then fragments with the index alone.
func TestC010IDInTheFirstDeltaOnly(t *testing.T) { llmtest.Run(t, "chat", "c010-*", provider) }

// Symptom: interleaved fragments go to the call seen last.
// Trigger: heads for index 0 and 1, then fragments 0, 1, 0, 1.
func TestC011Interleaved(t *testing.T) { llmtest.Run(t, "chat", "c011-*", provider) }

// Symptom: an empty completion is taken for a finished turn.
// Trigger: a role and the end mark. Asking again is the runner's; here it is an error that says so.
func TestC014NothingReturned(t *testing.T) { llmtest.Run(t, "chat", "c014-*", provider) }

// Symptom: reasoning and then stop looks like a cut turn.
// Trigger: two reasoning deltas, then stop. Complete, without text.
func TestC015ReasoningOnly(t *testing.T) { llmtest.Run(t, "chat", "c015-*", provider) }

// Symptom: the client waits for ever although the answer is complete.
// Trigger: finish reason, end mark, no usage, open connection.
func TestC016OpenSocket(t *testing.T) { llmtest.Run(t, "chat", "c016-*", provider) }

// Symptom: finish_reason "" ends the turn at the first token.
// Trigger: five chunks with "", the last with "stop".
func TestC017EmptyFinishReason(t *testing.T) { llmtest.Run(t, "chat", "c017-*", provider) }

// Symptom: an annotation without delta crashes.
// Trigger: such a chunk, and "delta":null, behind the stop chunk.
func TestC018ChoiceWithoutDelta(t *testing.T) { llmtest.Run(t, "chat", "c018-*", provider) }

// Symptom: a chunk with usage is taken for usage alone.
// Trigger: text, finish reason and usage in one chunk.
func TestC020AllInOneChunk(t *testing.T) { llmtest.Run(t, "chat", "c020-*", provider) }

// Symptom: an error in a 200 stream is skipped.
// Trigger: event: error, and an error object with a code.
func TestC021ErrorInStream(t *testing.T) { llmtest.Run(t, "chat", "c021-*", provider) }

// Symptom: an error frame without data is thrown away.
// Trigger: event: error, id: 1, end of stream.
func TestC022ErrorWithoutData(t *testing.T) { llmtest.Run(t, "chat", "c022-*", provider) }

// Symptom: an empty stream ends in a confusing JSON error.
// Trigger: heartbeats alone, the end mark alone, no bytes.
func TestC023EmptyStream(t *testing.T) { llmtest.Run(t, "chat", "c023-*", provider) }

// Symptom: calls are not run because the finish reason is stop.
// Trigger: a whole call, then stop.
func TestC024StopWithCalls(t *testing.T) { llmtest.Run(t, "chat", "c024-*", provider) }

// Symptom: a character on a chunk border turns into U+FFFD.
// Trigger: U+53F0 cut 1+2 in text, an emoji cut 1+3 in arguments.
func TestC025CharacterCutInTwo(t *testing.T) { llmtest.Run(t, "chat", "c025-*", provider) }

// Symptom: an error line is skipped and the end makes it a success.
// Trigger: "Hel", an error object, close.
func TestC029ErrorThenClose(t *testing.T) { llmtest.Run(t, "chat", "c029-*", provider) }

// Symptom: thinking models refuse the second request without the reasoning that
// came with a call. Trigger: a mock that answers it with 400 unless the
// assistant message has the same reasoning_content.
func TestC026ReasoningGoesBack(t *testing.T) {
	llmtest.Run(t, "chat", "c026-*", provider)
	bodies := twoTurns(t, `{"role":"assistant","reasoning_content":"look first","tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`)
	want := `{"role":"assistant","content":"","reasoning_content":"look first","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	if !strings.Contains(bodies[1], want) {
		t.Errorf("second request: got %s, want one with %s", bodies[1], want)
	}
}

// Symptom: arguments "" are replayed and fail to parse. Trigger: a call with
// arguments ""; the follow-up request.
func TestC028EmptyArguments(t *testing.T) {
	llmtest.Run(t, "chat", "c028-*", provider)
	bodies := twoTurns(t, `{"tool_calls":[{"index":0,"id":"c1","function":{"name":"todo_list","arguments":""}}]}`)
	if want := `"function":{"name":"todo_list","arguments":"{}"}`; !strings.Contains(bodies[1], want) {
		t.Errorf("second request: got %s, want one with %s", bodies[1], want)
	}
}

// Symptom: strict endpoints refuse stream_options with 422, so no turn ever works.
// Trigger: 422 {"error":{"message":"extra_forbidden: stream_options"}} while the
// field is present, else a normal stream; the same for max_completion_tokens.
func TestC045StrictEndpoint(t *testing.T) {
	for _, field := range []string{"stream_options", "max_completion_tokens"} {
		var asked, refused int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if asked++; strings.Contains(string(body), field) {
				refused++
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"error":{"message":"extra_forbidden: %s"}}`, field)
				return
			}
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}))
		p := New(Config{BaseURL: server.URL, HTTP: server.Client(), StreamUsage: true, TokenParameter: "max_completion_tokens"})
		for range 2 {
			req := hello()
			req.MaxOutputTokens = 9
			if m, err := complete(p, req); err != nil || m.Text != "a" {
				t.Errorf("%s: got %+v, %v", field, m, err)
			}
		}
		server.Close()
		if asked != 3 || refused != 1 {
			t.Errorf("%s: asked %d times, refused %d times, want 3 and 1", field, asked, refused)
		}
	}
}

// Symptom: a router rewrites length to tool_calls, so cut arguments slip past the
// length check. Trigger: arguments that end in a string, finish_reason tool_calls.
// Whoever takes the call out of the message sends back what its provider gave, with
// the reasoning and without the call.
func TestC053CutCallsDoNotGoBack(t *testing.T) {
	llmtest.Run(t, "chat", "c053-*", provider)
	const chunk = `data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm.","content":"I write.","tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":"{\"a\":\"x"}}]},"finish_reason":"tool_calls"}]}`
	events, err := stream(client(), strings.NewReader(chunk+"\n\ndata: [DONE]\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := *events[len(events)-1].Message
	m.Calls = nil
	req := hello()
	req.Messages = append(req.Messages, m, req.Messages[0])
	body, err := client().body(req, nil)
	if want := `,{"role":"assistant","content":"I write.","reasoning_content":"Hm."},`; err != nil || !strings.Contains(string(body), want) {
		t.Errorf("got %s, %v, want one with %s", body, err, want)
	}
}

// twoTurns lets a model make one call and returns the bodies of both requests.
func twoTurns(t *testing.T, delta string) []string {
	t.Helper()
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !json.Valid(body) {
			t.Errorf("request %d: %v, body %s", len(bodies)+1, err, body)
		}
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", delta)
	}))
	defer server.Close()
	p := provider(server.URL, server.Client())
	req := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}
	for range 2 {
		m, err := complete(p, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, m)
		for _, c := range m.Calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, CallID: c.ID, Parts: []llm.Part{{Type: llm.PartText, Text: "ok"}}})
		}
	}
	return bodies
}

// complete returns the finished message of a request.
func complete(p llm.Provider, req llm.Request) (llm.Message, error) {
	for ev, err := range p.Stream(context.Background(), req) {
		if err != nil {
			return llm.Message{}, err
		}
		if ev.Kind == llm.Completed {
			return *ev.Message, nil
		}
	}
	return llm.Message{}, io.ErrUnexpectedEOF
}
