package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/plug"
)

// toyID is the plugin of the tests, whose provider takes bare endpoints.
const toyID = "toy"

// toyPlugin asks through a client; nil is the one that plugins are handed.
func toyPlugin(c *http.Client) plug.Plugin {
	return plug.Plugin{ID: toyID, Name: "Toy", Version: "1.0.0", APIVersion: plug.APIVersion,
		Setup: func(_ context.Context, api *plug.API) error {
			_, err := api.AddProvider(plug.ProviderRegistration{ID: toyID, Name: "Toy", Endpoint: true,
				Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
					by := c
					if by == nil {
						by = api.HTTP(plug.PurposeProvider)
					}
					return chatapi.New(chatapi.Config{ID: toyID, BaseURL: s.BaseURL, Key: s.Key, HTTP: by}), nil
				}})
			return err
		}}
}

// toyServer is a model's server on a real socket that notes what it is asked.
type toyServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// models answers GET /models; nothing else is answered.
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
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		s.models(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

const secretKey = "sk-0123456789abcdef"

// patient is a person with everything in order, which a test then disturbs.
type patient struct {
	home, root string
	env        map[string]string
	o          Options
}

func sound(t *testing.T, url string) *patient {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{home: home, root: repository(t), env: map[string]string{"OPENAI_API_KEY": secretKey}}
	dirs := config.Dirs{Config: p.at("config"), State: p.at("state"), Cache: p.at("cache")}
	for _, dir := range []string{dirs.Config, dirs.State, dirs.Cache} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write(t, `{"provider":{"model":"m","baseURL":"`+url+`/v1","contextWindow":4096}}`)
	getenv := func(name string) string { return p.env[name] }
	p.o = Options{
		App:      agent.Options{Dir: p.root, Dirs: dirs, Plugins: []plug.Plugin{toyPlugin(nil)}, Getenv: getenv},
		Load:     config.LoadOptions{Dirs: dirs, Dir: p.root, Getenv: getenv},
		Terminal: Terminal{Term: "xterm", Colour: "256 colours", Size: "80x24", Locale: "C.UTF-8"},
	}
	return p
}

// repository makes one with instructions in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", "AGENTS.md": "rules"} {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func (p *patient) at(name string) string { return filepath.Join(p.home, name) }

func (p *patient) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(p.at("config/config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// with makes the plugin of a patient ask through a client.
func (p *patient) with(c *http.Client) { p.o.App.Plugins = []plug.Plugin{toyPlugin(c)} }

// found looks for a check of a name and level whose text and remedy hold some
// words.
func found(checks []Check, name string, level agent.Level, words, remedy string) bool {
	return slices.ContainsFunc(checks, func(c Check) bool {
		return c.Name == name && c.Level == level && strings.Contains(c.Text, words) && strings.Contains(c.Remedy, remedy) && (remedy != "" || c.Remedy == "")
	})
}

// listing renders checks for a failure's message.
func listing(checks []Check) string {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%s: %s: %s (%s)\n", c.Level, c.Name, c.Text, c.Remedy)
	}
	return b.String()
}

// keyless fails when a check shows the key, or has something for a terminal.
func keyless(t *testing.T, checks []Check) {
	t.Helper()
	for _, c := range checks {
		if s := c.Text + c.Remedy; strings.Contains(s, "0123456789") || strings.ContainsAny(s, "\n\x1b") {
			t.Errorf("the key or a control character is in %+v", c)
		}
	}
}
