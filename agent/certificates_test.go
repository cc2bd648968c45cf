package agent

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
)

// The authorities of provider.caFile count for the model's server, and a file that
// can not be used is told before anything starts.
func TestAuthoritiesOfTheConfiguration(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"": false, file: true} {
		cfg := config.Default()
		cfg.Provider.BaseURL, cfg.Provider.CAFile = s.URL, name
		a, err := New(t.Context(), Options{Dir: t.TempDir(), Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := a.clients.Client("provider").Get(s.URL)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != want {
			t.Errorf("with %q: got %v", name, err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	cfg := config.Default()
	cfg.Provider.ClientCert = file + ".gone"
	if _, err := New(t.Context(), Options{Dir: t.TempDir(), Config: cfg}); err == nil || !strings.Contains(err.Error(), "provider.clientCert") {
		t.Errorf("a certificate that is not there: got %v", err)
	}
}
