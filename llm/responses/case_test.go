package responses

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/llm/llmtest"
)

func provider(base string, client *http.Client) llm.Provider {
	return New(Config{ID: "test", BaseURL: base, Key: llmtest.Key, HTTP: client, UserAgent: "alisio/test"})
}

// Each file of the suite is one shape that servers send.
func TestShapes(t *testing.T) { llmtest.Run(t, "responses", "s*", provider) }

// Symptom: a heartbeat of a bare colon kills the turn.
// Trigger: ":" and ": keepalive" before, between and behind the events.
func TestC001Heartbeats(t *testing.T) { llmtest.Run(t, "responses", "c001-*", provider) }

// Symptom: a parser that looks for empty LF lines only drops the stream.
// Trigger: CRLF line ends, cut everywhere.
func TestC003LineEnds(t *testing.T) { llmtest.Run(t, "responses", "c003-*", provider) }

// Symptom: bufio.Scanner stops with "token too long".
// Trigger: a delta of 70,000 characters, output_item.done with 300 KiB.
func TestC004LongLines(t *testing.T) { llmtest.Run(t, "responses", "c004-*", provider) }

// Symptom: the Responses path had a scanner of its own, which broke at 1 MiB.
// Trigger: response.output_text.delta of 4 MiB.
func TestC005OneReaderForEveryEndpoint(t *testing.T) {
	llmtest.Run(t, "responses", "c005-*", provider)
}

// Symptom: an error in a 200 stream is skipped.
// Trigger: error events, flat and nested, with and without details.
func TestC021ErrorInStream(t *testing.T) { llmtest.Run(t, "responses", "c021-*", provider) }

// Symptom: an error frame without data is thrown away.
// Trigger: event: error, id: 1, end of stream.
func TestC022ErrorWithoutData(t *testing.T) { llmtest.Run(t, "responses", "c022-*", provider) }

// Symptom: an empty stream ends in a confusing JSON error.
// Trigger: heartbeats alone, pings alone, the end mark alone, no bytes.
func TestC023EmptyStream(t *testing.T) { llmtest.Run(t, "responses", "c023-*", provider) }

// Symptom: a character on a chunk border turns into U+FFFD.
// Trigger: U+53F0 cut 1+2 in text, an emoji cut 1+3 in arguments.
func TestC025CharacterCutInTwo(t *testing.T) { llmtest.Run(t, "responses", "c025-*", provider) }

// Symptom: arguments "" are no JSON, and the call fails. Trigger: a call with arguments "".
func TestC028EmptyArguments(t *testing.T) { llmtest.Run(t, "responses", "c028-*", provider) }

// Symptom: response.failed has its error inside; a failed run equals an empty
// good one. Trigger: response.failed with and without any error object.
func TestC031ResponseFailed(t *testing.T) { llmtest.Run(t, "responses", "c031-*", provider) }

// Symptom: response.completed without output throws away text that has arrived.
// Trigger: text deltas, then such an event.
func TestC032CompletedWithoutOutput(t *testing.T) {
	llmtest.Run(t, "responses", "c032-*", provider)
}

// Symptom: a closed list of event types fails the turn. Trigger: a ping between
// deltas, no response.created, no output_item.added.
func TestC033UnknownEvents(t *testing.T) { llmtest.Run(t, "responses", "c033-*", provider) }

// Symptom: vLLM's wording for a full context is not recognised.
// Trigger: 400 with "This model's maximum context length is …".
func TestC038OverflowOfVLLM(t *testing.T) { llmtest.Run(t, "responses", "c038-*", provider) }

// Symptom: Ollama's wording for a full context is not recognised.
// Trigger: 400 with "prompt too long; exceeded max context length by N tokens".
func TestC039OverflowOfOllama(t *testing.T) { llmtest.Run(t, "responses", "c039-*", provider) }

// scripted is a real server that answers each request with the next body and
// writes down what it was asked.
type scripted struct {
	*httptest.Server
	asked []string
}

