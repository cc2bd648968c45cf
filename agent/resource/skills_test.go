package resource

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// skillText is a SKILL.md.
func skillText(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n# " + name + "\n\nDo it.\n"
}

// listed writes each skill as "name: description (source)", "-" before one that is
// switched off.
func listed(s *Skills) string {
	var all []string
	for _, k := range s.All {
		line := fmt.Sprintf("%s: %s (%s)", k.Name, k.Description, k.Source)
		if k.Disabled {
			line = "-" + line
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// told writes diagnostics with paths relative to the directory that holds the
// workspace.
func told(root string, all []Diagnostic) string {
	var lines []string
	for _, d := range all {
		lines = append(lines, d.Code+" "+strings.ReplaceAll(d.String(), filepath.ToSlash(filepath.Dir(root))+"/", ""))
	}
	return strings.Join(lines, "\n")
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSkillRootsInOrder(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"ws/a/b/.claude/skills/one/SKILL.md": skillText("one", "closest"), "ws/a/.agents/skills/one/SKILL.md": skillText("one", "a"),
		"ws/.alisio/skills/two/SKILL.md": skillText("two", "alisio"), "ws/.claude/skills/two/SKILL.md": skillText("two", "claude"),
		"ws/.agents/skills/three/SKILL.md": skillText("three", "agents"), "ws/.alisio/skills/three/SKILL.md": skillText("three", "x"),
		"keyed/three/SKILL.md": skillText("three", "x"), "keyed/four/SKILL.md": skillText("four", "keyed"),
		"home/.agents/skills/four/SKILL.md": skillText("four", "x"), "home/.agents/skills/five/SKILL.md": skillText("five", "home"),
		"config/skills/five/SKILL.md": skillText("five", "x"), "config/skills/six/SKILL.md": skillText("six", "config"),
		"p1/six/SKILL.md": skillText("six", "x"), "p1/seven/SKILL.md": skillText("seven", "p1"), "p2/seven/SKILL.md": skillText("seven", "x"),
		".agents/skills/above/SKILL.md": skillText("above", "above the workspace"), "ws/c/.agents/skills/beside/SKILL.md": skillText("beside", "x"),
	})
	base := filepath.Dir(root)
	o := SkillOptions{
		Root: root, Dir: filepath.Join(root, "a", "b"), Trusted: true, Configured: []string{filepath.Join(base, "keyed")},
		Home: filepath.Join(base, "home"), ConfigHome: config,
		Plugins: []PluginDir{{"pa", filepath.Join(base, "p1")}, {"pb", filepath.Join(base, "p2")}},
		Enabled: map[string]bool{"six": false, "five": true},
	}
	s := FindSkills(t.Context(), o)
	wantText(t, listed(s), "five: home (user)\nfour: keyed (configuration)\none: closest (project)\nseven: p1 (plugin pa)\n"+
		"-six: config (user)\nthree: agents (project)\ntwo: alisio (project)")
	wantText(t, told(root, s.Problems), `skill_shadowed ws/a/.agents/skills/one/SKILL.md: note: skill one is not used: that of ws/a/b/.claude/skills/one/SKILL.md comes first
skill_shadowed ws/.alisio/skills/three/SKILL.md: note: skill three is not used: that of ws/.agents/skills/three/SKILL.md comes first
skill_shadowed ws/.claude/skills/two/SKILL.md: note: skill two is not used: that of ws/.alisio/skills/two/SKILL.md comes first
skill_shadowed keyed/three/SKILL.md: note: skill three is not used: that of ws/.agents/skills/three/SKILL.md comes first
skill_shadowed home/.agents/skills/four/SKILL.md: note: skill four is not used: that of keyed/four/SKILL.md comes first
skill_shadowed config/skills/five/SKILL.md: note: skill five is not used: that of home/.agents/skills/five/SKILL.md comes first
skill_shadowed p1/six/SKILL.md: note: skill six is not used: that of config/skills/six/SKILL.md comes first
skill_shadowed p2/seven/SKILL.md: note: skill seven is not used: that of p1/seven/SKILL.md comes first`)
	if got := s.Offered(); len(got) != 6 || got[4].Name != "three" {
		t.Errorf("offered %+v", got)
	}

	o.Trusted = false
	wantText(t, listed(FindSkills(t.Context(), o)), "five: home (user)\nfour: keyed (configuration)\nseven: p1 (plugin pa)\n-six: config (user)\nthree: x (configuration)")
	if s := FindSkills(t.Context(), SkillOptions{}); s.All != nil || s.Problems != nil {
		t.Errorf("no options: got %+v", s)
	}
}

// What was hashed is what is loaded, whatever the disk says by now.
func TestTrustedSkillsAreTheBytesThatWereHashed(t *testing.T) {
	_, root := makeTree(t, map[string]string{
		"ws/.agents/skills/one/SKILL.md": skillText("one", "changed on the disk"), "ws/.agents/skills/new/SKILL.md": skillText("new", "x"),
		"ws/sub/.agents/skills/two/SKILL.md": skillText("two", "x"), "ws/.agents/skills/one/other.md": "changed",
	})
	s := FindSkills(t.Context(), SkillOptions{Root: root, Dir: filepath.Join(root, "sub"), Trusted: true, Files: []File{
		{".agents/skills/one/refs/b.md", []byte("b")}, {".agents/skills/one/SKILL.md", []byte(skillText("one", "hashed"))},
		{".agents/skills/one/a.md", []byte("hashed a")}, {".agents/skillsx/no/SKILL.md", []byte(skillText("no", "x"))},
		{".alisio/config.json", []byte("{}")}, {".agents/skills-2/SKILL.md", []byte("x")},
	}})
	wantText(t, listed(s), "one: hashed (project)")
	wantText(t, told(root, s.Problems), "skill_unread ws/sub/.agents/skills: note: what was trusted does not hold it: not read")
	b, err := s.Load("one")
	if err != nil || b.Body != "# one\n\nDo it." || !reflect.DeepEqual(b.Files, []string{"a.md", "refs/b.md"}) {
		t.Errorf("got %+v, %v", b, err)
	}
	if text, err := s.File("one", "a.md"); err != nil || text != "hashed a" {
		t.Errorf("got %q, %v", text, err)
	}
	for _, name := range []string{"other.md", "../skillsx/no/SKILL.md", "..", ".", "refs", "../one/../../../.alisio/config.json"} {
		if text, err := s.File("one", name); err == nil {
			t.Errorf("%s: got %q", name, text)
		}
	}
	if got := s.Validate(t.Context()); got != nil {
		t.Errorf("got %v", got)
	}
	none := FindSkills(t.Context(), SkillOptions{Root: root, Dir: root, Trusted: true, Files: []File{}})
	if none.All != nil {
		t.Errorf("without trusted files: got %s", listed(none))
	}
}

// The directories that a project's own configuration names are taken from the bytes
// that were hashed as well, and only with trust.
func TestNamedSkillsAreTheBytesThatWereHashed(t *testing.T) {
	_, root := makeTree(t, map[string]string{
		"ws/team/one/SKILL.md": skillText("one", "disk"), "ws/team/late/SKILL.md": skillText("late", "not hashed"),
		"ws/other/two/SKILL.md": skillText("two", "a directory that was not hashed"), "keyed/one/SKILL.md": skillText("one", "keyed"),
	})
	o := SkillOptions{
		Root: root, Dir: root, Trusted: true, Named: []string{"team", "other", "../keyed"},
		Files: []File{{Name: "team/one/SKILL.md", Data: []byte(skillText("one", "hashed"))}},
	}
	s := FindSkills(t.Context(), o)
	wantText(t, listed(s), "one: hashed (configuration)")
	wantText(t, told(root, s.Problems), "skill_unread ws/other: note: what was trusted does not hold it: not read")
	o.Trusted = false
	wantText(t, listed(FindSkills(t.Context(), o)), "")
}

func TestSkillsBelowARoot(t *testing.T) {
	_, root := makeTree(t, map[string]string{
		"k/group/deep/er/four/five/SKILL.md": skillText("five", "at the last depth"), "k/1/2/3/4/5/6/SKILL.md": skillText("six", "x"),
		"k/outer/SKILL.md": skillText("outer", "o"), "k/outer/inner/SKILL.md": skillText("inner", "below a skill"),
		"k/node_modules/n/SKILL.md": skillText("n", "x"), "k/.git/g/SKILL.md": skillText("g", "x"), "k/README.md": "x",
		"self/SKILL.md": skillText("self", "a root that is a skill"), "k/low/skill.md": skillText("low", "x"), "k/dir/SKILL.md/x": "",
		"file": "x",
	})
	base := filepath.Dir(root)
	s := FindSkills(t.Context(), SkillOptions{Configured: []string{filepath.Join(base, "k"), filepath.Join(base, "self"), filepath.Join(base, "file"), filepath.Join(base, "no")}})
	wantText(t, listed(s), "five: at the last depth (configuration)\nouter: o (configuration)\nself: a root that is a skill (configuration)")
	wantText(t, told(root, s.Problems), `skill_unread k/1/2/3/4/5/6: warning: is nested deeper than 5: not looked at for skills
skill_invalid k/dir/SKILL.md: error: was not read: not a regular file; the skill is left out
skill_invalid k/low/skill.md: warning: must be called SKILL.md; the skill is left out
skill_unread file: warning: was not read: not a directory`)
}

func TestSkillDirectoriesAreBounded(t *testing.T) {
	base := t.TempDir()
	for i := range maxSkillDirs + 10 {
		if err := os.MkdirAll(filepath.Join(base, "many", fmt.Sprintf("d%05d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"many/z", "config/skills/own"} {
		dir := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, skillFile), []byte(skillText(filepath.Base(dir), "x")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := FindSkills(t.Context(), SkillOptions{Configured: []string{filepath.Join(base, "many")}, ConfigHome: filepath.Join(base, "config")})
	wantText(t, listed(s), "own: x (user)")
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "more than 2000 directories were not looked at") {
		t.Errorf("got %v", s.Problems)
	}
}

// What breaks a rule and can be used is used.
func TestLenientLoading(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/skills/dir-name/SKILL.md": skillText("Bad_Name", "d"), "config/skills/other/SKILL.md": skillText("mismatch", "m"),
		"config/skills/long/SKILL.md": skillText("long", strings.Repeat("é", 1500)), "config/skills/colon/SKILL.md": skillText("colon", "use when: it is: so"),
		"config/skills/no-name/SKILL.md": "---\ndescription: n\n---\n", "config/skills/no-text/SKILL.md": "---\nname: no-text\n---\nx",
		"config/skills/bad/SKILL.md": "---\nname: bad\ndescription: [x\n---\n", "config/skills/none/SKILL.md": "# Title",
		"config/skills/Ünder/SKILL.md": skillText("Ünder", "u"), "config/skills/open/SKILL.md": "---\nname: open\ndescription: x",
		"config/skills/multi/SKILL.md": "---\r\nname: \"multi\"\r\ndescription: |\r\n  two\r\n  lines\u202e \x09hidden\r\n---\r\nbody",
		"config/skills/huge/SKILL.md":  skillText("huge", "h") + strings.Repeat("x", maxSkillFile),
		"config/skills/later/SKILL.md": "---\nname: later\ndescription: l\n---\n" + strings.Repeat("é", 40<<10),
	})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config})
	wantText(t, listed(s), "colon: use when: it is: so (user)\ndir-name: d (user)\nlater: l (user)\nlong: "+strings.Repeat("é", 1023)+"… (user)\n"+
		"mismatch: m (user)\nmulti: two lines hidden (user)\nno-name: n (user)")
	wantText(t, told(root, s.Problems), `skill_invalid config/skills/bad/SKILL.md:3: error: the frontmatter can not be read: did not find expected ',' or ']'; the skill is left out
skill_invalid config/skills/colon/SKILL.md:3: error: the value is no YAML, it wants quotes; it was taken as if it had them
skill_invalid config/skills/dir-name/SKILL.md:2: error: name may have lower-case letters a to z, digits and hyphens alone
skill_invalid config/skills/huge/SKILL.md: error: the file has 1024 KiB, more than 1024 KiB; the skill is left out
skill_invalid config/skills/long/SKILL.md:3: error: description has 1500 characters, more than 1024: it is cut
skill_invalid config/skills/no-name/SKILL.md:1: error: name is missing
skill_invalid config/skills/no-text/SKILL.md:1: error: description is missing; the skill is left out
skill_invalid config/skills/none/SKILL.md:1: error: there is no frontmatter: the file has to begin with --- and a line name: and description:; the skill is left out
skill_invalid config/skills/open/SKILL.md:1: error: --- is never closed, so that all is text and nothing frontmatter; the skill is left out
skill_invalid config/skills/open/SKILL.md:1: error: there is no frontmatter: the file has to begin with --- and a line name: and description:; the skill is left out
skill_invalid config/skills/other/SKILL.md:2: error: name is mismatch, its directory other: both have to be the same
skill_invalid config/skills/Ünder/SKILL.md:2: error: name may have lower-case letters a to z, digits and hyphens alone; the skill is left out
skill_invalid config/skills/Ünder/SKILL.md:2: error: the name of the directory can not stand for it either; the skill is left out`)
}

func TestValidateEveryRule(t *testing.T) {
	long := strings.Repeat("x", 65)
	head := "---\nname: s\ndescription: d\n"
	for _, c := range []struct{ name, text, want string }{
		{"good", skillText("s", "d"), ""},
		{"all keys", head + "license: MIT\ncompatibility: any\nmetadata:\n  author: x\n  version: \"1\"\nallowed-tools: Bash(git add, git rm) Read\n---\nbody", ""},
		{"numbers are texts as written", head + "metadata: {version: 1.0}\n---\nbody", ""},
		{"CRLF and a byte order mark", "\ufeff" + strings.ReplaceAll(skillText("s", "d"), "\n", "\r\n"), ""},
		{"no frontmatter", "# x", "1: error: there is no frontmatter: the file has to begin with --- and a line name: and description:"},
		{"empty name", "---\nname: ''\ndescription: d\n---\nb", "2: error: name is empty"},
		{"list for a name", "---\nname: [s]\ndescription: d\n---\nb", "2: error: name must be text, found a list"},
		{"long name", "---\nname: " + long + "\ndescription: d\n---\nb", "2: error: name has more than 64 characters"},
		{"upper case", "---\nname: S\ndescription: d\n---\nb", "2: error: name may have lower-case letters a to z, digits and hyphens alone"},
		{"hyphen first", "---\nname: -s\ndescription: d\n---\nb", "2: error: name begins or ends with a hyphen"},
		{"hyphen last", "---\nname: s-\ndescription: d\n---\nb", "2: error: name begins or ends with a hyphen"},
		{"two hyphens", "---\nname: a--b\ndescription: d\n---\nb", "2: error: name has two hyphens in a row"},
		{"not the directory", "---\nname: a-b\ndescription: d\n---\nb", "2: error: name is a-b, its directory s: both have to be the same"},
		{"no description", "---\nname: s\n---\nb", "1: error: description is missing"},
		{"blank description", "---\nname: s\ndescription: \"  \"\n---\nb", "3: error: description is empty"},
		{"null description", "---\nname: s\ndescription:\n---\nb", "3: error: description is empty"},
		{"long description", skillText("s", strings.Repeat("d", 1025)), "3: error: description has 1025 characters, more than 1024: it is cut"},
		{"license", head + "license: [MIT]\n---\nb", "4: error: license must be text, found a list"},
		{"empty compatibility", head + "compatibility: ''\n---\nb", "4: error: compatibility is empty"},
		{"long compatibility", head + "compatibility: " + strings.Repeat("c", 501) + "\n---\nb", "4: error: compatibility has more than 500 characters"},
		{"metadata", head + "metadata: [x]\n---\nb", "4: error: metadata must be a map of texts, found a list"},
		{"metadata values", head + "metadata:\n  a: {}\n  b: true\n---\nb", "5: error: metadata.a must be text, found a map\n6: error: metadata.b must be text, found true or false"},
		{"tools as a list", head + "allowed-tools: [Read]\n---\nb", "4: warning: allowed-tools is a list; the format wants one text with spaces between the tools"},
		{"tools with commas", head + "allowed-tools: Read, Grep\n---\nb", "4: warning: allowed-tools has commas; the format wants spaces between the tools"},
		{"tools as a map", head + "allowed-tools: {a: b}\n---\nb", "4: error: allowed-tools must be text, found a map"},
		{"unknown keys", head + "model: x\n\"a\\u202Eb\": y\n---\nb", "4: warning: key \"model\" is none of Agent Skills and does nothing here\n5: warning: key \"a\\u202eb\" is none of Agent Skills and does nothing here"},
		{"twice", head + "name: t\n---\nb", "4: error: key \"name\" is there twice, first in line 2, which counts"},
		{"needs quotes", skillText("s", "a: b"), "3: error: the value is no YAML, it wants quotes; it was taken as if it had them"},
		{"broken", "---\nname: s\ndescription: d\n  bad: x\n---\nb", "4: error: the frontmatter can not be read: mapping values are not allowed in this context"},
		{"wrong bytes", skillText("s", "d") + "\xff", "1: error: the file is not valid UTF-8: wrong bytes were replaced"},
		{"empty body", head + "---\n\n \n", "5: warning: the body is empty: there is nothing to follow"},
		{"long body", head + "---\n" + strings.Repeat("x\n", 501), "5: warning: the body has 501 lines, more than the 500 that are advised: move parts to files of their own"},
		{"large body", head + "---\n" + strings.Repeat("x", 20_400), "5: warning: the body has about 5100 tokens, more than the 5000 that are advised: move parts to files of their own"},
		{"huge", head + "---\n" + strings.Repeat("x", maxSkillFile), "0: error: the file has 1024 KiB, more than 1024 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, root := makeTree(t, map[string]string{"s/SKILL.md": c.text})
			var got []string
			for _, d := range judged(filepath.Join(filepath.Dir(root), "s")) {
				code := map[Level]string{Error: SkillInvalid, Warning: SkillAdvice}[d.Level]
				if d.Code != code || d.File != filepath.Join(filepath.Dir(root), "s", "SKILL.md") {
					t.Errorf("got %+v", d)
				}
				got = append(got, fmt.Sprintf("%d: %s: %s", d.Line, d.Level, d.Text))
			}
			wantText(t, strings.Join(got, "\n"), c.want)
		})
	}
	_, root := makeTree(t, map[string]string{"ws/s/skill.md": "x", "f": "x"})
	for dir, want := range map[string]string{
		"s": "s/SKILL.md: error: is missing; the file has to be called exactly so", "no": "no: error: can not be opened: no such file or directory",
	} {
		got := judged(filepath.Join(root, dir))
		if len(got) != 1 || !strings.HasSuffix(filepath.ToSlash(got[0].String()), want) {
			t.Errorf("%s: got %v", dir, got)
		}
	}
}

