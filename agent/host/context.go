package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"alisio/plug"
)

// textKey finds the last text of a source in a session.
type textKey struct {
	source  *row[plug.ContextSource]
	session string
}

// maxTexts bounds the last texts that are kept; the oldest goes first.
const maxTexts = 256

// Context asks all context sources what stands in the context of a session, each
// within a second, beside each other, and returns what they say sorted by source.
// An empty text says that nothing stands there. One that fails keeps its last
// text, and is told of once; if it has none, it is left out: nothing is known of
// it.
func (h *Host) Context(ctx context.Context, sessionID string) []Injected {
	rows := rowsOf(h, &h.r.contexts)
	said := make([]*Injected, len(rows))
	var all sync.WaitGroup
	for i, r := range rows {
		all.Go(func() {
			source := r.owner.id() + "/" + r.name
			key := textKey{r, sessionID}
			t, err := call(ctx, r.owner, contextLimit, func(ctx context.Context) (string, error) {
				t, err := r.value.Text(ctx, sessionID)
				return injected(t), err
			})
			if err == nil {
				h.remember(key, t)
				said[i] = &Injected{source, t}
				return
			}
			if ctx.Err() == nil {
				h.note("context "+source, Diagnostic{Code: ContextFailed, Plugin: r.owner.id(), Err: fmt.Errorf("context %s: %w", source, err)})
			}
			if t, known := h.remembered(key); known {
				said[i] = &Injected{source, t}
			}
		})
	}
	all.Wait()
	var texts []Injected
	for _, s := range said {
		if s != nil {
			texts = append(texts, *s)
		}
	}
	slices.SortFunc(texts, func(a, b Injected) int { return cmp.Compare(a.Source, b.Source) })
	return texts
}

func (h *Host) remember(key textKey, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.lastText[key]; !known {
		if len(h.textKeys) >= maxTexts {
			delete(h.lastText, h.textKeys[0])
			h.textKeys = slices.Delete(h.textKeys, 0, 1)
		}
		h.textKeys = append(h.textKeys, key)
	}
	h.lastText[key] = text
}

func (h *Host) remembered(key textKey) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, known := h.lastText[key]
	return t, known
}
