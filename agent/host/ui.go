package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what plugins show.
const (
	maxStatus  = 40  // cells
	maxLabel   = 200 // cells
	maxActions = 8
	maxAction  = 20 // bytes
)

// Surface is where a person sees what plugins show.
type Surface struct {
	// Changed tells that Statuses or Panels give something else. It is called from
	// any goroutine and must not wait.
	Changed func()
	// Open shows a session in a read-only view.
	Open func(sessionID string) error
}

// Status is a plugin's word in the status bar.
type Status struct{ Plugin, Text string }

// Panel is a plugin's tree. Its Act ends with its context or after 10 s.
type Panel struct {
	Plugin string
	plug.Panel
}

// port keeps what plugins show, for the surface that is bound and for one that
// comes later.
type port struct {
	mu       sync.Mutex
	surface  *Surface
	statuses map[string]string
	panels   map[string]plug.Panel
}

// Bind makes s the surface. A later one takes its place; unbind ends its own time
// alone.
func (h *Host) Bind(s Surface) (unbind func()) {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	bound := &s
	h.ui.surface = bound
	return func() {
		h.ui.mu.Lock()
		defer h.ui.mu.Unlock()
		if h.ui.surface == bound {
			h.ui.surface = nil
		}
	}
}

func (p *port) bound() *Surface {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.surface
}

// Statuses lists the words of the status bar, sorted by plugin.
func (h *Host) Statuses() []Status {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	var all []Status
	for id, s := range h.ui.statuses {
		all = append(all, Status{id, s})
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return all
}

// Panels lists the trees, sorted by plugin.
func (h *Host) Panels() []Panel {
	h.ui.mu.Lock()
	defer h.ui.mu.Unlock()
	var all []Panel
	for id, p := range h.ui.panels {
		all = append(all, Panel{id, p})
	}
	slices.SortFunc(all, func(a, b Panel) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return all
}

// change changes what is shown and tells the surface, which is called without a
// lock: it asks for all of it again.
func (p *port) change(do func()) {
	p.mu.Lock()
	do()
	s := p.surface
	p.mu.Unlock()
	if s != nil && s.Changed != nil {
		s.Changed()
	}
}

// drop takes away what a plugin shows.
func (p *port) drop(id string) {
	p.mu.Lock()
	_, status := p.statuses[id]
	_, panel := p.panels[id]
	p.mu.Unlock()
	if !status && !panel {
		return
	}
	p.change(func() {
		delete(p.statuses, id)
		delete(p.panels, id)
	})
}

func (h *Host) setStatus(e *entry, s string) {
	s = text.Clip(tell(s), maxStatus)
	p := &h.ui
	p.change(func() {
		if h.shows(e) != nil || s == "" {
			delete(p.statuses, e.id())
			return
		}
		if p.statuses == nil {
			p.statuses = map[string]string{}
		}
		p.statuses[e.id()] = s
	})
}

func (h *Host) setPanel(e *entry, panel plug.Panel) {
	panel = h.checkPanel(e, panel)
	p := &h.ui
	p.change(func() {
		if h.shows(e) != nil || len(panel.Nodes) == 0 {
			delete(p.panels, e.id())
			return
		}
		if p.panels == nil {
			p.panels = map[string]plug.Panel{}
		}
		p.panels[e.id()] = panel
	})
}

// shows says whether a plugin may show something: in Setup too, as it is kept for
// a surface that comes later.
func (h *Host) shows(e *entry) error {
	if err := h.usable(e); err != nil && !errors.Is(err, ErrSetup) {
		return err
	}
	return nil
}

// label is a plugin's words within a panel.
func label(s string) string {
	return text.Clip(tell(s), maxLabel)
}

// checkPanel copies a panel within its bounds. Nodes without an id, or with one
// that is taken, are left out; a parent that there is not, or that is a node's own
// descendant, is none.
func (h *Host) checkPanel(e *entry, p plug.Panel) plug.Panel {
	out := plug.Panel{Title: label(p.Title)}
	parents := map[string]string{}
	for _, n := range p.Nodes {
		if len(out.Nodes) == plug.MaxNodes {
			break
		}
		if _, taken := parents[n.ID]; taken || n.ID == "" || len(n.ID) > plug.MaxNodeID {
			continue
		}
		parents[n.ID] = n.Parent
		out.Nodes = append(out.Nodes, checkNode(n))
	}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if !rooted(parents, n.ID) {
			n.Parent = ""
			parents[n.ID] = ""
		}
	}
	if p.Act != nil {
		out.Act = func(ctx context.Context, nodeID, action string) error {
			if err := h.usable(e); err != nil {
				return err
			}
			_, err := call(ctx, e, actionLimit, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, p.Act(ctx, nodeID, action)
			})
			return e.named(err)
		}
	}
	return out
}

// rooted reports whether the way up from a node ends at one without a parent.
func rooted(parents map[string]string, id string) bool {
	for range len(parents) + 1 {
		up, known := parents[id]
		if !known {
			return false
		}
		if up == "" {
			return true
		}
		id = up
	}
	return false
}

// checkNode keeps of a node what a surface can draw without a thought: words of the
// closed lists, lines of text, sizes that are none below zero.
func checkNode(n plug.PanelNode) plug.PanelNode {
	n.Label, n.Detail = label(n.Label), label(n.Detail)
	if !slices.Contains(plug.Colors(), n.Color) {
		n.Color = ""
	}
	if !slices.Contains(plug.PanelStatuses(), n.Status) {
		n.Status = ""
	}
	n.Tokens = max(n.Tokens, 0)
	if len(n.Session) > plug.MaxNodeID || !text.IsPlain(n.Session) {
		n.Session = ""
	}
	var actions []string
	for _, a := range n.Actions {
		if len(actions) < maxActions && isAction(a) {
			actions = append(actions, a)
		}
	}
	n.Actions = actions
	return n
}

func isAction(s string) bool {
	const lower = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= maxAction && strings.Contains(lower, s[:1]) && strings.Trim(s, lower+"0123456789-_") == ""
}

// openSession shows a session where a surface can.
func (h *Host) openSession(e *entry, sessionID string) error {
	if err := h.usable(e); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	s := h.ui.bound()
	if s == nil || s.Open == nil {
		return errors.New("open session: no surface shows sessions")
	}
	return s.Open(sessionID)
}

// interactive reports whether a question would reach a person.
func (h *Host) interactive(e *entry) bool {
	switch {
	case h.usable(e) != nil || h.o.Ask == nil:
		return false
	case h.o.Interactive != nil:
		return h.o.Interactive()
	}
	return h.ui.bound() != nil
}