// judged is what is found wrong with the skill in one directory.
func judged(dir string) []Diagnostic {
	var all diagnostics
	spotted{place: place{base: dir}}.validate(&all)
	return byFile(all)
}

// A head longer than the one that is read first is read all the same.
func TestLongHeads(t *testing.T) {
	config, _ := makeTree(t, map[string]string{
		"config/skills/long/SKILL.md": "---\nname: long\nmetadata:\n  x: " + strings.Repeat("y", 2*usualHead) + "\ndescription: d\n---\nbody",
		"config/skills/edge/SKILL.md": skillText("edge", strings.Repeat("e", usualHead-len("---\nname: edge\ndescription: "))),
		"config/skills/body/SKILL.md": skillText("body", "b") + strings.Repeat("---\n", usualHead),
	})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config})
	wantText(t, listed(s), "body: b (user)\nedge: "+strings.Repeat("e", 1023)+"… (user)\nlong: d (user)")
	if len(s.Problems) != 1 || s.Problems[0].Line != 3 {
		t.Errorf("got %v, want the long description alone", s.Problems)
	}
}

// All that was found is judged, the left out and the shadowed too.
func TestValidateAll(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/skills/b/SKILL.md": "---\nname: b\n---\nx", "config/skills/a/SKILL.md": skillText("a", "x") + strings.Repeat("x\n", 600),
		"k/a/SKILL.md": skillText("a", "first") + "x", "k/q/a/SKILL.md": "---\nname: a\ndescription: x\nx: y\n---\n",
	})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config, Configured: []string{filepath.Join(filepath.Dir(root), "k")}})
	wantText(t, told(root, s.Validate(t.Context())), `skill_advice config/skills/a/SKILL.md:5: warning: the body has 603 lines, more than the 500 that are advised: move parts to files of their own
skill_invalid config/skills/b/SKILL.md:1: error: description is missing
skill_advice k/q/a/SKILL.md:4: warning: key "x" is none of Agent Skills and does nothing here
skill_advice k/q/a/SKILL.md:6: warning: the body is empty: there is nothing to follow`)
}

