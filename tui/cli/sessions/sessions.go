// Package sessions holds the verbs about stored sessions, a file each: alisio
// sessions list, show, export and so on.
//
// It asks no model. What deletes or changes something says before what that is, or
// behind it what was done.
package sessions

import (
	"alisio/plug"
	"alisio/tui/cli/base"
)

// Call is one call of such a verb.
type Call struct {
	base.Call
	Flags
	// Plugins and Tools say what a call of theirs could have done.
	Plugins []plug.Plugin
	Tools   []plug.Tool
}

// Flags are those that belong to these verbs alone.
type Flags struct {
	All, Here   bool
	Limit       int // 0: not given
	Markdown    bool
	Output      string
	Off         bool
	Label       *string
	Workspace   string
	Yes         bool
	Usage       bool
	Prefix      bool
	Acknowledge bool
}

// MaxLimit is the longest list, in sessions.
const MaxLimit = 10_000
