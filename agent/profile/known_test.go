package profile

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"alisio/agent/config"
	"alisio/llm"
)

// many is a kept catalog of n models and the selection that it belongs to.
func many(tb testing.TB, n int) Selection {
	tb.Helper()
	s := Selection{Cache: tb.TempDir(), Config: config.Config{Provider: config.Provider{BaseURL: "http://h/v1", Model: fmt.Sprintf("vendor/model-%d-instruct", n/2)}}}
	c := Catalog{Fetched: time.Now()}
	for i := range n {
		c.Models = append(c.Models, llm.Model{
			ID: fmt.Sprintf("vendor/model-%d-instruct", i), ContextWindow: 128_000 + i, MaxOutputTokens: 16_384,
			Efforts: []string{"low", "medium", "high"}, Price: &llm.Price{Input: 0.25, Output: 1.25, CachedInput: 0.025},
		})
	}
	if err := s.keep(c); err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkKnown measures what each run does once: it finds a model among those of
// a router.
func BenchmarkKnown(b *testing.B) {
	s := many(b, 400)
	b.ReportAllocs()
	for b.Loop() {
		if m, _ := Known(s); m.ContextWindow != 128_200 {
			b.Fatalf("got %+v", m)
		}
	}
}

// A model is the same whether it was looked for alone or among all, whatever form
// the file has.
func TestKnownIsWhatTheWholeCatalogSays(t *testing.T) {
	s := many(t, 3)
	written, err := os.ReadFile(s.file())
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"schemaVersion":1,"fetched_ms":7,"models":[`
	for _, file := range []string{
		string(written),
		head + `{"id":"a","contextWindow":1},{"id":"b","contextWindow":2},{"id":"a","contextWindow":3}]}`,
		head + `{"id":"\u003ca\u003e","contextWindow":1},{"id":"a\"b","contextWindow":2},{"id":"é","contextWindow":3}]}`,
		head + `{"id":"x{\"id\":\"a\"","contextWindow":4},{"id":"a","effort":["{\"id\":\"b\"}"],"contextWindow":5}]}`,
		head + ` { "id" : "a" , "contextWindow" : 5 } ] } `,
		head + `{"contextWindow":5,"id":"a"}]}`,
		head + `]}`, head + `{"id":"a"}]`, head + `{"id":"a","contextWindow":"x"}]}`, head + `{"id":"a","contextWindow":-1}]}`,
		`{"models":[{"id":"a","contextWindow":6}],"fetched_ms":7,"schemaVersion":1}`,
		`{"schemaVersion":2,"fetched_ms":7,"models":[{"id":"a","contextWindow":6}]}`,
		`{"schemaVersion":1,"fetched_ms":0,"models":[{"id":"a","contextWindow":6}]}`,
		`[{"id":"a"}]}`, ``,
	} {
		if err := os.WriteFile(s.file(), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		all, _ := Kept(s)
		for _, id := range []string{"vendor/model-1-instruct", "a", "b", "<a>", "a\"b", "é", "A", "", "x{\"id\":\"a\"", "\xff"} {
			s.Config.Provider.Model = id
			want := model(s.Config, id)
			all.fill(&want)
			if got, fetched := Known(s); !reflect.DeepEqual(got, want) || !fetched.Equal(all.Fetched) {
				t.Errorf("%q in %s: got %+v, %v, want %+v, %v", id, file, got, fetched, want, all.Fetched)
			}
		}
	}
}

// What is looked for is cut out of the file that this program writes.
func TestCutKept(t *testing.T) {
	s := many(t, 400)
	data, err := os.ReadFile(s.file())
	if err != nil {
		t.Fatal(err)
	}
	one, ok := cutKept(data, s.Config.Provider.Model)
	c, whole := decodeKept(one)
	if !ok || !whole || len(c.Models) != 1 || c.Models[0].ID != s.Config.Provider.Model || len(one) > 500 {
		t.Errorf("got %s, %v", one, ok)
	}
	if got, ok := cutKept(data, "vendor/model-200"); ok {
		t.Errorf("got %s for the beginning of an id", got)
	}
	if got, ok := cutKept(data[:len(data)-1], s.Config.Provider.Model); ok {
		t.Errorf("got %s from a part of the file", got)
	}
}
