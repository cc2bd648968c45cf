package perm

import "testing"

func TestCeilingOfPolicy(t *testing.T) {
	full := Policy{Mode: ModeFull, AllowWrite: true, AllowProcess: true, AllowExternal: true}
	for _, c := range []struct {
		ceiling Ceiling
		effect  string
		want    Verdict
	}{
		{Ceiling{}, EffectWrite, Verdict{Allow, ByFlag}},
		{Ceiling{Write: CapAsk}, EffectWrite, Verdict{Ask, ByCeiling}},
		{Ceiling{Write: CapDeny}, EffectWrite, Verdict{Deny, ByCeiling}},
		{Ceiling{Write: CapDeny}, EffectProcess, Verdict{Allow, ByFlag}},
		{Ceiling{Process: CapAsk}, EffectProcess, Verdict{Ask, ByCeiling}},
		{Ceiling{External: CapDeny}, EffectExternal, Verdict{Deny, ByCeiling}},
		{Ceiling{External: CapDeny}, "another", Verdict{Deny, ByCeiling}},
		{Ceiling{ReadOnly: true}, EffectWrite, Verdict{Deny, ByReadOnly}},
		{Ceiling{ReadOnly: true}, EffectInternal, Verdict{Allow, ByEffect}},
		{Ceiling{ReadOnly: true, Write: CapDeny}, EffectRead, Verdict{Allow, ByEffect}},
	} {
		p := full
		p.Ceiling = c.ceiling
		if got := p.Decide(c.effect); got != c.want {
			t.Errorf("%+v, %s: %+v, want %+v", c.ceiling, c.effect, got, c.want)
		}
	}
}

func TestFilterMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"read_file", "read_file", true}, {"read_file", "read_files", false}, {"*", "", true}, {"*", "x", true},
		{"read_*", "read_file", true}, {"read_*", "unread_file", false}, {"*_file", "read_file", true},
		{"*_file", "read_file_x", false}, {"git_*_x", "git__x", true}, {"git_*_x", "git_x", false},
		{"a*b*c", "abc", true}, {"a*b*c", "acb", false}, {"a*bc", "abcbc", true}, {"aa*aa", "aaa", false},
		{"*b*b", "b", false}, {"a**c", "abc", true},
	} {
		if got := match(c.pattern, c.name); got != c.want {
			t.Errorf("match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
	f := Filter{Allow: []string{"read_*", "shell"}, Deny: []string{"*_secret"}}
	for name, want := range map[string]bool{"read_file": true, "shell": true, "read_secret": false, "write_file": false} {
		if f.Admits(name) != want {
			t.Errorf("Admits(%q) = %v", name, !want)
		}
	}
}

func TestMeetIsNeverWider(t *testing.T) {
	a := Ceiling{Write: CapAsk, Tools: []Filter{{Allow: []string{"read_*"}}}}
	b := Ceiling{ReadOnly: true, Process: CapDeny, Tools: []Filter{{Deny: []string{"read_file"}}}}
	m := a.Meet(b)
	if !m.ReadOnly || m.Write != CapAsk || m.Process != CapDeny || m.External != CapNone {
		t.Errorf("meet %+v", m)
	}
	for name, want := range map[string]bool{"read_file": false, "read_dir": true, "shell": false} {
		if m.Admits(name) != want {
			t.Errorf("Admits(%q) = %v", name, !want)
		}
	}
	if len(a.Tools) != 1 || len(b.Tools) != 1 {
		t.Error("Meet changed what it was given")
	}
}
