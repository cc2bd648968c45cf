package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"alisio/llm"
)

// list asks a real server for its catalog.
func list(t *testing.T, status int, body string) ([]llm.Model, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer sk-1234" {
			t.Errorf("got %s %s, %q", r.Method, r.URL, r.Header)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer s.Close()
	return NewEndpoint(s.URL+"/v1/", "sk-1234", s.Client()).Models(t.Context())
}

func TestModels(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"OpenAI", `{"object":"list","data":[{"id":"b","object":"model"},{"id":"a"}]}`, "b 0 0, a 0 0"},
		{"OpenRouter", `{"data":[{"id":"v/m","context_length":9,"top_provider":{"context_length":8,"max_completion_tokens":4}},{"id":"n","context_length":9,"top_provider":null}]}`, "v/m 8 4, n 9 0"},
		{"Groq", `{"data":[{"id":"a","context_window":8,"max_completion_tokens":4}]}`, "a 8 4"},
		{"vLLM", `{"data":[{"id":"a","max_model_len":8}]}`, "a 8 0"},
		{"Mistral", `{"data":[{"id":"a","max_context_length":8,"capabilities":{}}]}`, "a 8 0"},
		{"Anthropic", `{"data":[{"id":"a","max_input_tokens":8,"max_tokens":4}]}`, "a 8 4"},
		{"Gemini", `{"models":[{"name":"models/g","inputTokenLimit":8,"outputTokenLimit":4}]}`, "models/g 8 4"},
		{"LM Studio, v0", `{"data":[{"id":"a","max_context_length":9,"loaded_context_length":8}]}`, "a 8 0"},
		{"LM Studio, v1", `{"models":[{"key":"a","max_context_length":9,"loaded_instances":[{"config":{"context_length":8}}]}]}`, "a 8 0"},
		{"llama.cpp", `{"models":[{"name":"x"}],"data":[{"id":"a","meta":{"n_ctx_train":131072}}]}`, "a 0 0"},
		{"bare array", `[{"id":"a"},"b"]`, "a 0 0, b 0 0"},
		{"empty", `{"object":"list","data":[]}`, ""},
		{"odd numbers", `{"data":[{"id":"a","context_length":"8","max_tokens":-4},{"id":"b","context_length":1e300},{"id":"c","context_length":{}}]}`, "a 8 0, b 536870911 0, c 0 0"},
		{"hostile ids", `{"data":[{"id":""},{"id":"a\u001b[2J"},{"id":7},{},{"id":"a"},{"id":"a"},{"id":"` + strings.Repeat("x", 300) + `"},"\u202e",null,5]}`, "a 0 0"},
	}
	for _, c := range cases {
		models, err := list(t, 200, c.body)
		var got []string
		for _, m := range models {
			got = append(got, fmt.Sprintf("%s %d %d", m.ID, m.ContextWindow, m.MaxOutputTokens))
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// Symptom: 8 MiB of entries cost 416 MB, and seconds past every time bound. Trigger:
// four million entries of two bytes.
func TestACatalogOfMillions(t *testing.T) {
	entries := strings.Repeat("1,", maxCatalog/2-64) + "1"
	for _, body := range []string{"[" + entries + "]", `{"models":[],"data":[` + entries + "]}"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, ok := catalog([]byte(body))
		if !ok || len(list) != maxModels {
			t.Errorf("got %d entries, %v", len(list), ok)
		}
		got, err := models(t.Context(), list)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; len(got) != 0 || err != nil || used > 64<<20 {
			t.Errorf("got %d models, %v, %d MiB", len(got), err, used>>20)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := models(ctx, []json.RawMessage{[]byte(`"a"`)}); got != nil || err == nil {
		t.Errorf("cancelled: got %v, %v", got, err)
	}
	large := `{"id":"a","loaded_instances":[` + strings.Repeat("{},", maxEntry/3) + "{}]}"
	if got, err := models(t.Context(), []json.RawMessage{[]byte(large), []byte(`"b"`)}); len(got) != 1 || err != nil {
		t.Errorf("a large entry: got %v, %v", got, err)
	}
}

func TestModelPrices(t *testing.T) {
	for pricing, want := range map[string]string{
		`{"prompt":"0.00000125","completion":"0.00001","input_cache_read":"0.000000125","image":"0.1"}`: "1.25 10 0.125",
		`{"prompt":0.000003,"completion":"0.000015"}`:                                                   "3 15 3",
		`{"prompt":"0","completion":"0"}`:                                                               "0 0 0",
		`{"prompt":"-1","completion":"-1"}`:                                                             "",
		`{"prompt":"0.1"}`:                                                                              "",
		`{"prompt":"NaN","completion":"1e400"}`:                                                         "",
		`{"prompt":"2","completion":"0.1"}`:                                                             "",
		`{"prompt":{},"completion":[]}`:                                                                 "",
		`"free"`:                                                                                        "",
		`null`:                                                                                          "",
	} {
		models, err := list(t, 200, `{"data":[{"id":"a","pricing":`+pricing+`}]}`)
		if err != nil || len(models) != 1 {
			t.Fatalf("%s: got %v, %v", pricing, models, err)
		}
		got := ""
		if p := models[0].Price; p != nil {
			got = fmt.Sprint(p.Input, p.Output, p.CachedInput)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", pricing, got, want)
		}
	}
}

func TestModelsFailures(t *testing.T) {
	cases := []struct {
		status int
		body   string
		cause  llm.Cause
	}{
		{401, `{"error":"bad key sk-1234"}`, llm.CauseAuth},
		{404, "", llm.CauseBadRequest},
		{200, "<html><title>Hi</title>", llm.CauseBadRequest},
		{200, `{"error":{"code":429,"message":"slow"}}`, llm.CauseRateLimited},
		{200, `{"data":7}`, llm.CauseBadRequest},
		{200, "[" + strings.Repeat(" ", maxCatalog) + "]", llm.CauseBadRequest},
		{200, "", llm.CauseBadRequest},
	}
	for _, c := range cases {
		models, err := list(t, c.status, c.body)
		if llm.CauseOf(err) != c.cause || models != nil || strings.Contains(err.Error(), "sk-1234") {
			t.Errorf("%d %.40q: got %v, %v, want %s", c.status, c.body, models, err, c.cause)
		}
	}
}
