package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what a startup screen is told.
const (
	maxFacts     = 4 // of one source
	maxAllFacts  = 20
	maxFactLabel = 10 // cells
	maxFactText  = 200
)

// Startup returns what is shown before the first prompt: lines without a newline
// behind the last, none wider than the terminal. The caller fills in the terminal
// and what it knows (Version, Directory, Model, Server, Access, User, and Tips if
// it has some); plugins, facts and the mascot join here. Each provider has 250 ms;
// one that fails, panics or is late gives the default and a diagnostic.
func (h *Host) Startup(ctx context.Context, c plug.ScreenContext) string {
	c = clean(c)
	for _, p := range h.Plugins() {
		c.Plugins = append(c.Plugins, p.ID)
	}
	var both sync.WaitGroup
	var mascot []string
	both.Go(func() { mascot = h.mascot(ctx, plug.MascotContext{Terminal: c.Terminal, Version: c.Version}) })
	both.Go(func() { c.Facts = h.facts(ctx) })
	both.Wait()
	c.Mascot = strings.Join(mascot, "\n")
	return strings.Join(h.screen(ctx, c), "\n")
}

// clean takes control characters out of what a screen is told, and fills in what
// is missing.
func clean(c plug.ScreenContext) plug.ScreenContext {
	const usualColumns, smallest = 80, 10
	t := &c.Terminal
	if t.Columns <= 0 {
		t.Columns = usualColumns
	}
	t.Columns = max(smallest, min(t.Columns, maxColumns))
	for _, s := range []*string{&c.Version, &c.Directory, &c.Model, &c.Server, &c.Access, &c.User} {
		*s = tell(*s)
	}
	tips := c.Tips
	c.Tips, c.Facts, c.Plugins, c.Mascot = nil, nil, nil, ""
	for _, tip := range tips {
		c.Tips = append(c.Tips, tell(tip))
	}
	if len(c.Tips) == 0 {
		c.Tips = defaultTips()
	}
	return c
}

// drawn asks the provider of a point within its limit; false: the default is to be
// used.
func drawn[T any](ctx context.Context, h *Host, point string, r *row[T], draw func(ctx context.Context) (string, error)) (string, bool) {
	if r == nil {
		return "", false
	}
	s, err := call(ctx, r.owner, extensionLimit, draw)
	if err != nil {
		failed(ctx, h, point, r, err)
		return "", false
	}
	return s, true
}

// mascot is drawn within the whole width; the default screen puts it above its text
// where that leaves no room.
func (h *Host) mascot(ctx context.Context, c plug.MascotContext) []string {
	r := winner(h, &h.r.mascots, mascotPriority)
	s, ok := drawn(ctx, h, pointMascot, r, func(ctx context.Context) (string, error) { return r.value.Render(ctx, c) })
	if !ok {
		s = ali(c.Terminal)
	}
	return paint(s, c.Terminal, maxMascotLines)
}

// screen is the last step: it is told what mascot and facts gave.
func (h *Host) screen(ctx context.Context, c plug.ScreenContext) []string {
	r := winner(h, &h.r.screens, screenPriority)
	// The plugin gets lists of its own: it may run on when the default is drawn.
	own := c
	own.Plugins, own.Tips, own.Facts = slices.Clone(c.Plugins), slices.Clone(c.Tips), slices.Clone(c.Facts)
	s, ok := drawn(ctx, h, pointScreen, r, func(ctx context.Context) (string, error) { return r.value.Render(ctx, own) })
	if !ok {
		s = defaultScreen(c)
	}
	return paint(s, c.Terminal, maxScreenLines)
}

// facts asks all sources beside each other; they come sorted by plugin and id.
func (h *Host) facts(ctx context.Context) []plug.Fact {
	rows := rowsOf(h, &h.r.facts)
	slices.SortFunc(rows, func(a, b *row[plug.Facts]) int {
		return cmp.Or(cmp.Compare(a.owner.id(), b.owner.id()), cmp.Compare(a.name, b.name))
	})
	said := make([][]plug.Fact, len(rows))
	var all sync.WaitGroup
	for i, r := range rows {
		all.Go(func() {
			list, err := call(ctx, r.owner, extensionLimit, func(ctx context.Context) ([]plug.Fact, error) {
				list, err := r.value.List(ctx)
				return cleanFacts(list), err
			})
			if err != nil {
				failed(ctx, h, pointFacts, r, err)
				return
			}
			said[i] = list
		})
	}
	all.Wait()
	facts := slices.Concat(said...)
	return facts[:min(len(facts), maxAllFacts)]
}

func cleanFacts(list []plug.Fact) []plug.Fact {
	var out []plug.Fact
	for _, f := range list[:min(len(list), maxFacts)] {
		f = plug.Fact{Label: text.Clip(tell(f.Label), maxFactLabel), Text: text.Clip(tell(f.Text), maxFactText)}
		if f.Text != "" {
			out = append(out, f)
		}
	}
	return out
}