func TestLoadSkill(t *testing.T) {
	files := map[string]string{
		"config/skills/one/SKILL.md": "---\nname: one\ndescription: d\n---\n\n# One\r\n\x1b[31mred\u202e\n", "config/skills/one/scripts/run.sh": "echo",
		"config/skills/one/a b.md": "spaces\r\n", "config/skills/one/bin": "\x00\x01", "config/skills/one/latin": "\xe9t\xe9",
		"config/skills/off/SKILL.md": skillText("off", "x"), "config/skills/many/SKILL.md": skillText("many", "x"), "config/skills/secret": "SECRET",
		"config/skills/one/1/2/3/4/5/6/deep": "x", "config/skills/one/big": strings.Repeat("x", maxSkillFile+1), "config/skills/one/.git/x": "",
	}
	for i := range 120 {
		files[fmt.Sprintf("config/skills/many/f%03d", i)] = "x"
	}
	config, _ := makeTree(t, files)
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config, Enabled: map[string]bool{"off": false}})
	dir := filepath.Join(config, "skills", "one")
	b, err := s.Load("one")
	want := SkillBody{Skill: s.All[2], Body: "# One\n[31mred", Files: []string{"a b.md", "big", "bin", "latin", "scripts/run.sh"}, More: true}
	if err != nil || b.Dir != dir || !reflect.DeepEqual(b, want) {
		t.Errorf("got %+v, %v", b, err)
	}
	if b, err := s.Load("many"); err != nil || len(b.Files) != 100 || !b.More || b.Files[99] != "f099" {
		t.Errorf("got %d files, %v, %v", len(b.Files), b.More, err)
	}
	for name, want := range map[string]string{
		"off": "skill off is switched off: skillOverrides.off.enabled is false", "on": `there is no skill "on"; did you mean one?`,
		"mony": `there is no skill "mony"; did you mean many?`, "zzzzzz": `there is no skill "zzzzzz"; there are many, one`,
		"\x1b[2J": `there is no skill "[2J"; there are many, one`,
	} {
		if _, err := s.Load(name); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
	if _, err := new(Skills).Load("x"); err == nil || err.Error() != `there is no skill "x": there are no skills` {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]string{"a b.md": "spaces\n", "scripts/run.sh": "echo", "./scripts/../a b.md": "spaces\n", dir + "/scripts/run.sh": "echo", `"a\x20b.md"`: "spaces\n"} {
		if got, err := s.File("one", name); err != nil || got != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	outside := ": it is not in the directory of the skill: give one of the names that loading it lists"
	for name, want := range map[string]string{
		"../secret": outside, "": outside, "/etc/passwd": outside, dir + "/../secret": outside, "a\x00b": outside, "scripts/../../secret": outside,
		"no": ": there is no such file in the skill", "bin": ": it is not text", "latin": ": it is not text", "scripts": ": not a regular file",
		"big": ": it has 1024 KiB, more than 1024 KiB", "bin/x": ": not a directory",
	} {
		if got, err := s.File("one", name); err == nil || !strings.HasPrefix(err.Error(), "read ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want %s", name, got, err, want)
		}
	}
	if _, err := s.File("off", "x"); err == nil {
		t.Error("a file of a skill that is off was read")
	}
}

