package resource

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func templateText(description, body string) string {
	return "---\ndescription: " + description + "\n---\n" + body
}

func templatesListed(t *Templates) string {
	var all []string
	for _, k := range t.All {
		all = append(all, fmt.Sprintf("%s: %s (%s)", k.Name, k.Description, k.Source))
	}
	return strings.Join(all, "\n")
}

func TestTemplateLevels(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"p1/a.md": templateText("p1", "x"), "p1/b.md": templateText("p1", "x"), "p2/a.md": templateText("p2", "x"), "p2/init.md": templateText("p2", "x"),
		"config/prompts/b.md": templateText("user", "x"), "config/prompts/c.md": templateText("user", "x"), "config/prompts/help.md": templateText("user", "x"),
		"config/prompts/sub/d.md": templateText("user", "x"), "config/prompts/note.txt": "x", "config/prompts/dir.md/x": "",
		"ws/.alisio/prompts/c.md": templateText("project", "x"), "ws/.alisio/prompts/e.md": templateText("project", "x"),
		"ws/sub/.alisio/prompts/f.md": templateText("x", "x"),
	})
	base := filepath.Dir(root)
	o := TemplateOptions{
		Root: root, Trusted: true, ConfigHome: config,
		Plugins: []PluginDir{{"pa", filepath.Join(base, "p1")}, {"pb", filepath.Join(base, "p2")}, {"pc", filepath.Join(base, "no")}},
	}
	found := FindTemplates(o)
	wantText(t, templatesListed(found), "a: p1 (plugin pa)\nb: user (user)\nc: project (project)\ne: project (project)\nhelp: user (user)\ninit: p2 (plugin pb)")
	wantText(t, told(root, found.Problems), `prompt_override config/prompts/b.md: note: template b replaces that of plugin pa
prompt_conflict p2/a.md: warning: template a is left out: plugin pa brings one too, and comes first
prompt_override p2/init.md: note: template init replaces that of built-in
prompt_override ws/.alisio/prompts/c.md: note: template c replaces that of user`)
	if one, ok := found.Get("c"); !ok || one.Source != "project" || one.File != filepath.Join(root, ".alisio", "prompts", "c.md") {
		t.Errorf("got %+v, %v", one, ok)
	}
	if one, ok := found.Get("d"); ok {
		t.Errorf("got %+v", one)
	}
	o.Trusted = false
	wantText(t, templatesListed(FindTemplates(o)), "a: p1 (plugin pa)\nb: user (user)\nc: user (user)\nhelp: user (user)\ninit: p2 (plugin pb)")
	if got := FindTemplates(TemplateOptions{}); len(got.All) != 1 || got.All[0].Name != "init" || got.Problems != nil {
		t.Errorf("got %+v", got)
	}
}

func TestTrustedTemplatesAreTheBytesThatWereHashed(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/.alisio/prompts/a.md": templateText("changed", "x"), "ws/.alisio/prompts/new.md": templateText("x", "x")})
	o := TemplateOptions{Root: root, Trusted: true, Files: []File{
		{".alisio/prompts/sub/b.md", []byte(templateText("b", "x"))}, {".alisio/prompts/a.md", []byte(templateText("hashed", "x"))}, {".alisio/promptsx/c.md", nil},
	}}
	found := FindTemplates(o)
	wantText(t, templatesListed(found), "a: hashed (project)\ninit: "+found.All[1].Description+" (built-in)")
	o.Files = []File{}
	if got := FindTemplates(o); len(got.All) != 1 || got.Problems != nil {
		t.Errorf("got %+v", got)
	}
}

