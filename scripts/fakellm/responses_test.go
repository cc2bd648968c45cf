package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const askResponse = `{"model":"toy","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hi"}]}`

func postResponse(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// happenings decodes a stream, in which the event lines say what the data says and
// the numbers count, but for a bulk.
func happenings(t *testing.T, body string) []happening {
	t.Helper()
	var out []happening
	for _, e := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(e, "\n")
		var h happening
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &h); err != nil || name != "event: "+h.Type {
			t.Fatalf("%q: %v", e, err)
		}
		out = append(out, h)
	}
	return out
}

func TestResponsesStream(t *testing.T) {
	_, url := start(t, `{"replies":[{"reasoning":"hm","text":"abcde","chunk":3,"usage":{"input":9,"output":3,"cachedInput":2,"reasoning":1},
		"calls":[{"name":"f","arguments":{"a":1}}]}]}`)
	status, body := postResponse(t, url, askResponse)
	var types, deltas []string
	hs := happenings(t, body)
	for i, h := range hs {
		types = append(types, strings.TrimPrefix(h.Type, "response."))
		if h.Number != i {
			t.Errorf("event %d has number %d", i, h.Number)
		}
		if h.Delta != nil {
			deltas = append(deltas, fmt.Sprint(*h.OutputIndex, *h.Delta))
		}
	}
	want := "created in_progress" +
		" output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done" +
		" output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done output_item.done" +
		" output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.delta function_call_arguments.done output_item.done" +
		" completed"
	if got := strings.Join(types, " "); status != 200 || got != want {
		t.Errorf("got %d\n%s\nwant\n%s", status, got, want)
	}
	if want := []string{"0hm", "1abc", "1de", `2{"a`, `2":1`, `2}`}; !slices.Equal(deltas, want) {
		t.Errorf("deltas %q, want %q", deltas, want)
	}
	r := hs[len(hs)-1].Response
	if r.Status != "completed" || r.Usage == nil || r.Usage.Total != 12 || r.Usage.InputDetails.Cached != 2 || r.Usage.OutDetails.Reasoning != 1 {
		t.Errorf("got %+v", r)
	}
	for i, want := range []string{
		`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAAA`,
		`{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"abcde","annotations":[]}],"phase":"commentary"}`,
		`{"id":"fc_1_1","type":"function_call","status":"completed","call_id":"call_1_1","name":"f","arguments":"{\"a\":1}"}`,
	} {
		if !strings.HasPrefix(string(r.Output[i]), want) || strings.Count(body, string(r.Output[i])) != 2 {
			t.Errorf("item %d: got %s, want it twice", i, r.Output[i])
		}
	}
}

func TestResponsesEnds(t *testing.T) {
	_, url := start(t, `{"replies":[{"text":"cut","truncated":true},{"text":"so far","error":{"cause":"server","message":"fell over"}},
		{"text":"whole","usage":{"input":1}},{"error":{"cause":"quota","message":"no more"}}]}`)
	for _, want := range []string{
		`"status":"incomplete","role":"assistant"`, `"status":"failed"`,
	} {
		_, body := postResponse(t, url, askResponse)
		hs := happenings(t, body)
		last := hs[len(hs)-1]
		if got := last.Type; !strings.Contains(body, want) || got != "response.incomplete" && got != "response.failed" {
			t.Errorf("got %s\nwant %s", body, want)
		}
		if e := last.Response.Error; e != nil && (*e != fault{"server", "fell over"} || strings.Contains(body, ".done")) {
			t.Errorf("got %s", body)
		}
	}
	plain := strings.Replace(askResponse, `"stream":true,`, "", 1)
	if status, body := postResponse(t, url, plain); status != 200 || !strings.Contains(body, `"object":"response"`) || !strings.Contains(body, `"text":"whole"`) {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := postResponse(t, url, plain); status != 500 || !strings.Contains(body, "no more") {
		t.Errorf("got %d %s", status, body)
	}
}

func TestResponsesRequests(t *testing.T) {
	s, url := start(t, `{"replies":[{"capture":{"A":"sha (\\w+)"},"text":"${A}","repeat":-1}]}`)
	body := `{"model":"m","stream":true,"input":[{"type":"function_call_output","output":"sha old"},{"type":"function_call"},{"type":"function_call"},
		{"type":"function_call_output","output":"x"},{"type":"function_call_output","output":[{"type":"input_text","text":"sha new"}]}]}`
	if status, got := postResponse(t, url, body); status != 200 || !strings.Contains(got, `"text":"new"`) {
		t.Errorf("got %d %s", status, got)
	}
	for body, want := range map[string]string{
		`{"input":"hi","messages":[]}`: "no messages",
		`{"model":"m"}`:                "has an input",
		`{"input":7}`:                  "neither",
		`[]`:                           "none of this protocol",
		`{"input":"no result"}`:        "matches nothing",
	} {
		if status, got := postResponse(t, url, body); status != 400 || !strings.Contains(got, want) || !s.failed() {
			t.Errorf("%s: got %d %s", body, status, got)
		}
	}
}

// Symptom: a message that comes back without the reasoning before it is refused on
// turn two. Trigger: every way to send a pair that is none.
func TestC046PairsAreRefused(t *testing.T) {
	_, url := start(t, `{"replies":[{"reasoning":"hm","text":"a"},{"text":"ok","repeat":-1}]}`)
	_, body := postResponse(t, url, askResponse)
	hs := happenings(t, body)
	out := hs[len(hs)-1].Response.Output
	rs, msg := string(out[0]), string(out[1])
	for input, want := range map[string]int{
		rs + "," + msg:                       200,
		`{"role":"assistant","content":"a"}`: 200,
		msg:                                  400,
		rs:                                   400,
		msg + "," + rs:                       400,
		rs + `,{"role":"user","content":"between"},` + msg:                400,
		strings.Replace(rs, "gAAAA", "gAAAB", 1) + "," + msg:              400,
		rs + "," + strings.Replace(msg, `,"phase":"final_answer"`, "", 1): 400,
	} {
		if got, text := postResponse(t, url, `{"model":"m","include":["reasoning.encrypted_content"],"input":[`+input+`]}`); got != want {
			t.Errorf("%s: got %d %s", input, got, text)
		}
	}
}

func TestResponsesBulk(t *testing.T) {
	_, url := start(t, `{"replies":[{"bulk":{"deltas":5000,"bytes":12}}]}`)
	_, body := postResponse(t, url, askResponse)
	n := 0
	hs := happenings(t, body)
	for _, h := range hs {
		if h.Delta != nil && *h.Delta == "bulk text bu" && *h.OutputIndex == 0 {
			n++
		}
	}
	if whole := strings.Repeat("bulk text bu", 5000); n != 5000 || strings.Count(body, whole) != 4 || hs[len(hs)-1].Type != "response.completed" {
		t.Errorf("%d deltas, want 5000; the whole text %d times, want 4", n, strings.Count(body, whole))
	}
}
