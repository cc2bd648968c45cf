package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/plug"
)

const key = "sk-0123456789abcdef"

// shop is a real server with a catalog, and the selection that leads there.
type shop struct {
	*httptest.Server
	registry Registry
	asked    atomic.Int32
	s        Selection
}

func open(t *testing.T, body string) *shop {
	t.Helper()
	p := &shop{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("got %s %s with %q", r.Method, r.URL, r.Header)
		}
		io.WriteString(w, body)
	}))
	t.Cleanup(p.Close)
	_, err := p.registry.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
		Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
			return chatapi.New(chatapi.Config{ID: "toy", BaseURL: s.BaseURL, Key: s.Key, HTTP: p.Client()}), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	p.s = Selection{
		Config: load(t, `{"provider":{"model":"a","baseURL":"`+p.URL+`/v1"},"models":{"b":{"contextWindow":7}}}`, nil),
		Getenv: func(string) string { return key }, Loopback: func(string) bool { return true },
		Cache: filepath.Join(t.TempDir(), "cache"),
	}
	return p
}

const wares = `{"data":[{"id":"b","context_length":9,"max_output_tokens":3},{"id":"a","context_length":8,"max_output_tokens":4,"pricing":{"prompt":"0.000001","completion":"0.000002"}},{"id":"` + key + `"}]}`

func ids(c Catalog) string {
	var all []string
	for _, m := range c.Models {
		all = append(all, fmt.Sprintf("%s:%d:%d", m.ID, m.ContextWindow, m.MaxOutputTokens))
	}
	return strings.Join(all, " ")
}

func TestCatalogIsKeptForWhenTheServerIsGone(t *testing.T) {
	p := open(t, wares)
	c, err := p.registry.Models(t.Context(), p.s)
	if err != nil || ids(c) != "b:9:3 a:8:4" || c.Stale != nil || c.Unkept != nil || due(c.Fetched, time.Now()) {
		t.Fatalf("got %+v, %v", c, err)
	}
	p.Close()
	again, err := p.registry.Models(t.Context(), p.s)
	if err != nil || !reflect.DeepEqual(again.Models, c.Models) || !again.Fetched.Equal(c.Fetched.Truncate(time.Millisecond)) {
		t.Errorf("got %+v, %v, want what was kept", again, err)
	}
	if llm.CauseOf(again.Stale) != llm.CauseUnreachable {
		t.Errorf("got the reason %v", again.Stale)
	}
	other := p.s
	other.Config.Provider.BaseURL += "/else"
	if c, err := p.registry.Models(t.Context(), other); llm.CauseOf(err) != llm.CauseUnreachable || c.Models != nil {
		t.Errorf("another server: got %+v, %v", c, err)
	}
	other = p.s
	other.Cache = ""
	if c, err := p.registry.Models(t.Context(), other); err == nil {
		t.Errorf("without a cache: got %+v", c)
	}
}