func TestTemplateRules(t *testing.T) {
	const badName = "0: the name of the file may have lower-case letters a to z, digits and hyphens alone, at most 41, and no hyphen first"
	for _, c := range []struct{ name, text, want string }{
		{"good", "---\ndescription: d\nargument-hint: <x>\nrequires: [write, process]\n---\nx", ""},
		{"9-a", templateText("d", "x"), ""},
		{strings.Repeat("a", 41), templateText("d", "x"), ""},
		{strings.Repeat("a", 42), templateText("d", "x"), badName},
		{"", templateText("d", "x"), badName},
		{"-a", templateText("d", "x"), badName},
		{"A", templateText("d", "x"), badName},
		{"a_b", templateText("d", "x"), badName},
		{"a\x1b", templateText("d", "x"), badName},
		{"ä", templateText("d", "x"), badName},
		{"none", "x", "1: there is no frontmatter: the file has to begin with --- and a line description:"},
		{"open", "---\ndescription: d\n", "1: --- is never closed, so that all is text and nothing frontmatter\n1: there is no frontmatter: the file has to begin with --- and a line description:"},
		{"missing", "---\nrequires: write\n---\nx", "1: description is missing"},
		{"blank", templateText("' '", "x"), "2: description is empty"},
		{"list", templateText("[d]", "x"), "2: description must be text, found a list"},
		{"unknown", "---\ndescription: d\nmodel: x\nallowed-tools: y\n---\nx", "3: unknown key \"model\"; there are description, argument-hint and requires\n4: unknown key \"allowed-tools\"; there are description, argument-hint and requires"},
		{"twice", "---\ndescription: d\ndescription: e\n---\nx", "3: key \"description\" is there twice, first in line 2, which counts"},
		{"broken", "---\ndescription: [x\n---\nx", "2: the frontmatter can not be read: did not find expected ',' or ']'"},
		{"quotes", templateText("a: b", "x"), "2: the value is no YAML, it wants quotes; it was taken as if it had them"},
		{"effect", "---\ndescription: d\nrequires: [write, external]\n---\nx", "3: requires knows write and process, found \"external\""},
		{"requires", "---\ndescription: d\nrequires: {a: b}\n---\nx", "3: requires must be a list, found a map"},
		{"hint", "---\ndescription: d\nargument-hint: {a: b}\n---\nx", "3: argument-hint must be text, found a map"},
		{"empty", templateText("d", "\n \n"), "4: there is no text below the frontmatter"},
		{"bytes", templateText("d", "\xff"), "1: the file is not valid UTF-8: wrong bytes were replaced"},
	} {
		_, findings, ok := readTemplate(c.name, []byte(c.text))
		var got []string
		for _, f := range findings {
			got = append(got, fmt.Sprintf("%d: %s", f.line, f.text))
		}
		if strings.Join(got, "\n") != c.want || ok != (c.want == "") {
			t.Errorf("%q: got %v,\n%s\nwant\n%s", c.name, ok, strings.Join(got, "\n"), c.want)
		}
	}
}

func TestTemplateValues(t *testing.T) {
	got, _, ok := readTemplate("a", []byte("---\r\ndescription: \" two\\n lines\\u202E \"\r\nargument-hint: [file]\r\nrequires: process, write, process\r\n---\r\n\r\nbody\r\n$1\x1b\r\n"))
	want := Template{Name: "a", Description: "two lines", ArgumentHint: "[file]", Requires: []string{"process", "write"}, body: "body\n$1"}
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for hint, want := range map[string]string{"[a, b]": "[a, b]", "'[a] [b]'": "[a] [b]", "": "", strings.Repeat("x", 300): strings.Repeat("x", 199) + "…"} {
		if got, _, ok := readTemplate("a", []byte("---\ndescription: d\nargument-hint: "+hint+"\n---\nx")); !ok || got.ArgumentHint != want {
			t.Errorf("%s: got %q, %v", hint, got.ArgumentHint, ok)
		}
	}
}

func TestTemplateFilesThatAreNotTaken(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/prompts/big.md": templateText("d", strings.Repeat("x", maxTemplate)), "config/prompts/fits.md": templateText("d", strings.Repeat("x", maxTemplate-24)),
		"config/prompts/Bad.md": templateText("d", "x"), "ws/.alisio/prompts": "a file",
	})
	found := FindTemplates(TemplateOptions{ConfigHome: config, Root: root, Trusted: true})
	if _, ok := found.Get("fits"); !ok || len(found.All) != 2 {
		t.Errorf("got %s", templatesListed(found))
	}
	wantText(t, told(root, found.Problems), `prompt_invalid config/prompts/Bad.md: error: the name of the file may have lower-case letters a to z, digits and hyphens alone, at most 41, and no hyphen first
prompt_invalid config/prompts/big.md: error: was not read: has 64 KiB, more than 64 KiB
prompt_invalid ws/.alisio/prompts: error: was not read: not a directory`)
}

