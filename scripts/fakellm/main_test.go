package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the program, for tests of the process.
func TestMain(m *testing.M) {
	if os.Getenv("FAKELLM_TEST_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const ask = `{"model":"toy","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`

func write(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start serves a script on a real socket.
func start(t *testing.T, script string) (*server, string) {
	t.Helper()
	sc, err := load(write(t, script))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(sc, t.Output())
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	return s, h.URL + "/v1"
}

func post(t *testing.T, url, body string) (*http.Response, string, error) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// chunks decodes a stream that must end with [DONE].
func chunks(t *testing.T, body string) []chunk {
	t.Helper()
	events := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
	if got := events[len(events)-1]; got != "data: [DONE]" {
		t.Fatalf("last event %q", got)
	}
	var out []chunk
	for _, e := range events[:len(events)-1] {
		var c chunk
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e, "data: ")), &c); err != nil {
			t.Fatalf("%q: %v", e, err)
		}
		out = append(out, c)
	}
	return out
}

func TestStream(t *testing.T) {
	_, url := start(t, `{"replies":[{"reasoning":"hm","text":"abcde","chunk":3,"usage":{"input":9,"output":3,"cachedInput":2},
		"calls":[{"name":"f","arguments":{"a":1}}]}]}`)
	resp, body, err := post(t, url, ask)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", resp, err)
	}
	const first = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"toy",` +
		`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	if !strings.HasPrefix(body, first) {
		t.Errorf("stream begins with %.200q", body)
	}
	var text, reasoning, args, id, name, finish []string
	cs := chunks(t, body)
	for _, c := range cs {
		for _, ch := range c.Choices {
			if ch.Delta.Content != nil {
				text = append(text, *ch.Delta.Content)
			}
			reasoning = append(reasoning, ch.Delta.Reasoning)
			for _, tc := range ch.Delta.ToolCalls {
				if *tc.Index != 0 {
					t.Errorf("call index %d", *tc.Index)
				}
				id, name, args = append(id, tc.ID), append(name, tc.Function.Name), append(args, tc.Function.Arguments)
			}
			if ch.FinishReason != nil {
				finish = append(finish, *ch.FinishReason)
			}
		}
	}
	for _, row := range []struct {
		what      string
		got, want []string
	}{
		{"text", text, []string{"", "abc", "de"}},
		{"ids", id, []string{"call_1_1", "", "", ""}},
		{"names", name, []string{"f", "", "", ""}},
		{"arguments", args, []string{"", `{"a`, `":1`, `}`}},
		{"finish", finish, []string{"tool_calls"}},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s = %q, want %q", row.what, row.got, row.want)
		}
	}
	if strings.Join(reasoning, "") != "hm" {
		t.Errorf("reasoning %q", reasoning)
	}
	u := cs[len(cs)-1]
	if len(u.Choices) != 0 || u.Usage == nil || u.Usage.Prompt != 9 || u.Usage.Total != 12 || u.Usage.PromptDetails.Cached != 2 {
		t.Errorf("usage chunk %+v", u)
	}
	if !strings.Contains(body, `"choices":[],"usage"`) {
		t.Error("the usage chunk has no empty list of choices")
	}
}

func TestUsageOnlyOnRequest(t *testing.T) {
	_, url := start(t, `{"replies":[{"text":"a","truncated":true,"usage":{"input":1}}]}`)
	_, body, err := post(t, url, `{"model":"m","stream":true}`)
	if err != nil || strings.Contains(body, "usage") || !strings.Contains(body, `"finish_reason":"length"`) {
		t.Errorf("%s, %v", body, err)
	}
}

func TestPlainAnswer(t *testing.T) {
	_, url := start(t, `{"replies":[{"text":"a<b","calls":[{"name":"f","id":"x"}],"usage":{"input":1,"output":2}},{"error":{"cause":"server","message":"oh"}}]}`)
	resp, body, err := post(t, url, `{"model":"m"}`)
	want := `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":` +
		`{"role":"assistant","content":"a<b","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,` +
		`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`
	if err != nil || body != want || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %s, %v\nwant %s", body, err, want)
	}
	if resp, body, err = post(t, url, `{"model":"m"}`); err != nil || resp.StatusCode != 500 || !strings.Contains(body, `"message":"oh"`) {
		t.Errorf("%v %s %v", resp, body, err)
	}
}

