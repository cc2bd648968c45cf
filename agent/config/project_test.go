package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent/perm"
)

// project loads a project's file over a global one.
func project(t *testing.T, global, text string) (Config, LoadOptions, error) {
	t.Helper()
	o := LoadOptions{Dirs: home(t, global), Getenv: noEnv,
		Project: &Project{File: filepath.Join(t.TempDir(), ".alisio", "config.json"), Data: []byte(text)}}
	c, err := Load(o)
	return c, o, err
}

func TestProjectMayTighten(t *testing.T) {
	c, o, err := project(t, `{"permissions": {"mode": "full"}, "limits": {"maxTurns": 50}}`, `{
		"schemaVersion": 1, // as everywhere
		"provider": {"model": "p"}, "context": {"claudeMdFallback": true, "maxBytes": 1048576},
		"limits": {"maxTurns": 50, "maxOutputTokens": 100000000},
		"permissions": {"mode": "auto"},
	}`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Provider.Model != "p" || !c.Context.ClaudeMdFallback || c.Context.MaxBytes != 1<<20 {
		t.Errorf("got %+v, %+v", c.Provider, c.Context)
	}
	want := Default().Limits
	want.MaxTurns, want.MaxOutputTokens = 50, 100_000_000
	if c.Limits != want || c.Permissions.Mode != perm.ModeAuto {
		t.Errorf("got %+v, mode %s", c.Limits, c.Permissions.Mode)
	}
	if got, want := c.Origin("permissions.mode"), o.Project.File+":5"; got != want {
		t.Errorf("origin: got %q, want %q", got, want)
	}
}

func TestProjectMayNotLoosen(t *testing.T) {
	_, o, err := project(t, `{"limits": {"maxOutputTokens": 10}}`, `{
		"permissions": {"mode": "auto"},
		"limits": {"maxTurns": 101, "maxOutputTokens": 11}
	}`)
	global := filepath.Join(o.Dirs.Config, "config.json")
	want := fmt.Sprintf(`read config %[1]q: line 2: "permissions.mode": found "auto", looser than "ask" (default), and a project can only tighten; only the global configuration %[2]q may loosen it
read config %[1]q: line 3: "limits.maxTurns": found 101, looser than 100 (default), and a project can only tighten; only the global configuration %[2]q may loosen it
read config %[1]q: line 3: "limits.maxOutputTokens": found 11, looser than 10 (%[2]s:1), and a project can only tighten; only the global configuration %[2]q may loosen it`,
		o.Project.File, global)
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

// 0 is no limit of time, and so the loosest; of what is tried again it is the least.
func TestProjectMayNotTakeALimitOff(t *testing.T) {
	for _, c := range []struct {
		key, global, project string
		looser               bool
	}{
		{"timeoutMs", "", "600000", false}, {"timeoutMs", "", "600001", true}, {"timeoutMs", "", "0", true},
		{"timeoutMs", "0", "86400000", false}, {"timeoutMs", "0", "0", false}, {"timeoutMs", "100", "101", true},
		{"firstTokenTimeoutMs", "", "100", false}, {"firstTokenTimeoutMs", "5000", "0", true}, {"firstTokenTimeoutMs", "0", "5000", false},
		{"idleTimeoutMs", "", "120000", false}, {"idleTimeoutMs", "", "120001", true}, {"idleTimeoutMs", "", "0", true},
		{"firstTokenRetries", "", "0", false}, {"firstTokenRetries", "", "2", true}, {"firstTokenRetries", "0", "1", true},
		{"truncationRecoveries", "", "0", false}, {"truncationRecoveries", "", "3", true}, {"truncationRecoveries", "10", "10", false},
	} {
		global := ""
		if c.global != "" {
			global = fmt.Sprintf(`{"limits": {%q: %s}}`, c.key, c.global)
		}
		_, _, err := project(t, global, fmt.Sprintf(`{"limits": {%q: %s}}`, c.key, c.project))
		if c.looser != (err != nil) || err != nil && !strings.Contains(err.Error(), "looser than") {
			t.Errorf("%s: %s over %q: got %v, looser %v", c.key, c.project, c.global, err, c.looser)
		}
	}
	_, _, err := project(t, "", `{"limits": {"timeoutMs": "0"}}`)
	if err == nil || !strings.Contains(err.Error(), "allowed: 0 for no limit, or a whole number from 100 to 86400000") {
		t.Errorf("a wrong type: got %v", err)
	}
}

// Symptom: a committed setting chooses the endpoint, and the user's key is sent
// there. Trigger: a project's configuration with a base URL; and with every
// other key that is not on the closed list.
func TestC143ProjectChoosesNoEndpoint(t *testing.T) {
	values := map[string]string{
		"provider.baseURL": `"http://evil/v1"`, "provider.apiKeyEnv": `"AWS_SECRET"`, "provider.auth": `"none"`,
		"provider.extraHeaders": `{"X-A": "AWS_SECRET"}`, "provider.extraBody": `{"user": "x"}`,
		"provider.caFile": `"ca.pem"`, "provider.clientCert": `"c.pem"`, "provider.apiMode": `"chat"`, "provider.profile": `"full"`,
		"provider.tokenParameter": `"omit"`, "provider.streamUsage": "true", "provider.contextWindow": "1",
		"models.*.contextWindow": "1", "models.*.maxOutputTokens": "1", "models.*.effort": "[]", "models.*.price.input": "0",
		"models.*.price.output": "0", "models.*.price.cachedInput": "0", "builtinPlugins.*": "{}", "additionalDirectories": `["/"]`,
		"pluginHooks.timeoutMs": "100", "pluginHooks.sessionEndTimeoutMs": "100", "pluginHooks.disposeTimeoutMs": "100",
	}
	for _, r := range keys() {
		mayset := slices.ContainsFunc(projectKeys(), func(p projectRow) bool { return p.key == r.key })
		if value, refused := values[r.key]; refused == mayset {
			t.Errorf("%s: a project may set it: %v", r.key, mayset)
		} else if refused {
			key := strings.ReplaceAll(r.key, "*", "m")
			text := nestText(strings.Split(key, "."), value)
			_, o, err := project(t, "", text)
			want := fmt.Sprintf(`read config %q: line 1: %q: found in a project; only the global configuration %q may set it`,
				o.Project.File, key, filepath.Join(o.Dirs.Config, "config.json"))
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	}
}

func nestText(path []string, value string) string {
	for _, name := range slices.Backward(path) {
		value = fmt.Sprintf("{%q: %s}", name, value)
	}
	return value
}

func TestProjectIsCheckedLikeEveryLayer(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown", `{"provider": {"modell": ""}}`, `line 1: unknown key "provider.modell", did you mean "provider.model"?`},
		{"wrong type", `{"limits": {"maxTurns": "1"}}`, `line 1: "limits.maxTurns": found "1", allowed: a whole number from 1 to 10000`},
		{"wrong mode", `{"permissions": {"mode": "yolo"}}`, `line 1: "permissions.mode": found "yolo", allowed: "ask", "auto", "full"`},
		{"newer", `{"schemaVersion": 2, "provider": {"baseURL": 1}}`, `line 1: "schemaVersion": found version 2, written by a newer alisio; this one reads version 1: update alisio or use another file`},
		{"no JSON", "{\n]", `line 2: column 1: found "]", expected a key in double quotes or "}"`},
		{"too large", "{" + strings.Repeat(" ", maxFile), "larger than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, o, err := project(t, "", tt.text)
			if want := fmt.Sprintf("read config %q: %s", o.Project.File, tt.want); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestProjectWithoutHomeAndBesideConfig(t *testing.T) {
	p := &Project{File: "/p/.alisio/config.json", Data: []byte(`{"provider": {"baseURL": "http://evil"}}`)}
	_, err := Load(LoadOptions{Getenv: noEnv, Project: p})
	if err == nil || !strings.HasSuffix(err.Error(), "only the global configuration may set it") {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "ci.json")
	write(t, file, `{"provider": {"model": "ci"}}`)
	c, err := Load(LoadOptions{Getenv: noEnv, Project: p, File: file})
	if err != nil || c.Provider.Model != "ci" {
		t.Errorf("the file of --config: got %q, %v", c.Provider.Model, err)
	}
}

// What a person says on the spot stands above what a project tightened.
func TestFlagsStandAboveTheProject(t *testing.T) {
	mode := "full"
	c, err := Load(LoadOptions{Getenv: noEnv, Overrides: Overrides{Mode: &mode},
		Project: &Project{File: "/p", Data: []byte(`{"permissions": {"mode": "ask"}}`)}})
	if err != nil || c.Permissions.Mode != perm.ModeFull {
		t.Errorf("got %s, %v", c.Permissions.Mode, err)
	}
}

func TestKeyStaysWithItsLayer(t *testing.T) {
	layer := func(label string, isProject bool, text string) node {
		n, errs := parse(&source{label: label, data: []byte(text), project: isProject})
		if errs != nil {
			t.Fatal(errs)
		}
		return n
	}
	person := func(text string) node { return layer("global", false, text) }
	repository := func(text string) node { return layer("project", true, text) }
	const url, key = `{"provider": {"baseURL": "http://x"}}`, `{"provider": {"apiKeyEnv": "K"}}`
	tests := []struct {
		name   string
		layers []node
		want   string // the key that would go astray
	}{
		{"defaults", nil, ""},
		{"a person's both", []node{person(url), person(key)}, ""},
		{"a person's address, the default key", []node{person(url)}, ""},
		{"a person's key, the default address", []node{person(key)}, ""},
		{"a project's key", []node{repository(key)}, ""},
		{"a project's address, the default key", []node{repository(url)}, "provider.apiKeyEnv"},
		{"a project's address, a person's key", []node{person(key), repository(url)}, "provider.apiKeyEnv"},
		{"a project's both", []node{repository(url), repository(key)}, ""},
		{"a project's both, but a person's header", []node{person(`{"provider": {"extraHeaders": {"X": "Y"}}}`), repository(url), repository(key)}, "provider.extraHeaders"},
		{"a project's both, but a person's certificate", []node{person(`{"provider": {"clientCert": "c"}}`), repository(url), repository(key)}, "provider.clientCert"},
		{"a person's address over a project's", []node{repository(url), person(url)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := defaults()
			for _, l := range tt.layers {
				root = merge(root, l)
			}
			err := keyStays(root)
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), `but "`+tt.want+`" is set by a more trusted layer`) {
				t.Errorf("got %v, want an error about %q", err, tt.want)
			}
		})
	}
}

func TestProjectKeys(t *testing.T) {
	p := Project{File: "/p", Data: []byte(`{"provider": {"model": "x", "baseURL": "y"}, "zzz": [], "models": {}, /* c */}`)}
	got, err := p.Keys()
	if want := []string{"models", "provider.baseURL", "provider.model", "zzz"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := (Project{File: "/p", Data: []byte("{")}).Keys(); err == nil {
		t.Error("no JSON: got no error")
	}
}

// Symptom: a repository's configuration names a directory of skills that nobody was
// shown and no hash covers, such as one of another project. Trigger: an absolute path,
// "..", or the repository itself.
func TestSkillsOfAProjectAreBelowIt(t *testing.T) {
	const text = `{"skills": ["../tools/skills", "own", %q]}`
	c, o, err := project(t, `{"skills": ["/mine"]}`, fmt.Sprintf(text, "../a/../b"))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(filepath.Dir(o.Project.File))
	want := []string{filepath.Join(root, "tools", "skills"), filepath.Join(root, ".alisio", "own"), filepath.Join(root, "b")}
	if !slices.Equal(c.Skills, want) || !c.OfProject("skills") || c.OfProject("limits.maxTurns") {
		t.Errorf("got %q, want %q; of the project: %v, %v", c.Skills, want, c.OfProject("skills"), c.OfProject("limits.maxTurns"))
	}
	if got, want := o.Project.SkillDirs(), []string{"tools/skills", ".alisio/own", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, dir := range []string{"..", "../", "../..", "../../other", "/etc", "../a/../../b"} {
		_, o, err := project(t, "", fmt.Sprintf(text, dir))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`"skills": found %q, which is not below the project`, dir)) {
			t.Errorf("%s: got %v", dir, err)
		}
		if got := o.Project.SkillDirs(); len(got) != 2 {
			t.Errorf("%s: got %q", dir, got)
		}
	}
	for _, text := range []string{`{"skills": [1, {}, null], "x": `, `{"skills": "../a"}`, `[]`, "", "\xff"} {
		if got := (Project{File: "/r/.alisio/config.json", Data: []byte(text)}).SkillDirs(); got != nil {
			t.Errorf("%s: got %q", text, got)
		}
	}
	many := `{"skills": ["a"` + strings.Repeat(`, "a"`, 1000) + `]}`
	if _, o, err := project(t, "", many); err == nil || len(o.Project.SkillDirs()) != maxDirs {
		t.Errorf("many: got %d, %v", len(o.Project.SkillDirs()), err)
	}
	if c, _, err := project(t, `{"skills": ["/mine"]}`, `{}`); err != nil || c.OfProject("skills") || len(c.Skills) != 1 {
		t.Errorf("got %q, %v", c.Skills, err)
	}
}
