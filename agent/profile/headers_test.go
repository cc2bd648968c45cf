package profile

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
)

// chosen chooses with a provider that says what it was made with.
func chosen(t *testing.T, cfg config.Config, env map[string]string) (Choice, *plug.ProviderSettings, error) {
	t.Helper()
	var r Registry
	var got *plug.ProviderSettings
	if _, err := r.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
		Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
			got = &s
			return nobody{}, nil
		}}); err != nil {
		t.Fatal(err)
	}
	c, err := choose(&r, Selection{
		Config: cfg, Getenv: func(k string) string { return env[k] },
		Loopback: func(h string) bool { return h == "127.0.0.1" },
	})
	return c, got, err
}

func TestHeaders(t *testing.T) {
	const tenant, team = "tenant-0123456789abcdef", "blue"
	config := func(url string) string {
		return `{"provider":{"model":"m","auth":"none","baseURL":"` + url + `","extraHeaders":{"x-tenant":"TENANT","X-Team":"TEAM"}}}`
	}
	for _, c := range []struct {
		name, url string
		env       map[string]string
		fails     string
		cause     llm.Cause
	}{
		{"both", "https://gpu.example/v1", map[string]string{"TENANT": " " + tenant + "\n", "TEAM": team}, "", ""},
		{"this machine", "http://127.0.0.1:1/v1", map[string]string{"TENANT": tenant, "TEAM": team}, "", ""},
		{"one is missing", "https://gpu.example/v1", map[string]string{"TENANT": tenant}, "header X-Team: the variable TEAM is not set", llm.CauseAuth},
		{"one is missing here", "http://127.0.0.1:1/v1", map[string]string{"TEAM": team, "TENANT": " "}, "header X-Tenant: the variable TENANT is not set", llm.CauseAuth},
		{"plain http", "http://gpu.example/v1", map[string]string{"TENANT": tenant, "TEAM": team}, "plain http to gpu.example", llm.CauseBadRequest},
		{"a line break", "https://gpu.example/v1", map[string]string{"TENANT": tenant + "\r\nX: y", "TEAM": team}, "control or non-ASCII", llm.CauseAuth},
	} {
		t.Run(c.name, func(t *testing.T) {
			choice, got, err := chosen(t, load(t, config(c.url), c.env), c.env)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || llm.CauseOf(err) != c.cause || got != nil || strings.Contains(err.Error(), "0123") {
					t.Errorf("got %v (%s), created %v", err, llm.CauseOf(err), got)
				}
				return
			}
			want := map[string]string{"X-Tenant": tenant, "X-Team": team}
			if err != nil || !maps.Equal(got.Headers, want) || !slices.Equal(choice.Secrets, []string{tenant}) {
				t.Errorf("got %+v, secrets %q, %v", got, choice.Secrets, err)
			}
		})
	}
}

// What tools print is searched for the token alone, too.
func TestPartsOfHeadersAreSecrets(t *testing.T) {
	got := secrets("", map[string]string{"X-A": "Bearer gwtok-1234567890-abcdefgh", "X-B": "blue"})
	if want := []string{"Bearer gwtok-1234567890-abcdefgh", "gwtok-1234567890-abcdefgh"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProtocolAndBodyAreHandedOn(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-test-0123456789"}
	cfg := load(t, `{"provider":{"model":"m","apiMode":"responses","extraBody":{"text":{"verbosity":"low"}}}}`, key)
	choice, got, err := chosen(t, cfg, key)
	if err != nil || got.APIMode != "responses" || string(got.ExtraBody) != `{"text":{"verbosity":"low"}}` || got.Headers != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if !json.Valid(got.ExtraBody) || !slices.Equal(choice.Secrets, []string{"sk-test-0123456789"}) {
		t.Errorf("got %q", choice.Secrets)
	}
}

func TestInspectKeyLooksAtHeaders(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "sk-0123456789abcdef", "TENANT": "tenant-0123456789abcdef"}
	cfg := load(t, `{"provider":{"model":"m","extraHeaders":{"X-Tenant":"TENANT"}}}`, env)
	inspect := func() KeyReport {
		return InspectKey(Selection{Config: cfg, Getenv: func(k string) string { return env[k] }, Loopback: func(string) bool { return false }})
	}
	if k := inspect(); k.Err != nil || k.Hide("a tenant-0123456789abcdef sk-0123456789abcdef b") != "a [redacted] [redacted] b" {
		t.Errorf("got %v, %q", k.Err, k.Hide("a tenant-0123456789abcdef sk-0123456789abcdef b"))
	}
	env["TENANT"] = ""
	if k := inspect(); k.Err == nil || !strings.Contains(k.Err.Error(), "TENANT is not set") {
		t.Errorf("got %v", k.Err)
	}
}
