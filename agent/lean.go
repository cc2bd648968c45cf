package agent

import "alisio/agent/profile"

const (
	// smallWindow is below which windows of servers on this machine get the lean profile,
	// in tokens.
	smallWindow = 16_384
	// leanFiles is the share of such a window that instruction files may take, and
	// leastFiles what they may take at least, in bytes.
	leanFiles  = 8
	leastFiles = 1_024
	// bytesPerToken is the estimate for text.
	bytesPerToken = 4
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
		clear(c.texts)
	}
}

// spareFiles is how many bytes the instruction files of a session may have.
func (c *conversation) spareFiles(most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lean <= 1 { // not lean, or of a window that nobody knows
		return most
	}
	return max(leastFiles, min(most, c.lean*bytesPerToken/leanFiles))
}

func (c *conversation) isLean() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lean > 0
}
