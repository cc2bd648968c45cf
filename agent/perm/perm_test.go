package perm

import (
	"strings"
	"testing"
)

var effects = []string{"read", "write", "process", "external", "internal", "", "network", "READ"}

// policies returns every policy there is, and some with an unknown mode.
func policies() []Policy {
	var all []Policy
	for _, m := range []Mode{"", ModeAsk, ModeAuto, ModeFull, "FULL", "yolo"} {
		for bits := range 16 {
			all = append(all, Policy{Mode: m, AllowWrite: bits&1 != 0, AllowProcess: bits&2 != 0,
				AllowExternal: bits&4 != 0, ReadOnly: bits&8 != 0})
		}
	}
	return all
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name   string
		policy Policy
		effect string
		want   Verdict
	}{
		{"reads are free", Policy{}, "read", Verdict{Allow, ByEffect}},
		{"own state is free", Policy{Mode: ModeAsk}, "internal", Verdict{Allow, ByEffect}},
		{"zero policy asks", Policy{}, "write", Verdict{Ask, ByMode}},
		{"ask asks", Policy{Mode: ModeAsk}, "process", Verdict{Ask, ByMode}},
		{"auto writes", Policy{Mode: ModeAuto}, "write", Verdict{Allow, ByMode}},
		{"auto asks about processes", Policy{Mode: ModeAuto}, "process", Verdict{Ask, ByMode}},
		{"auto asks about the network", Policy{Mode: ModeAuto}, "external", Verdict{Ask, ByMode}},
		{"full", Policy{Mode: ModeFull}, "external", Verdict{Allow, ByMode}},
		{"unknown mode asks", Policy{Mode: "yolo"}, "write", Verdict{Ask, ByMode}},
		{"write flag", Policy{AllowWrite: true}, "write", Verdict{Allow, ByFlag}},
		{"write flag allows no process", Policy{AllowWrite: true}, "process", Verdict{Ask, ByMode}},
		{"process flag", Policy{AllowProcess: true}, "process", Verdict{Allow, ByFlag}},
		{"process flag allows no network", Policy{AllowProcess: true}, "external", Verdict{Ask, ByMode}},
		{"external flag", Policy{AllowExternal: true}, "external", Verdict{Allow, ByFlag}},
		{"unknown effect is external", Policy{AllowWrite: true, AllowProcess: true}, "readd", Verdict{Ask, ByMode}},
		{"unknown effect under auto", Policy{Mode: ModeAuto}, "Write", Verdict{Ask, ByMode}},
		{"read-only reads", Policy{ReadOnly: true}, "read", Verdict{Allow, ByEffect}},
		{"read-only wins over full", Policy{ReadOnly: true, Mode: ModeFull}, "write", Verdict{Deny, ByReadOnly}},
		{"read-only wins over flags", Policy{ReadOnly: true, AllowProcess: true}, "process", Verdict{Deny, ByReadOnly}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.policy.Decide(tt.effect); got != tt.want {
				t.Errorf("got %v by %q, want %v by %q", got.Decision, got.By, tt.want.Decision, tt.want.By)
			}
		})
	}
}

func TestReadOnlyNeverAllowsAChange(t *testing.T) {
	for _, p := range policies() {
		p.ReadOnly = true
		for _, e := range effects {
			if e == EffectRead || e == EffectInternal {
				continue
			}
			if got := p.Decide(e); got.Decision != Deny {
				t.Errorf("%+v on %q: got %v, want deny", p, e, got.Decision)
			}
			if p.Offers(e, true) || p.Offers(e, false) {
				t.Errorf("%+v offers %q", p, e)
			}
		}
	}
}

func TestFlagsAndModesOnlyAdd(t *testing.T) {
	wider := []struct {
		name  string
		widen func(*Policy)
	}{
		{"--allow-write", func(p *Policy) { p.AllowWrite = true }},
		{"--allow-process", func(p *Policy) { p.AllowProcess = true }},
		{"--allow-external", func(p *Policy) { p.AllowExternal = true }},
		{"--mode full", func(p *Policy) { p.Mode = ModeFull }},
	}
	for _, p := range policies() {
		for _, w := range wider {
			q := p
			w.widen(&q)
			for _, e := range effects {
				if got, had := q.Decide(e).Decision, p.Decide(e).Decision; got < had {
					t.Errorf("%+v with %s on %q: got %v, had %v", p, w.name, e, got, had)
				}
			}
		}
	}
}

func TestOffers(t *testing.T) {
	tests := []struct {
		policy      Policy
		effect      string
		interactive bool
		want        bool
	}{
		{Policy{}, "read", false, true},
		{Policy{}, "write", true, true},
		{Policy{}, "write", false, false},
		{Policy{Mode: ModeAuto}, "write", false, true},
		{Policy{Mode: ModeAuto}, "process", false, false},
		{Policy{AllowProcess: true}, "process", false, true},
		{Policy{ReadOnly: true}, "internal", false, true},
	}
	for _, tt := range tests {
		if got := tt.policy.Offers(tt.effect, tt.interactive); got != tt.want {
			t.Errorf("%+v offers %q (interactive %v): got %v, want %v",
				tt.policy, tt.effect, tt.interactive, got, tt.want)
		}
	}
}

func TestRemedyNamesWhatWouldHelp(t *testing.T) {
	flags := map[string]func(*Policy){
		"--allow-write":    func(p *Policy) { p.AllowWrite = true },
		"--allow-process":  func(p *Policy) { p.AllowProcess = true },
		"--allow-external": func(p *Policy) { p.AllowExternal = true },
	}
	for _, p := range policies() {
		for _, e := range effects {
			got := p.Remedy(e)
			switch {
			case e == EffectRead || e == EffectInternal:
				if got != "" {
					t.Errorf("%q needs no remedy, got %q", e, got)
				}
			case p.ReadOnly:
				if got != "the run is --read-only" {
					t.Errorf("%+v on %q: got %q", p, e, got)
				}
			default:
				flag, _, _ := strings.Cut(got, " ")
				set, ok := flags[flag]
				if !ok {
					t.Fatalf("%q names no flag", got)
				}
				q := p
				set(&q)
				if q.Decide(e).Decision != Allow {
					t.Errorf("%+v on %q: %q does not help", p, e, got)
				}
			}
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, s := range []string{"ask", "auto", "full"} {
		if got, err := ParseMode(s); err != nil || got != Mode(s) {
			t.Errorf("ParseMode(%q): got %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "Full", "full ", "yolo\x1b[2J"} {
		got, err := ParseMode(s)
		if err == nil || got != "" {
			t.Errorf("ParseMode(%q): got %q, %v, want an error", s, got, err)
			continue
		}
		if m := err.Error(); !strings.Contains(m, "ask, auto, full") || strings.ContainsRune(m, 0x1b) {
			t.Errorf("ParseMode(%q): got error %q", s, m)
		}
	}
}

func TestDecisionWords(t *testing.T) {
	for d, want := range map[Decision]string{Allow: "allow", Ask: "ask", Deny: "deny", 99: "deny"} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (Verdict{}).Decision; got != Deny {
		t.Errorf("zero verdict: got %v, want deny", got)
	}
}
