// Package perm holds the words of permissions: modes, what a person allowed
// beforehand, and the verdict that follows for an effect.
//
// It decides by effect alone. It knows no path, no tool and no session, it
// asks nobody and it remembers nothing: that is the gate's part. An effect is
// a plain string here, so that this package imports nothing of ours.
package perm

import "fmt"

// The effects (spec tools.md, "Effects and the gate"). Any other word counts
// as EffectExternal, the strictest.
const (
	EffectRead     = "read"
	EffectWrite    = "write"
	EffectProcess  = "process"
	EffectExternal = "external"
	EffectInternal = "internal"
)

// quiet reports whether an effect needs no permission.
func quiet(effect string) bool { return effect == EffectRead || effect == EffectInternal }

// Mode says what may happen without a question. The zero value is ModeAsk.
type Mode string

// The modes, strictest first.
const (
	// ModeAsk asks before every effect that changes something.
	ModeAsk Mode = "ask"
	// ModeAuto allows writes and asks about the rest.
	ModeAuto Mode = "auto"
	// ModeFull allows every effect.
	ModeFull Mode = "full"
)

// ParseMode reads a mode as it stands in a file or a flag.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeAsk, ModeAuto, ModeFull:
		return m, nil
	}
	return "", fmt.Errorf("found mode %q, allowed: ask, auto, full", s)
}

// Decision is what happens to a call. The zero value is Deny, so that a
// verdict that nobody filled in allows nothing.
type Decision uint8

// The decisions, strictest first.
const (
	Deny Decision = iota
	Ask
	Allow
)

func (d Decision) String() string {
	switch d {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// What a Verdict can be by.
const (
	// ByReadOnly: the run changes nothing.
	ByReadOnly = "read-only"
	// ByEffect: the effect needs no permission.
	ByEffect = "effect"
	// ByFlag: one of the --allow flags.
	ByFlag = "flag"
	// ByMode: the mode, a question included.
	ByMode = "mode"
	// ByCeiling: the session's ceiling.
	ByCeiling = "ceiling"
)

// Verdict is a decision and what made it.
type Verdict struct {
	Decision Decision
	By       string
}

// Policy is what was allowed before a run began. Its zero value asks about
// everything that changes something.
type Policy struct {
	Mode          Mode
	AllowWrite    bool
	AllowProcess  bool
	AllowExternal bool
	// ReadOnly wins over every other field.
	ReadOnly bool
	// Ceiling bounds what the other fields allow.
	Ceiling Ceiling
}

// Decide says what happens to a call of an effect. Ask means that a person has
// to be asked; where none can be, it is a no.
func (p Policy) Decide(effect string) Verdict {
	switch {
	case quiet(effect):
		return Verdict{Allow, ByEffect}
	case p.ReadOnly, p.Ceiling.ReadOnly:
		return Verdict{Deny, ByReadOnly}
	case p.Ceiling.cap(effect) == CapDeny:
		return Verdict{Deny, ByCeiling}
	case p.Ceiling.cap(effect) == CapAsk:
		return Verdict{Ask, ByCeiling}
	case p.flag(effect):
		return Verdict{Allow, ByFlag}
	case p.Mode == ModeFull, p.Mode == ModeAuto && effect == EffectWrite:
		return Verdict{Allow, ByMode}
	}
	return Verdict{Ask, ByMode}
}

// flag reports whether a flag allows an effect that changes something.
func (p Policy) flag(effect string) bool {
	switch effect {
	case EffectWrite:
		return p.AllowWrite
	case EffectProcess:
		return p.AllowProcess
	}
	return p.AllowExternal
}

// Offers reports whether a tool of this effect is worth telling a model about:
// whether any of its calls could be allowed. interactive says that somebody
// can answer a question.
func (p Policy) Offers(effect string, interactive bool) bool {
	switch p.Decide(effect).Decision {
	case Allow:
		return true
	case Ask:
		return interactive
	}
	return false
}

// Remedy says what would allow a call that was not allowed, for the person and
// the model that read the refusal.
func (p Policy) Remedy(effect string) string {
	switch {
	case quiet(effect):
		return ""
	case p.ReadOnly:
		return "the run is --read-only"
	case p.Ceiling.ReadOnly:
		return "the session is read-only"
	case p.Ceiling.cap(effect) == CapDeny:
		return "this session was started without that permission"
	case effect == EffectWrite:
		return "--allow-write allows it"
	case effect == EffectProcess:
		return "--allow-process allows it"
	}
	return "--allow-external allows it"
}
