//go:build unix

package resource

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// No link leads out of the root it is in, and none brings a directory twice.
func TestSkillLinks(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"secret/SKILL.md": skillText("secret", "SECRET"), "secret/file": "SECRET", "ws/other/inside/SKILL.md": skillText("inside", "beside the root"),
		"ws/.agents/skills/one/SKILL.md": skillText("one", "d"), "ws/.agents/skills/one/x": "x", "ws/real/SKILL.md": "x", "config/x": "",
		"mine/own/SKILL.md": skillText("own", "o"),
	})
	skills := filepath.Join(root, ".agents", "skills")
	link(t, "../../../secret", filepath.Join(skills, "out"))
	link(t, "../../other/inside", filepath.Join(skills, "beside"))
	link(t, "one", filepath.Join(skills, "again"))
	link(t, "..", filepath.Join(skills, "one", "up"))
	link(t, "../../../../secret/file", filepath.Join(skills, "one", "leak"))
	link(t, "x", filepath.Join(skills, "one", "y"))
	link(t, "../secret", filepath.Join(root, ".alisio"))
	link(t, ".agents", filepath.Join(root, ".claude"))
	// A person keeps what is theirs where they like; only the root itself may be a
	// link.
	link(t, "../mine", filepath.Join(config, "skills"))
	if err := syscall.Mkfifo(filepath.Join(skills, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := FindSkills(t.Context(), SkillOptions{Root: root, Dir: root, Trusted: true, ConfigHome: config})
	wantText(t, listed(s), "one: d (project)\nown: o (user)")
	const why = "is neither a file nor a directory, or a link that leads nowhere or out of its root: not read"
	got := told(root, s.Problems)
	for _, want := range []string{"ws/.agents/skills/beside: note: " + why, "ws/.agents/skills/out: note: " + why, "ws/.agents/skills/pipe: note: " + why} {
		if !strings.Contains(got, want) {
			t.Errorf("got:\n%s\nwant %s", got, want)
		}
	}
	if got := s.All[0].Dir; got != filepath.Join(skills, "one") {
		t.Errorf("got %s, want the directory itself", got)
	}
	b, err := s.Load("one")
	if err != nil || strings.Join(b.Files, " ") != "x y" {
		t.Errorf("got %+v, %v", b, err)
	}
	if text, err := s.File("one", "y"); err != nil || text != "x" {
		t.Errorf("got %q, %v", text, err)
	}
	for _, name := range []string{"leak", "up/../one/x", "up/pipe", "up/x"} {
		if text, err := s.File("one", name); name != "up/../one/x" && err == nil || strings.Contains(text, "SECRET") {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
}

// What stands in place of a file when it is loaded must neither block nor lead out.
func TestSkillSwappedForAPipe(t *testing.T) {
	config, _ := makeTree(t, map[string]string{"config/skills/one/SKILL.md": skillText("one", "d")})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config})
	dir := filepath.Join(config, "skills", "one")
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Rename(filepath.Join(dir, "p"), filepath.Join(dir, skillFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("one"); err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	if got := s.Validate(t.Context()); len(got) != 1 || !strings.Contains(got[0].Text, "not a regular file") {
		t.Errorf("got %v", got)
	}
}

func TestSkillNamesThatDraw(t *testing.T) {
	config, _ := makeTree(t, map[string]string{"config/skills/a\x1b[2J/SKILL.md": "---\nname: \"\\e[2J\"\ndescription: \"a\\e]0;x\\a\\nb\"\n---\nx", "config/skills/x/a\nb.md": "odd",
		"config/skills/x/SKILL.md": "---\nname: x\ndescription: \"a\\e]0;x\\a\\nb\\U000E0041\"\n---\nx"})
	s := FindSkills(t.Context(), SkillOptions{ConfigHome: config})
	wantText(t, listed(s), "x: a]0;x b (user)")
	for _, d := range append(s.Problems, s.Validate(t.Context())...) {
		if strings.ContainsAny(d.String(), "\x1b\a\n") {
			t.Errorf("got %q", d)
		}
	}
	b, err := s.Load("x")
	if err != nil || len(b.Files) != 1 || b.Files[0] != `"a\nb.md"` {
		t.Fatalf("got %+v, %v", b, err)
	}
	if text, err := s.File("x", b.Files[0]); err != nil || text != "odd" {
		t.Errorf("got %q, %v", text, err)
	}
}
