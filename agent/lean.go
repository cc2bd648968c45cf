package agent

import (
	"context"
	"fmt"
	"strings"

	"alisio/agent/compact"
	"alisio/agent/gate"
	"alisio/agent/profile"
	"alisio/plug"
)

const (
	// smallWindow is below which windows of servers on this machine get the lean profile,
	// in tokens.
	smallWindow = 16_384
	// leanFiles is the share of such a window that instruction files may take, and
	// leastFiles what they may take at least, in bytes.
	leanFiles  = 8
	leastFiles = 1_024
	// leanMost is what instructions, but those from files, and tools are to take at most in
	// such a window, in tokens (spec providers.md, "Local models"). Tools of plugins can
	// take more; that is told, and nothing is left out for it.
	leanMost = 2_500
)

// lean says whether a session's requests are kept small, and for which window: spare
// tools are not offered then, and instruction files are cut to a share of it. Zero: not.
func (a *App) lean(c profile.Choice) (window int) {
	window = c.Model.ContextWindow
	switch a.o.Config.Provider.Profile {
	case "lean":
		return max(window, 1)
	case "full":
		return 0
	}
	if c.Local && window > 0 && window < smallWindow {
		return window
	}
	return 0
}

// fitTo makes a session lean or not. What was made for another window is made anew.
func (c *conversation) fitTo(window int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lean != window {
		c.lean = window
		c.texts = map[string]string{}
	}
}

// spareFiles is how many bytes the instruction files of a session may have.
func (c *conversation) spareFiles(most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lean <= 1 { // not lean, or of a window that nobody knows
		return most
	}
	return max(leastFiles, min(most, c.lean*compact.CharsPerToken/leanFiles))
}

func (c *conversation) isLean() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lean > 0
}

// begins is what each request of a session begins with beside instruction files, in
// tokens as they are estimated: instructions, and the tools that the gate offers.
func begins(instructions string, tools []plug.Tool, g *gate.Gate) int {
	own, _, _ := strings.Cut(instructions, filesHead)
	n := len(own)
	for _, t := range tools {
		if s := t.Spec(); g.Offers(s.Name, s.Effect) {
			n += len(s.Name) + len(s.Description) + len(s.Schema)
		}
	}
	return n / compact.CharsPerToken
}

// begins is that of the next request of a session; zero where it is not to be little.
func (a *App) begins(ctx context.Context, sessionID string) int {
	choice, err := a.modelFor(ctx, sessionID, "")
	window := a.lean(choice)
	if err != nil || window == 0 {
		return 0
	}
	c := a.look(sessionID)
	agent, err := a.agentOf(c)
	if err != nil {
		return 0
	}
	c.fitTo(window)
	g := a.gateOf(c, agent)
	text, err := a.instructions(c, agent, g)
	if err != nil {
		return 0
	}
	return begins(text, a.toolsFor(c, agent), g)
}

// tellMuch warns once of a session whose requests are to be small and are not.
func (a *App) tellMuch(c *conversation, tokens int) {
	c.mu.Lock()
	tell := tokens > leanMost && !c.toldMuch
	c.toldMuch = c.toldMuch || tell
	c.mu.Unlock()
	if tell {
		a.o.Log.Warn(fmt.Sprintf("instructions and tools take about %d tokens of a small window, more than %d: --disable-plugin leaves a plugin and its tools out", tokens, leanMost))
	}
}
