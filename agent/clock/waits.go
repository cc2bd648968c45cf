package clock

import "sync"

// maxDepth bounds the way up to the ancestors of a session: no tree of agents
// is so deep, and a circle of parents must not hang a wait.
const maxDepth = 64

// HumanWaits pauses the stopwatches of sessions that wait for a person. A wait
// counts for the session and all its ancestors, not for its children: a parent
// whose child asks stands still, a child goes on while its parent asks.
//
// The approval queue alone calls Begin; whoever runs a session calls Bind. The
// zero value is ready. Safe for concurrent use.
type HumanWaits struct {
	mu       sync.Mutex
	bindings []*binding
	waits    map[*wait]bool
}

// binding ties a stopwatch to a session for the time of a run.
type binding struct {
	session, parent string
	clock           *Active
}

// wait is one wait for a person. It holds exactly the bindings that it has
// paused, so that its end matches its begin whatever was bound meanwhile.
type wait struct {
	session string
	paused  map[*binding]bool
}

// Bind ties c to a session whose parent is given ("" for none), until unbind.
// Where someone in the session or below it waits already, c is paused at once.
// unbind takes the pauses back; a second call does nothing.
func (h *HumanWaits) Bind(session, parent string, c *Active) (unbind func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := &binding{session: session, parent: parent, clock: c}
	h.bindings = append(h.bindings, b)
	// The new link may also join a waiting child to ancestors further up.
	for w := range h.waits {
		h.pause(w)
	}
	return sync.OnceFunc(func() { h.unbind(b) })
}

func (h *HumanWaits) unbind(b *binding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, other := range h.bindings {
		if other == b {
			h.bindings = append(h.bindings[:i:i], h.bindings[i+1:]...)
			break
		}
	}
	for w := range h.waits {
		if w.paused[b] {
			delete(w.paused, b)
			b.clock.Resume()
		}
	}
}

// Begin starts a wait for a person in a session and returns its end. Waits nest
// and overlap; a stopwatch runs again when the last wait that concerns it has
// ended. A second call of end does nothing. A session that nobody has bound
// may wait too.
func (h *HumanWaits) Begin(session string) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &wait{session: session, paused: map[*binding]bool{}}
	if h.waits == nil {
		h.waits = map[*wait]bool{}
	}
	h.waits[w] = true
	h.pause(w)
	return sync.OnceFunc(func() { h.end(w) })
}

func (h *HumanWaits) end(w *wait) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waits, w)
	for b := range w.paused {
		b.clock.Resume()
	}
}

// pause pauses what w concerns and has not paused yet: the stopwatches of its
// session and of the ancestors.
func (h *HumanWaits) pause(w *wait) {
	level := map[string]bool{w.session: true}
	for depth := 0; depth < maxDepth && len(level) > 0; depth++ {
		parents := map[string]bool{}
		for _, b := range h.bindings {
			if !level[b.session] {
				continue
			}
			if !w.paused[b] {
				w.paused[b] = true
				b.clock.Pause()
			}
			if b.parent != "" {
				parents[b.parent] = true
			}
		}
		level = parents
	}
}