// Between finding and loading, a skill may change or go.
func TestLoadSkillThatChanged(t *testing.T) {
	config, _ := makeTree(t, map[string]string{"config/skills/one/SKILL.md": skillText("one", "d"), "config/skills/two/SKILL.md": skillText("two", "d")})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config})
	file := filepath.Join(config, "skills", "one", "SKILL.md")
	for text, want := range map[string]string{
		skillText("one", "d") + strings.Repeat("x", maxSkillFile): "load skill one: SKILL.md has 1024 KiB, more than 1024 KiB",
		"---\n- x\n---\n": "load skill one: read frontmatter: line 2: ",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load("one"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("one"); err == nil || !strings.HasPrefix(err.Error(), "load skill one: ") {
		t.Errorf("got %v", err)
	}
}

func TestSearchSkills(t *testing.T) {
	config, _ := makeTree(t, map[string]string{
		"config/skills/pdf-forms/SKILL.md": skillText("pdf-forms", "fill forms"), "config/skills/pdf/SKILL.md": skillText("pdf", "Read files"),
		"config/skills/docs/SKILL.md": skillText("docs", "Write a PDF or text"), "config/skills/off/SKILL.md": skillText("off", "pdf"),
	})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config, Enabled: map[string]bool{"off": false}})
	for query, want := range map[string]string{"PDF": "pdf pdf-forms docs", "pdf forms": "pdf-forms pdf docs", "": "docs pdf pdf-forms", "nothing": "", "write": "docs"} {
		var got []string
		for _, k := range s.Search(query) {
			got = append(got, k.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

func BenchmarkFindSkills(b *testing.B) {
	home := b.TempDir()
	for i := range 100 {
		name := fmt.Sprintf("skill-%03d", i)
		dir := filepath.Join(home, ".agents", "skills", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, skillFile), []byte(skillText(name, "does this and that")+strings.Repeat("text\n", 4000)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if s := FindSkills(b.Context(), SkillOptions{Home: home}); len(s.All) != 100 {
			b.Fatal(len(s.All))
		}
	}
}

func BenchmarkNested(b *testing.B) {
	root := b.TempDir()
	deep := filepath.Join(root, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		b.Fatal(err)
	}
	for _, dir := range []string{root, deep} {
		if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(strings.Repeat("rule\n", 200)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		files, _, err := Nested(Options{Root: root, Dir: root, MaxBytes: 32768}, filepath.Join(deep, "f.go"))
		if err != nil || len(files) != 1 {
			b.Fatal(files, err)
		}
	}
}