func TestNoKeyLeavesWhatWasKept(t *testing.T) {
	p := open(t, wares)
	if _, err := p.registry.Models(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	p.s.Getenv, p.s.Loopback = func(string) string { return "" }, func(string) bool { return false }
	c, err := p.registry.Models(t.Context(), p.s)
	if err != nil || ids(c) != "b:9:3 a:8:4" || llm.CauseOf(c.Stale) != llm.CauseAuth || p.asked.Load() != 1 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestCancelGivesNoOldList(t *testing.T) {
	p := open(t, wares)
	if _, err := p.registry.Models(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := p.registry.Models(ctx, p.s); !errors.Is(err, context.Canceled) || c.Models != nil {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestCatalogFile(t *testing.T) {
	p := open(t, wares)
	if _, err := p.registry.Models(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.s.Cache, "models")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || len(entries[0].Name()) != 64+len(".json") {
		t.Fatalf("got %v, %v, want one file", entries, err)
	}
	file := filepath.Join(dir, entries[0].Name())
	for path, want := range map[string]os.FileMode{dir: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), key) || strings.Contains(string(data), "127.0.0.1") {
		t.Errorf("got %s, %v, want neither key nor address", data, err)
	}
}

func TestDamagedCatalogIsWrittenOver(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"text":            func(f string) error { return os.WriteFile(f, []byte("{"), 0o600) },
		"empty":           func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"other version":   func(f string) error { return os.WriteFile(f, []byte(`{"schemaVersion":2,"fetched_ms":1}`), 0o600) },
		"no time":         func(f string) error { return os.WriteFile(f, []byte(`{"schemaVersion":1}`), 0o600) },
		"other types":     func(f string) error { return os.WriteFile(f, []byte(`{"schemaVersion":1,"models":{"id":[]}}`), 0o600) },
		"larger than all": func(f string) error { return os.Truncate(f, maxKept+1) },
	} {
		p := open(t, wares)
		if _, err := p.registry.Models(t.Context(), p.s); err != nil {
			t.Fatal(err)
		}
		if err := damage(p.s.file()); err != nil {
			t.Fatal(err)
		}
		if c, ok := Kept(p.s); ok {
			t.Errorf("%s: got %+v", name, c)
		}
		if c, err := choose(&p.registry, p.s); err != nil || c.Model.ContextWindow != 0 {
			t.Errorf("%s: chose %+v, %v", name, c, err)
		}
		if _, err := p.registry.Models(t.Context(), p.s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := Kept(p.s); !ok {
			t.Errorf("%s: it was not written over", name)
		}
	}
}

// What can not be kept is shown all the same.
func TestCatalogThatCanNotBeKept(t *testing.T) {
	p := open(t, wares)
	if err := os.WriteFile(p.s.Cache, nil, 0o600); err != nil { // a file in the way
		t.Fatal(err)
	}
	c, err := p.registry.Models(t.Context(), p.s)
	if err != nil || len(c.Models) != 2 || c.Unkept == nil || !strings.HasPrefix(c.Unkept.Error(), "keep the list of models: ") {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestConfigurationGoesBeforeTheCatalog(t *testing.T) {
	p := open(t, wares)
	if c, err := choose(&p.registry, p.s); err != nil || c.Model.ContextWindow != 0 || !c.Kept.IsZero() {
		t.Fatalf("nothing kept: got %+v, %v", c, err)
	}
	if _, err := p.registry.Models(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model          string
		set            int // provider.contextWindow
		window, output int
		price          bool
	}{
		{"a", 0, 8, 4, true}, {"a", 5, 5, 4, true}, // the configuration of the provider
		{"b", 0, 7, 3, false}, {"b", 6, 6, 3, false}, // that of the model
		{"none", 0, 0, 0, false},
	} {
		s := p.s
		s.Config.Provider.Model, s.Config.Provider.ContextWindow = c.model, c.set
		got, err := choose(&p.registry, s)
		if err != nil || got.Model.ContextWindow != c.window || got.Model.MaxOutputTokens != c.output ||
			(got.Model.Price != nil) != c.price || got.Kept.IsZero() {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
	if got := p.asked.Load(); got != 1 {
		t.Errorf("the server was asked %d times, want once", got)
	}
}

func TestUsable(t *testing.T) {
	nan := llm.Price{Input: math.NaN()}
	many := make([]llm.Model, maxModels+5)
	for i := range many {
		many[i].ID = fmt.Sprint("m", i)
	}
	if got := len(usable(many)); got != maxModels {
		t.Errorf("got %d models", got)
	}
	got := usable([]llm.Model{
		{ID: "a", ContextWindow: -1, MaxOutputTokens: 1 << 40, Price: &nan, Efforts: []string{"low", "\x1b"}},
		{ID: "a", ContextWindow: 5}, {ID: ""}, {ID: "x\x1b[2J"}, {ID: "\u202eb"}, {ID: strings.Repeat("x", 257)}, {ID: "has secret in it"},
		{ID: "ok", Efforts: []string{"low"}, Price: &llm.Price{Input: 1}},
	}, "secret")
	want := []llm.Model{{ID: "a"}, {ID: "ok", Efforts: []string{"low"}, Price: &llm.Price{Input: 1}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDue(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: false, 24 * time.Hour: false, 25 * time.Hour: true, -time.Hour: true} {
		if got := due(now.Add(-age), now); got != want {
			t.Errorf("%v: got %v", age, got)
		}
	}
	if !due(time.UnixMilli(math.MaxInt64), now) || !due(time.Time{}, now) {
		t.Error("the ends of time are not due")
	}
}

func TestProviderWithoutACatalog(t *testing.T) {
	var r Registry
	r.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
		Create: func(context.Context, plug.ProviderSettings) (llm.Provider, error) { return plain{}, nil }})
	s := Selection{Config: config.Default(), Getenv: func(string) string { return key }, Loopback: func(string) bool { return false }}
	if _, err := r.Models(t.Context(), s); err == nil || !strings.Contains(err.Error(), "has no catalog") {
		t.Errorf("got %v", err)
	}
}

type plain struct{ llm.Provider }

func (plain) ID() string   { return "plain" }
func (plain) Close() error { return nil }

// BenchmarkKept is what a kept catalog adds to the start of a run; OpenRouter's
// has about 400 models.
func BenchmarkKept(b *testing.B) {
	s := Selection{Config: config.Default(), Cache: b.TempDir()}
	c := Catalog{Fetched: time.Now()}
	for i := range 400 {
		c.Models = append(c.Models, llm.Model{ID: fmt.Sprintf("vendor/model-%d", i), ContextWindow: 128000, MaxOutputTokens: 16000, Price: &llm.Price{Input: 1.25, Output: 10}})
	}
	if err := s.keep(c); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if k, ok := Kept(s); !ok || len(k.Models) != 400 {
			b.Fatal("it was not read")
		}
	}
}

// hung is a provider whose server takes the request and says nothing.
type hung struct{ plain }

func (hung) Models(ctx context.Context) ([]llm.Model, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSilentServerIsGivenUp(t *testing.T) {
	s := Selection{
		Config: config.Default(), Getenv: func(string) string { return key }, Loopback: func(string) bool { return false },
		Cache: t.TempDir(),
	}
	if err := s.keep(Catalog{Models: []llm.Model{{ID: "a"}}, Fetched: time.Now()}); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var r Registry
		r.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
			Create: func(context.Context, plug.ProviderSettings) (llm.Provider, error) { return hung{}, nil }})
		begun := time.Now()
		c, err := r.Models(t.Context(), s)
		if err != nil || ids(c) != "a:0:0" || llm.CauseOf(c.Stale) != llm.CauseTimeout || time.Since(begun) != modelsLimit {
			t.Errorf("got %+v, %v after %v", c, err, time.Since(begun))
		}
	})
}