func TestInitTemplate(t *testing.T) {
	one, findings, ok := readTemplate("init", initTemplate)
	if !ok || findings != nil || !reflect.DeepEqual(one.Requires, []string{"write"}) || one.ArgumentHint == "" {
		t.Fatalf("got %+v, %v", one, findings)
	}
	text, err := one.Expand("the tests")
	if err != nil || !strings.HasSuffix(text, "\n\nthe tests") {
		t.Errorf("got %q, %v", text, err)
	}
	for _, want := range []string{"AGENTS.md", "At most 150 lines", "Never a secret", "expectedHash", "in place", "verified"} {
		if !strings.Contains(text, want) {
			t.Errorf("it says nothing of %q", want)
		}
	}
	if bare, err := one.Expand(""); err != nil || strings.Contains(bare, "$") || strings.HasSuffix(bare, "\n") {
		t.Errorf("got %q, %v", bare, err)
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ body, args, want string }{
		{"no placeholder", "", "no placeholder"},
		{"no placeholder", "  a 'b  c' ", "no placeholder\n\na 'b  c'"},
		{"all: $ARGUMENTS.", "a 'b  c'", "all: a 'b  c'."},
		{"$1-$2-$3", `a "b c"`, "a-b c-"},
		{"$1$2$3$4$5$6$7$8$9", "1 2 3 4 5 6 7 8 9 10", "123456789"},
		{"$1 and $1", "x", "x and x"},
		{"$2", "a b c", "b"},
		{"", "", ""},
		// Substituted once: what a person wrote is not looked at again.
		{"$1 $ARGUMENTS", "$2 $ARGUMENTS", "$2 $2 $ARGUMENTS"},
		{"$1", "'$1 $2'", "$1 $2"},
		// No placeholders.
		{"$0 $10 $100 $ARGUMENTSX $ARGUMENTS_1 $arguments $x $", "", "$0 $10 $100 $ARGUMENTSX $ARGUMENTS_1 $arguments $x $"},
		{"$$1 $$ARGUMENTS $$$1", "a", "$$1 $$ARGUMENTS $$a"},
		{"costs $100", "a", "costs $100\n\na"},
		{"${1} \\$1", "a", "${1} \\a"},
		{"$ARGUMENTS-$ARGUMENTS", "é", "é-é"},
		{"$1", "a\x1b[31m\u202eb", "a[31mb"},
		{"$1", "a\r\nb", "a"},
	} {
		got, err := (Template{Name: "t", body: c.body}).Expand(c.args)
		if err != nil || got != c.want {
			t.Errorf("%q with %q: got %q, %v, want %q", c.body, c.args, got, err, c.want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "  ": nil, "a b": {"a", "b"}, " a\t\nb ": {"a", "b"}, "'a b' c": {"a b", "c"}, `"a \"b\" \\ \n"`: {`a "b" \ \n`},
		`'a\b'`: {`a\b`}, `a\ b`: {"a b"}, `a\`: {`a\`}, "''": {""}, `a"b c"d`: {"ab cd"}, "don't do": {"don't", "do"}, `"open a b`: {`"open`, "a", "b"},
		`it's 'a b'`: {"its a", "b'"}, "é 'ü ö'": {"é", "ü ö"}, `\'a b\'`: {"'a", "b'"},
	} {
		if got := splitWords(in); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A small template with large arguments would fill the memory.
func TestExpandIsBounded(t *testing.T) {
	one := Template{Name: "t", body: strings.Repeat("$ARGUMENTS", maxTemplate/10)}
	if got, err := one.Expand(strings.Repeat("x", 60_000)); err == nil || got != "" || err.Error() != "expand template t: with these arguments it is larger than 1 MiB" {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if _, err := (Template{Name: "t", body: "x"}).Expand(strings.Repeat("x", maxExpanded)); err == nil {
		t.Error("appended arguments are not bounded")
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$1 $ARGUMENTS $$2", "a 'b c'")
	f.Add("text", "don't")
	f.Add("$", `\`)
	f.Fuzz(func(t *testing.T, body, args string) {
		body = clean(body)
		got, err := (Template{Name: "t", body: body}).Expand(args)
		if err != nil {
			if len(body)+len(args) < 1000 {
				t.Error(err)
			}
			return
		}
		if !utf8.ValidString(got) || len(got) > maxExpanded {
			t.Errorf("got %q", got)
		}
		if !strings.Contains(body, "$") && !strings.HasPrefix(got, strings.TrimRight(body, "\n")) {
			t.Errorf("got %q from %q", got, body)
		}
		if strings.TrimSpace(clean(args)) == "" && !strings.Contains(body, "$") && got != strings.TrimRight(body, "\n") {
			t.Errorf("got %q from %q", got, body)
		}
	})
}
