package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/agent/config"
	"alisio/agent/profile"
	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/plug"
)

// toyID is the plugin of the tests, whose provider takes bare endpoints.
const toyID = "toy"

func toyPlugin() plug.Plugin {
	return plug.Plugin{ID: toyID, Name: "Toy", Version: "1.0.0", APIVersion: plug.APIVersion,
		Setup: func(_ context.Context, api *plug.API) error {
			_, err := api.AddProvider(plug.ProviderRegistration{ID: toyID, Name: "Toy", Endpoint: true,
				Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
					return chatapi.New(chatapi.Config{ID: toyID, BaseURL: s.BaseURL, Key: s.Key, HTTP: api.HTTP(plug.PurposeProvider)}), nil
				}})
			return err
		}}
}

// toyServer is a model's server on a real socket that notes what it is asked.
type toyServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// models answers GET /models.
	models func(http.ResponseWriter, *http.Request)
}

func (s *toyServer) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, " ")
}

func serve(t *testing.T) *toyServer {
	t.Helper()
	s := &toyServer{models: func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[{"id":"m","context_length":4096}]}`)
	}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimPrefix(r.URL.Path, "/v1/"))
		s.mu.Unlock()
		if r.URL.Path == "/v1/models" {
			s.models(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// toyOptions make an application that goes to a server.
func toyOptions(t *testing.T, url string) Options {
	t.Helper()
	cfg := config.Default()
	cfg.Provider.BaseURL, cfg.Provider.Model = url+"/v1", "m"
	home := t.TempDir()
	return Options{
		Dir: t.TempDir(), Config: cfg, Plugins: []plug.Plugin{toyPlugin()}, Getenv: func(string) string { return "" },
		Dirs: config.Dirs{Config: filepath.Join(home, "config"), State: filepath.Join(home, "state"), Cache: filepath.Join(home, "cache")},
	}
}

func open(t *testing.T, o Options) *App {
	t.Helper()
	a, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// keep puts a catalog of an age where the application looks for one.
func keep(t *testing.T, o Options, age time.Duration) (file string) {
	t.Helper()
	sum := sha256.Sum256([]byte(o.Config.Provider.BaseURL))
	file = filepath.Join(o.Dirs.Cache, "models", hex.EncodeToString(sum[:])+".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"schemaVersion":1,"fetched_ms":%d,"models":[{"id":"old","contextWindow":8}]}`, time.Now().Add(-age).UnixMilli())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func first(c Catalog) string {
	if len(c.Models) == 0 {
		return ""
	}
	return c.Models[0].ID
}

func TestModelsAsksOnlyWhereItMust(t *testing.T) {
	for _, c := range []struct {
		name    string
		age     time.Duration // of what is kept, zero for nothing
		refresh bool
		want    string
		asked   string
	}{
		{"nothing kept", 0, false, "m", "models"},
		{"kept", time.Hour, false, "old", ""},
		{"kept and refreshed", time.Hour, true, "m", "models"},
		{"kept for long", 48 * time.Hour, false, "m", "models"},
		{"kept in the future", -48 * time.Hour, false, "m", "models"},
	} {
		s := serve(t)
		o := toyOptions(t, s.URL)
		o.Config.Provider.Model = "" // none need be chosen
		if c.age != 0 {
			keep(t, o, c.age)
		}
		got, err := open(t, o).Models(t.Context(), c.refresh)
		if err != nil || first(got) != c.want || got.Stale != nil || s.seen() != c.asked {
			t.Errorf("%s: got %+v, %v, asked %q", c.name, got, err, s.seen())
		}
	}
}

func TestModelsWithTheServerGone(t *testing.T) {
	s := serve(t)
	o := toyOptions(t, s.URL)
	keep(t, o, 72*time.Hour)
	s.Close()
	c, err := open(t, o).Models(t.Context(), true)
	if err != nil || first(c) != "old" || llm.CauseOf(c.Stale) != llm.CauseUnreachable || time.Since(c.Fetched) < 71*time.Hour {
		t.Errorf("got %+v, %v", c, err)
	}
	o.Dirs.Cache = t.TempDir()
	if c, err := open(t, o).Models(t.Context(), true); llm.CauseOf(err) != llm.CauseUnreachable || c.Models != nil {
		t.Errorf("nothing kept: got %+v, %v", c, err)
	}
}

func TestModelsOfAnEmbeddersProvider(t *testing.T) {
	s := serve(t)
	c := chatapi.New(chatapi.Config{ID: "own", BaseURL: s.URL + "/v1", HTTP: s.Client()})
	o := toyOptions(t, "http://127.0.0.1:1")
	o.Provider = c
	if got, err := open(t, o).Models(t.Context(), false); err != nil || first(got) != "m" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := os.Stat(o.Dirs.Cache); err == nil {
		t.Error("the catalog of a provider without an address was kept")
	}
}

// A run adds no request of its own, but where an old catalog is kept: then one,
// behind the first answer.
func TestRunRenewsAnOldCatalogBehindItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		age  time.Duration
		want string
	}{
		{"nothing kept", 0, "chat/completions chat/completions"},
		{"kept", time.Hour, "chat/completions chat/completions"},
		{"kept for long", 48 * time.Hour, "chat/completions models chat/completions"},
	} {
		s := serve(t)
		o := toyOptions(t, s.URL)
		if c.age != 0 {
			keep(t, o, c.age)
		}
		a, err := New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Run(t.Context(), "", "hello", RunOptions{})
		if err != nil || out.Text != "hi" {
			t.Fatalf("%s: got %+v, %v", c.name, out, err)
		}
		for old := c.age > 24*time.Hour; old; runtime.Gosched() {
			kept, _ := profile.Kept(o.Selection())
			old = time.Since(kept.Fetched) > time.Hour && t.Context().Err() == nil
		}
		if out, err = a.Run(t.Context(), out.SessionID, "again", RunOptions{}); err != nil || out.Text != "hi" {
			t.Fatalf("%s: got %+v, %v", c.name, out, err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.seen(); got != c.want {
			t.Errorf("%s: asked %q, want %q", c.name, got, c.want)
		}
		kept, err := open(t, o).Models(t.Context(), false)
		if want := map[bool]string{true: "old", false: "m"}[c.age == time.Hour]; err != nil || first(kept) != want {
			t.Errorf("%s: got %+v, %v, want %s", c.name, kept, err, want)
		}
	}
}

// The end of the program waits for no server: the catalog that was being fetched
// is given up.
func TestCloseGivesTheCatalogUp(t *testing.T) {
	s := serve(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	s.models = func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	}
	o := toyOptions(t, s.URL)
	file := keep(t, o, 48*time.Hour)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "", "hello", RunOptions{}); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the file holds %s, %v", after, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("something was left: %v, %v", entries, err)
	}
}

// The window that a kept catalog names is the one that a run works with.
func TestKeptCatalogFillsTheModel(t *testing.T) {
	s := serve(t)
	o := toyOptions(t, s.URL)
	o.Config.Provider.Model = "old"
	keep(t, o, time.Hour)
	c, err := open(t, o).choose(t.Context(), "")
	if err != nil || c.Model.ContextWindow != 8 || s.seen() != "" {
		t.Errorf("got %+v, %v, asked %q", c.Model, err, s.seen())
	}
}
