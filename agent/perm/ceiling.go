package perm

import "strings"

// Cap is the most that a ceiling leaves of an effect. The zero value leaves all.
type Cap uint8

// The caps, widest first.
const (
	CapNone Cap = iota
	// CapAsk: each call needs a person's yes, or a grant that a person gave.
	CapAsk
	CapDeny
)

// Ceiling is the most that a session may do, whatever was allowed beforehand and
// whatever a person answers. The zero value bounds nothing.
//
// Ceilings only ever meet: a child's is Meet of its parent's and its own, so no
// session is above any of its ancestors.
type Ceiling struct {
	ReadOnly bool
	Write    Cap
	Process  Cap
	External Cap
	// Tools are filters that a tool's name must pass, every one of them.
	Tools []Filter
}

// Meet is what both ceilings leave.
func (c Ceiling) Meet(d Ceiling) Ceiling {
	return Ceiling{
		ReadOnly: c.ReadOnly || d.ReadOnly,
		Write:    max(c.Write, d.Write), Process: max(c.Process, d.Process), External: max(c.External, d.External),
		Tools: append(c.Tools[:len(c.Tools):len(c.Tools)], d.Tools...),
	}
}

// Admits reports whether a tool may be used at all.
func (c Ceiling) Admits(tool string) bool {
	for _, f := range c.Tools {
		if !f.Admits(tool) {
			return false
		}
	}
	return true
}

// cap is what is left of an effect that changes something.
func (c Ceiling) cap(effect string) Cap {
	switch {
	case c.ReadOnly:
		return CapDeny
	case effect == EffectWrite:
		return c.Write
	case effect == EffectProcess:
		return c.Process
	}
	return c.External
}

// Filter chooses tools by name. In a name, "*" stands for any characters.
type Filter struct {
	// Allow names those that pass; none means all.
	Allow []string
	// Deny wins.
	Deny []string
}

// Admits reports whether a name passes.
func (f Filter) Admits(name string) bool {
	return (len(f.Allow) == 0 || anyMatch(f.Allow, name)) && !anyMatch(f.Deny, name)
}

func anyMatch(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(p, name) {
			return true
		}
	}
	return false
}

// match reports whether a name has the form of a pattern: its pieces between the
// stars, in order, the first at the start and the last at the end.
func match(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	pieces := strings.Split(rest, "*")
	tail := pieces[len(pieces)-1]
	for _, piece := range pieces[:len(pieces)-1] {
		_, after, found := strings.Cut(name, piece)
		if !found {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, tail)
}
