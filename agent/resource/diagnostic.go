package resource

import (
	"cmp"
	"fmt"
	"slices"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	// Error breaks a rule of the format.
	Error Level = "error"
	// Warning goes against advice, or was mended.
	Warning Level = "warning"
	// Note tells what was done, where a person may have expected something else.
	Note Level = "note"
)

// Diagnostic tells of a skill or template that is not as it should be.
type Diagnostic struct {
	Level Level
	// Code is one of the words below.
	Code string
	// File is an absolute path, Line counts from 1; 0 means the whole file. The
	// path is safe to print, as Text is.
	File string
	Line int
	Text string
}

// The codes of diagnostics; those of templates are in spec context.md.
const (
	// SkillInvalid: a rule is broken. Whether the skill was loaded all the same
	// stands in the text.
	SkillInvalid = "skill_invalid"
	// SkillAdvice: the skill goes against advice of the format.
	SkillAdvice = "skill_advice"
	// SkillShadowed: one of the same name comes first.
	SkillShadowed = "skill_shadowed"
	// SkillUnread: something was not looked at, for a bound or for trust.
	SkillUnread = "skill_unread"
	// PromptInvalid: the template is left out.
	PromptInvalid = "prompt_invalid"
	// PromptOverride: a later level replaced a template.
	PromptOverride = "prompt_override"
	// PromptConflict: two of the same level have the same name; the first is kept.
	PromptConflict = "prompt_conflict"
)

// String is the diagnostic as compilers write theirs: "FILE:LINE: error: TEXT".
func (d Diagnostic) String() string {
	at := d.File
	if d.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, d.Line)
	}
	return fmt.Sprintf("%s: %s: %s", at, d.Level, d.Text)
}

// maxDiagnostics bounds what is told of one search.
const maxDiagnostics = 500

// diagnostics collects.
type diagnostics []Diagnostic

func (s *diagnostics) add(d Diagnostic) {
	if len(*s) < maxDiagnostics {
		d.File = printable(d.File)
		*s = append(*s, d)
	}
}

// byFile puts those of one file in the order of its lines.
func byFile(all []Diagnostic) []Diagnostic {
	slices.SortStableFunc(all, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}
