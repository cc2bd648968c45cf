package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/plug"
)

// The extension points (spec plugins.md, "Extension points").
const (
	pointMascot = "mascot"
	pointScreen = "startup-screen"
	pointSearch = "websearch"
	pointFacts  = "facts"
)

// Conflict tells that providers of an extension point have the same priority.
type Conflict struct {
	Point string
	// Winner and Losers are plugin/provider, the losers in the order in which they
	// would have won.
	Winner string
	Losers []string
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("extension point %s: %s is used; %s has the same priority", c.Point, c.Winner, strings.Join(c.Losers, ", "))
}

// ranked sorts the providers of a point, the one that is used first: the highest
// priority, then the first plugin id, then the first registered of a plugin. The
// order in which plugins were loaded has no part in it.
func ranked[T any](l *list[T], priority func(T) int) []*row[T] {
	rows := slices.Clone(l.rows)
	slices.SortStableFunc(rows, func(a, b *row[T]) int {
		return cmp.Or(cmp.Compare(priority(b.value), priority(a.value)), cmp.Compare(a.owner.id(), b.owner.id()))
	})
	return rows
}

// winner returns the provider of a point that is used, or nil.
func winner[T any](h *Host, l *list[T], priority func(T) int) *row[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	if rows := ranked(l, priority); len(rows) > 0 {
		return rows[0]
	}
	return nil
}

func mascotPriority(m plug.Mascot) int        { return m.Priority }
func screenPriority(s plug.StartupScreen) int { return s.Priority }
func searchPriority(s plug.WebSearch) int     { return s.Priority }

// conflicts lists the ties at the winning priorities. It is called with the lock
// held.
func (r *registry) conflicts() []Diagnostic {
	var all []Diagnostic
	all = tie(all, pointMascot, &r.mascots, mascotPriority)
	all = tie(all, pointScreen, &r.screens, screenPriority)
	return tie(all, pointSearch, &r.searches, searchPriority)
}

func tie[T any](all []Diagnostic, point string, l *list[T], priority func(T) int) []Diagnostic {
	rows := ranked(l, priority)
	if len(rows) < 2 || priority(rows[0].value) != priority(rows[1].value) {
		return all
	}
	c := &Conflict{Point: point, Winner: rows[0].title()}
	for _, r := range rows[1:] {
		if priority(r.value) == priority(rows[0].value) {
			c.Losers = append(c.Losers, r.title())
		}
	}
	return append(all, Diagnostic{Code: ExtensionConflict, Plugin: rows[0].owner.id(), Err: c})
}

// title names a provider: plugin/provider.
func (r *row[T]) title() string { return r.owner.id() + "/" + r.name }

// extend adds a provider of a point that was checked.
func extend[T any](h *Host, e *entry, l *list[T], point, id string, problem error, value T) (undo func(), err error) {
	if err := refusal(point, id, problem); err != nil {
		return nil, err
	}
	return add(h, e, l, inPlugin, point, id, value, nil)
}

// extensions makes the part of a plugin's API that fills extension points.
func (h *Host) extensions(e *entry) plug.Extensions {
	return plug.Extensions{
		Mascot: func(m plug.Mascot) (func(), error) {
			return extend(h, e, &h.r.mascots, pointMascot, m.ID, m.Check(), m)
		},
		StartupScreen: func(s plug.StartupScreen) (func(), error) {
			return extend(h, e, &h.r.screens, pointScreen, s.ID, s.Check(), s)
		},
		WebSearch: func(s plug.WebSearch) (func(), error) {
			return extend(h, e, &h.r.searches, pointSearch, s.ID, s.Check(), s)
		},
		Facts: func(f plug.Facts) (func(), error) {
			return extend(h, e, &h.r.facts, pointFacts, f.ID, f.Check(), f)
		},
	}
}

// failed keeps a provider's failure as a diagnostic, once; what a person ended is
// none.
func failed[T any](ctx context.Context, h *Host, point string, r *row[T], err error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return
	}
	name := point + " " + r.title()
	h.note(name, Diagnostic{Code: ExtensionFailed, Plugin: r.owner.id(), Err: fmt.Errorf("%s: %w", name, err)})
}