func serve(t *testing.T, answer func(n int, body string) (status int, text string)) *scripted {
	t.Helper()
	s := &scripted{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/responses" {
			t.Errorf("got %s %s, %v", r.Method, r.URL, err)
		}
		s.asked = append(s.asked, string(b))
		status, text := answer(len(s.asked), string(b))
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// Symptom: strict endpoints refuse a field with 422, so no turn ever works.
// Trigger: a refusal that names the field while it is there, for each optional
// field, in the words of several servers.
func TestC045StrictEndpoint(t *testing.T) {
	for field, refusal := range map[string]string{
		"stream_options":      `{"error":{"message":"extra_forbidden: stream_options"}}`,
		"include":             `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`,
		"prompt_cache_key":    `{"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"],"msg":"Extra inputs are not permitted"}]}`,
		"parallel_tool_calls": `{"error":{"message":"Unsupported parameter: 'parallel_tool_calls'"}}`,
		"summary":             `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`,
	} {
		s := serve(t, func(_ int, body string) (int, string) {
			if strings.Contains(body, `"`+field+`":`) {
				return []int{400, 422}[len(field)%2], refusal
			}
			return 200, events(textEvent("a"), `{"type":"response.completed"}`)
		})
		p := New(Config{BaseURL: s.URL, HTTP: s.Client()})
		req := llm.Request{Model: "m", Effort: "low", SessionID: "s", Tools: []llm.Tool{{Name: "x"}}, Messages: []llm.Message{user("hi")}}
		for range 2 {
			if m, err := complete(p, req); err != nil || m.Text != "a" {
				t.Errorf("%s: got %+v, %v", field, m, err)
			}
		}
		if len(s.asked) != 3 || strings.Contains(s.asked[1]+s.asked[2], `"`+field+`":`) || s.asked[1] != s.asked[2] || !strings.Contains(s.asked[2], `"store":false`) {
			t.Errorf("%s: got %q", field, s.asked)
		}
	}
}

// Symptom as above; but without store:false the server would keep the
// conversation, so nothing is sent without it.
func TestC045StoreIsNeverLeftOut(t *testing.T) {
	s := serve(t, func(int, string) (int, string) {
		return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]}`
	})
	_, err := complete(New(Config{BaseURL: s.URL, HTTP: s.Client()}), hello())
	if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(fmt.Sprint(err), "refuses store:false") || len(s.asked) != 1 {
		t.Errorf("got %v after %q", err, s.asked)
	}
}

// Symptom: a message item sent without the reasoning item before it, or the
// other way round, is refused on turn two. Trigger: reasoning rs_1, message
// msg_1; a mock that refuses turn two unless both come back side by side.
func TestC046ReasoningStaysBesideItsMessage(t *testing.T) {
	rs := `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA=="}`
	msg := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}`
	s := serve(t, func(n int, body string) (int, string) {
		pair, reasoned := strings.Contains(body, rs+","+msg), strings.Contains(body, "rs_1") || strings.Contains(body, "msg_1")
		if n > 1 && !pair && reasoned {
			return 400, `{"error":{"message":"Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'."}}`
		}
		return 200, events(doneEvent(0, rs), doneEvent(1, msg), `{"type":"response.completed"}`)
	})
	p := provider(s.URL, s.Client())
	req := hello()
	m, err := complete(p, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, m, user("go on"))
	for _, model := range []string{"m", "another"} {
		req.Model = model
		if _, err := complete(p, req); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
	if !strings.Contains(s.asked[1], rs+","+msg) || strings.Contains(s.asked[2], "rs_1") || !strings.Contains(s.asked[2], `{"role":"assistant","content":"Hi"}`) {
		t.Errorf("got %q", s.asked)
	}
}

// Symptom as above. Trigger: the output limit cuts a call behind rs_2; whoever takes
// it out of the message must not leave rs_2 behind, nor ids of the whole pair apart.
func TestC046ReasoningOfACutCallIsLeftOut(t *testing.T) {
	rs := func(n string) string {
		return `{"id":"rs_` + n + `","type":"reasoning","summary":[],"encrypted_content":"g"}`
	}
	fc := `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"read","arguments":"{}"}`
	cut := `{"id":"fc_2","type":"function_call","status":"incomplete","call_id":"c2","name":"read","arguments":"{\"a"}`
	got, err := stream(strings.NewReader(events(doneEvent(0, rs("1")), doneEvent(1, fc), doneEvent(2, rs("2")), doneEvent(3, cut),
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	m := *got[len(got)-1].Message
	m.Calls = m.Calls[:1]
	body, err := client(nil).body(llm.Request{Model: "m", Messages: []llm.Message{user("hi"), m, result("c1", "r")}}, nil)
	if sent := string(body); err != nil || !strings.Contains(sent, rs("1")+","+fc+`,{"type":"function_call_output"`) || strings.Contains(sent, "_2") {
		t.Errorf("got %s, %v", body, err)
	}
}

// A server without this protocol says 404, or 401 behind some gateways: the hint
// names the other one. A model that is not there is another matter.
func TestHintForAServerWithoutThisProtocol(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   bool
	}{
		{404, `{"detail":"Not Found"}`, true},
		{401, `{"error":{"message":"no"}}`, true},
		{403, `{"error":{"message":"no"}}`, true},
		{404, `{"error":{"message":"no model m"}}`, false},
		{403, `{"error":{"message":"flagged by moderation"}}`, false},
	} {
		s := serve(t, func(int, string) (int, string) { return c.status, c.body })
		_, err := complete(New(Config{BaseURL: s.URL, HTTP: s.Client(), Key: "sk-1", Headers: map[string]string{"X-A": "b"}}), hello())
		var e *llm.Error
		if !errors.As(err, &e) || strings.Contains(e.Hint, `provider.apiMode "chat"`) != c.want {
			t.Errorf("%d %s: got %v, %+v", c.status, c.body, err, e)
		}
	}
}

// events is a stream of data lines.
func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

func textEvent(s string) string {
	return `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + s + `"}`
}

