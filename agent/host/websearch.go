package host

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what a web search gives.
const (
	maxHits    = 20
	maxHitText = 2000 // bytes
	maxHitURL  = 2000
)

// ErrNoSearch tells that no plugin searches the web.
var ErrNoSearch = errors.New("no plugin provides web search")

// Searches reports whether a plugin provides web search.
func (h *Host) Searches() bool { return winner(h, &h.r.searches, searchPriority) != nil }

// WebSearch asks the provider of the extension point websearch, within 30 s. It
// returns at most 20 hits in plain text whose URLs are http or https. The error is
// ErrNoSearch, or the provider's failure: its caller goes on with what the
// configuration names.
func (h *Host) WebSearch(ctx context.Context, query string) ([]plug.SearchHit, error) {
	r := winner(h, &h.r.searches, searchPriority)
	if r == nil {
		return nil, ErrNoSearch
	}
	hits, err := call(ctx, r.owner, searchLimit, func(ctx context.Context) ([]plug.SearchHit, error) {
		return r.value.Search(ctx, query)
	})
	if err != nil {
		failed(ctx, h, pointSearch, r, err)
		return nil, fmt.Errorf("search with %s: %w", r.title(), err)
	}
	clean := []plug.SearchHit{}
	for _, hit := range hits {
		if len(clean) == maxHits {
			break
		}
		if !isWeb(hit.URL) {
			continue
		}
		clean = append(clean, plug.SearchHit{Title: tell(hit.Title), URL: hit.URL, Snippet: text.Line(text.Prefix(hit.Snippet, maxHitText))})
	}
	return clean, nil
}

func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= maxHitURL && text.IsPlain(s) && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}