func TestErrorEventEndsTheStream(t *testing.T) {
	_, url := start(t, `{"replies":[{"text":"so far","error":{"cause":"server","message":"fell over"}}]}`)
	_, body, err := post(t, url, ask)
	want := `data: {"error":{"message":"fell over","type":"error","param":null,"code":"server"}}` + "\n\n"
	if err != nil || !strings.HasSuffix(body, want) || !strings.Contains(body, "so far") {
		t.Errorf("%s, %v", body, err)
	}
}

func TestCaptures(t *testing.T) {
	s, url := start(t, `{"replies":[{"capture":{"A":"sha (\\w+)"},"text":"${A}"},{"text":"${A}${B}"}]}`)
	body := `{"model":"m","messages":[{"role":"tool","content":"sha old"},{"role":"assistant","content":null},
		{"role":"tool","content":"other"},{"role":"tool","content":[{"type":"text","text":"sha new"}]}]}`
	if _, got, err := post(t, url, body); err != nil || !strings.Contains(got, `"content":"new"`) {
		t.Errorf("%s, %v", got, err)
	}
	resp, got, err := post(t, url, body)
	if err != nil || resp.StatusCode != 400 || !strings.Contains(got, "${B} was never captured") || !s.failed() {
		t.Errorf("%s, %v", got, err)
	}
}

func TestBodies(t *testing.T) {
	script := `{"replies":[
		{"status":429,"headers":{"Retry-After":"3"},"body":{"error": {"code":"x"}}},
		{"status":502,"body":"<html>"},
		{"status":503},
		{"raw":"a\\xe2\\x94\\nb\\\\x"},
		{"rawBase64":"AP8="},
		{"rawFile":"part.bin"},
		{"raw":"","headers":{"Content-Type":"application/json"}}]}`
	path := write(t, script)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "part.bin"), []byte("file"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(newServer(sc, t.Output()))
	defer h.Close()
	for i, tt := range []struct {
		status     int
		kind, body string
	}{
		{429, "application/json", `{"error": {"code":"x"}}`},
		{502, "text/plain; charset=utf-8", "<html>"},
		{503, "application/json", `{"error":{"message":"scripted status 503","type":"error","param":null,"code":"scripted"}}`},
		{200, "text/event-stream", "a\xe2\x94\\nb\\\\x"},
		{200, "text/event-stream", "\x00\xff"},
		{200, "text/event-stream", "file"},
		{200, "application/json", ""},
	} {
		resp, body, err := post(t, h.URL, ask)
		if err != nil {
			t.Fatal(err)
		}
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode != tt.status || kind != tt.kind || body != tt.body {
			t.Errorf("reply %d: %d %s %q, want %d %s %q", i+1, resp.StatusCode, kind, body, tt.status, tt.kind, tt.body)
		}
		if i == 0 && resp.Header.Get("Retry-After") != "3" {
			t.Error("the scripted header is missing")
		}
	}
}

// exchange sends one request over a bare socket and returns all that comes.
func exchange(t *testing.T, url string) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
	b, err := io.ReadAll(conn)
	_, body, _ := strings.Cut(string(b), "\r\n\r\n")
	return body, err
}