func doneEvent(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

// Every type of event that the protocol names has a case, as data and in the
// words of a comment or not.
func TestEveryEventTypeHasACase(t *testing.T) {
	seen := llmtest.Words(t, "responses")
	for _, typ := range eventTypes {
		if !slices.Contains(seen, typ) {
			t.Errorf("no case holds an event %s", typ)
		}
	}
}

var eventTypes = strings.Fields(`
response.created response.in_progress response.queued response.completed response.incomplete response.failed error
response.output_item.added response.output_item.done response.content_part.added response.content_part.done
response.output_text.delta response.output_text.done response.output_text.annotation.added
response.refusal.delta response.refusal.done
response.reasoning_summary_part.added response.reasoning_summary_part.done
response.reasoning_summary_text.delta response.reasoning_summary_text.done
response.reasoning_text.delta response.reasoning_text.done
response.function_call_arguments.delta response.function_call_arguments.done
response.custom_tool_call_input.delta response.custom_tool_call_input.done
response.mcp_call_arguments.delta response.mcp_call_arguments.done
response.mcp_call.in_progress response.mcp_call.completed response.mcp_call.failed
response.mcp_list_tools.in_progress response.mcp_list_tools.completed response.mcp_list_tools.failed
response.web_search_call.in_progress response.web_search_call.searching response.web_search_call.completed
response.file_search_call.in_progress response.file_search_call.searching response.file_search_call.completed
response.code_interpreter_call.in_progress response.code_interpreter_call.interpreting response.code_interpreter_call.completed
response.code_interpreter_call_code.delta response.code_interpreter_call_code.done
response.image_generation_call.in_progress response.image_generation_call.generating response.image_generation_call.completed
response.image_generation_call.partial_image
response.shell_call_command.added response.shell_call_command.delta response.shell_call_command.done
response.shell_call_output_content.delta response.shell_call_output_content.done
response.audio.delta response.audio.done response.audio.transcript.delta response.audio.transcript.done`)
