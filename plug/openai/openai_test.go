package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/plug"
	"alisio/plug/plugtest"
)

// register sets the plugin up and returns what it registered.
func register(t *testing.T, client *http.Client) plug.ProviderRegistration {
	t.Helper()
	var got []plug.ProviderRegistration
	api := &plug.API{
		AddProvider: func(r plug.ProviderRegistration) (func(), error) {
			got = append(got, r)
			return func() {}, nil
		},
		HTTP: func(p plug.Purpose) *http.Client {
			if p != plug.PurposeProvider {
				t.Errorf("asked for a client for %q", p)
			}
			return client
		},
	}
	if err := Plugin().Setup(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("registered %d providers, want 1", len(got))
	}
	return got[0]
}

func TestProviderTalksToItsServer(t *testing.T) {
	const end = "\n\ndata: [DONE]\n\n"
	for mode, c := range map[string]struct{ path, answer, api, token, more string }{
		"": {
			"/chat/completions", `data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}` + end,
			"chat", `"max_completion_tokens":9`, "include_usage",
		},
		"responses": {
			"/responses", `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}` +
				"\n\n" + `data: {"type":"response.completed"}` + end,
			"responses", `"max_output_tokens":9`, `"store":false`,
		},
	} {
		t.Run(c.api, func(t *testing.T) {
			var path, body, agent, auth, tenant string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				path, body, agent, auth = r.URL.Path, string(b), r.UserAgent(), r.Header.Get("Authorization")
				tenant = r.Header.Get("X-Tenant")
				io.WriteString(w, c.answer)
			}))
			defer s.Close()
			r := register(t, s.Client())
			if r.ID != ID || !r.Endpoint || r.Name == "" {
				t.Errorf("got %+v", r)
			}
			p, err := r.Create(t.Context(), plug.ProviderSettings{
				BaseURL: s.URL, Key: "sk-1", APIMode: mode, TokenParameter: "max_completion_tokens", StreamUsage: true, UserAgent: "alisio/1",
				Headers: map[string]string{"X-Tenant": "t"}, ExtraBody: json.RawMessage(`{"top_k":5}`),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var last llm.Event
			for ev, err := range p.Stream(t.Context(), llm.Request{Model: "m", MaxOutputTokens: 9, Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}) {
				if err != nil {
					t.Fatal(err)
				}
				last = ev
			}
			if last.Kind != llm.Completed || last.Message == nil {
				t.Fatalf("got %+v", last)
			}
			origin := llm.Origin{Provider: ID, API: c.api, Model: "m", Server: strings.TrimPrefix(s.URL, "http://")}
			if m := last.Message; m.Text != "Hello" || m.Origin != origin {
				t.Errorf("got %+v", *m)
			}
			if path != c.path || agent != "alisio/1" || auth != "Bearer sk-1" || !strings.Contains(body, c.token) || !strings.Contains(body, c.more) {
				t.Errorf("got %s, agent %q, authorization %q, body %s", path, agent, auth, body)
			}
			if tenant != "t" || !strings.Contains(body, `,"top_k":5,`) {
				t.Errorf("got tenant %q, body %s", tenant, body)
			}
			if _, ok := p.(llm.ModelLister); !ok {
				t.Error("the provider has no catalog")
			}
		})
	}
}

func TestCreateRefusesAnUnknownProtocol(t *testing.T) {
	_, err := register(t, nil).Create(t.Context(), plug.ProviderSettings{BaseURL: "http://203.0.113.1", APIMode: "grpc"})
	if llm.CauseOf(err) != llm.CauseBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestSetupReportsARefusedRegistration(t *testing.T) {
	refused := errors.New("two providers take a base URL")
	api := &plug.API{AddProvider: func(plug.ProviderRegistration) (func(), error) { return nil, refused }}
	if err := Plugin().Setup(t.Context(), api); !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
}

func TestSetupContactsNobody(t *testing.T) {
	r := register(t, nil)
	if _, err := r.Create(t.Context(), plug.ProviderSettings{BaseURL: "http://203.0.113.1"}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestConformance(t *testing.T) { plugtest.Run(t, Plugin) }