func TestConnectionFaults(t *testing.T) {
	_, url := start(t, `{"replies":[
		{"raw":"abcdef","writeBytes":2},
		{"raw":"abcdef","cutAfter":4},
		{"raw":"abcdef","cutAfter":0},
		{"raw":"abcdef","cutAfter":9,"writeBytes":4},
		{"raw":"abcdef","cutAfter":-1}]}`)
	for _, want := range []string{
		"2\r\nab\r\n2\r\ncd\r\n2\r\nef\r\n0\r\n\r\n",
		"4\r\nabcd\r\n",
		"",
		"4\r\nabcd\r\n2\r\nef\r\n",
		"",
	} {
		got, err := exchange(t, url)
		if got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestReset(t *testing.T) {
	_, url := start(t, `{"replies":[{"raw":"abcdef","cutAfter":3,"reset":true},{"cutAfter":-1,"reset":true}]}`)
	for range 2 {
		if _, err := exchange(t, url); !errors.Is(err, syscall.ECONNRESET) && runtime.GOOS != "windows" || err == nil {
			t.Errorf("got %v, want a reset", err)
		}
	}
}

func TestHangKeepsTheConnection(t *testing.T) {
	s, url := start(t, `{"replies":[{"text":"x","hang":true},{"hang":true},{"raw":"abc","cutAfter":2,"hang":true},
		{"hang":true,"pingMs":1},{"text":"x","hang":true,"pingMs":1,"ping":"data: \\x7b}\n\n"}]}`)
	for _, want := range []string{"data: [DONE]\n\n", "", "ab", ": ping\n\n: ping\n\n", "data: [DONE]\n\ndata: {}\n\ndata: {}\n\n"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(ask))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		b := make([]byte, 1)
		for !bytes.HasSuffix(got, []byte(want)) {
			if _, err := resp.Body.Read(b); err != nil {
				t.Fatalf("after %q: %v", got, err)
			}
			got = append(got, b[0])
		}
		select {
		case <-s.done:
			t.Error("the reply is done while the client is still there")
		default:
		}
		cancel()
		resp.Body.Close()
	}
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		t.Error("the server did not see that the client left")
	}
}

func TestDelays(t *testing.T) {
	_, url := start(t, `{"replies":[{"delayMs":30,"raw":"abc","writeBytes":1,"chunkDelayMs":20}]}`)
	begin := time.Now()
	_, body, err := post(t, url, ask)
	if took := time.Since(begin); err != nil || body != "abc" || took < 70*time.Millisecond {
		t.Errorf("%q after %v, %v; want abc after 70ms", body, took, err)
	}
}

func TestExpectations(t *testing.T) {
	for _, tt := range []struct {
		expect, want string
	}{
		{`{"contains":["\"model\":\"toy\""],"lacks":["zebra"]}`, ""},
		{`{"contains":["zebra"]}`, `the request does not contain \"zebra\"`},
		{`{"lacks":["toy"]}`, `the request contains \"toy\"`},
	} {
		s, url := start(t, `{"replies":[{"expect":`+tt.expect+`}]}`)
		resp, body, err := post(t, url, ask)
		if err != nil {
			t.Fatal(err)
		}
		if bad := tt.want != ""; s.failed() != bad || (resp.StatusCode == 400) != bad || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s", tt.expect, resp.StatusCode, body)
		}
	}
}

func TestRepeatAndEnd(t *testing.T) {
	s, url := start(t, `{"replies":[{"text":"one","repeat":2},{"text":"two"}]}`)
	for _, want := range []string{"one", "one", "two", "the script is over"} {
		if _, body, err := post(t, url, ask); err != nil || !strings.Contains(body, want) {
			t.Errorf("%s, %v, want %s", body, err, want)
		}
	}
	if !s.failed() {
		t.Error("a request without a reply is no failure")
	}
	_, url = start(t, `{"replies":[{"text":"ever","repeat":-1}]}`)
	for range 3 {
		if _, body, err := post(t, url, ask); err != nil || !strings.Contains(body, "ever") {
			t.Errorf("%s, %v", body, err)
		}
	}
}

func TestBulk(t *testing.T) {
	_, url := start(t, `{"replies":[{"bulk":{"deltas":5000,"bytes":12}}]}`)
	_, body, err := post(t, url, ask)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range chunks(t, body) {
		if len(c.Choices) == 1 && c.Choices[0].Delta.Content != nil && *c.Choices[0].Delta.Content == "bulk text bu" {
			n++
		}
	}
	if n != 5000 {
		t.Errorf("%d deltas, want 5000", n)
	}
}

func TestModelsAndKey(t *testing.T) {
	_, url := start(t, `{"key":"k","models":["a",{"id":"b","context_length":9}],"replies":[]}`)
	for _, tt := range []struct {
		auth   string
		status int
		want   string
	}{
		{"", 401, `"code":"invalid_api_key"`},
		{"Bearer x", 401, `"code":"invalid_api_key"`},
		{"Bearer k", 200, `{"object":"list","data":[{"id":"a","object":"model","created":1700000000,"owned_by":"fakellm"},{"id":"b","context_length":9}]}`},
	} {
		req, err := http.NewRequest("GET", url+"/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", tt.auth)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
			t.Errorf("%q: %d %s", tt.auth, resp.StatusCode, b)
		}
	}
}

func TestLogHoldsNoKey(t *testing.T) {
	s, url := start(t, `{"replies":[{}]}`)
	var log bytes.Buffer
	s.log = &log
	req, err := http.NewRequest("POST", url+"/chat/completions", strings.NewReader("{\n \"model\": \"m\"}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-secret")
	req.Header.Set("User-Agent", "test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, _, err := post(t, url, "no json"); err != nil {
		t.Fatal(err)
	}
	want := `{"n":1,"method":"POST","path":"/v1/chat/completions","headers":{"Accept-Encoding":"gzip",` +
		`"Authorization":"present:938e","Content-Length":"16","User-Agent":"test"},"body":{"model":"m"}}` + "\n"
	got, rest, _ := strings.Cut(log.String(), "\n")
	if got+"\n" != want {
		t.Errorf("log %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(rest, `{"n":2,`) || !strings.HasSuffix(rest, `"body":"no json"}`+"\n") {
		t.Errorf("second line %s", rest)
	}
}

func TestScriptErrors(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{`{"turns":[]}`, `unknown field "turns"`},
		{`{"replies":[{},{"txt":""}]}`, `reply 2: json: unknown field "txt"`},
		{`{"replies":[{"text":"a","body":"b"}]}`, "reply 1: a reply is only one of"},
		{`{"replies":[{"repeat":-1},{}]}`, "only the last reply"},
		{`{"replies":[{"capture":{"A":"x"}}]}`, "capture A"},
		{`{"replies":[{"delayMs":-1}]}`, "can not be negative"},
		{`{"replies":[{"bulk":{}}]}`, "bulk wants"},
		{`{"replies":[{"cutAfter":-2}]}`, "cutAfter"},
		{`{"replies":[{"hang":true,"reset":true}]}`, "either reset or kept open"},
		{`{"replies":[{"pingMs":5}]}`, "that hangs"},
		{`{"replies":[{"hang":true,"ping":"x"}]}`, "that hangs"},
		{`{"replies":[{"hang":true,"pingMs":5,"cutAfter":-1}]}`, "behind its headers"},
		{`{"replies":[{"text":"a","startMs":5}]}`, "not for a server"},
		{`{"replies":[{"status":99}]}`, "status 99"},
		{`{"replies":[{"rawBase64":"?"}]}`, "illegal base64"},
		{`{"replies":[{"rawFile":"none"}]}`, "none"},
		{`{"replies":[{"error":{"cause":"server","stream":"lost"}}]}`, "error goes into the stream"},
		{`{"replies":[{"error":{"cause":"server","status":500}}]}`, "give status and headers to the reply"},
	} {
		_, err := load(write(t, tt.script))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.script, err, tt.want)
		}
	}
}

// process starts the program and returns it with the address that it printed.
func process(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), "FAKELLM_TEST_MAIN=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("first line %q, %v", line, err)
	}
	return cmd, url
}

func TestProcess(t *testing.T) {
	script := write(t, `{"replies":[{"text":"hello"}]}`)
	log := filepath.Join(t.TempDir(), "log")
	cmd, url := process(t, "-once", "-log", log, script)
	if _, body, err := post(t, url, ask); err != nil || !strings.Contains(body, "[DONE]") {
		t.Errorf("%s, %v", body, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("-once: %v", err)
	}
	if b, err := os.ReadFile(log); err != nil || !bytes.Contains(b, []byte(`"n":1`)) {
		t.Errorf("log %s, %v", b, err)
	}

	if runtime.GOOS == "windows" {
		return // Processes take no SIGTERM there.
	}
	cmd, _ = process(t, script)
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	cmd, url = process(t, write(t, `{"replies":[]}`))
	post(t, url, ask)
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("after a request without a reply: %v, want exit code 1", err)
	}
}

func TestBadUse(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"-nosuch"}, {"/nonexistent/script.json"}} {
		if got := run(t.Context(), args, io.Discard, t.Output()); got != 2 {
			t.Errorf("run(%q) = %d, want 2", args, got)
		}
	}
}

func TestAskedForHelp(t *testing.T) {
	var help strings.Builder
	if got := run(t.Context(), []string{"-h"}, io.Discard, &help); got != 0 || !strings.Contains(help.String(), "-once") {
		t.Errorf("got %d: %s", got, help.String())
	}
}
