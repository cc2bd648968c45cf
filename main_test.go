package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/proc"
	"alisio/plug"
	"alisio/plug/plugtest"
	"alisio/scripts/repocheck"
	"alisio/scripts/scripttest"
	"alisio/testdata/plugins/toy"
	"alisio/tui/cli"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files below testdata")

// TestMain is the program itself when the scripts of TestScript start it, and with
// ALISIO_TEST_TOY the program with one more plugin in its list.
func TestMain(m *testing.M) {
	switch {
	case !scripttest.IsSelf("alisio"):
		os.Exit(m.Run())
	case os.Getenv("ALISIO_TEST_TOY") == "":
		main()
	default:
		environ := os.Environ()
		proc.Protect()
		os.Exit(cli.Main(context.Background(), withToy(program(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, environ))))
	}
}

// withToy is the program with one more line in its list of plugins.
func withToy(env cli.Env) cli.Env {
	env.Plugins = append(env.Plugins,
		toy.Plugin(),
	)
	return env
}

// What a plugin shows is there for a screen: its panel, its word in the status bar, its
// fact on the start screen. The script toy has the rest of it, and how it goes.
func TestToyPluginIsSeen(t *testing.T) {
	o := agent.Options{
		Dir: t.TempDir(), Dirs: config.Dirs{Config: t.TempDir(), State: t.TempDir(), Cache: t.TempDir()},
		Plugins: withToy(program(nil, nil, nil, nil, nil)).Plugins, Config: config.Default(), Policy: perm.Policy{ReadOnly: true},
	}
	// Other plugins of the list may show things, too.
	look := func(o agent.Options) (panels []agent.Panel, statuses []agent.Status, screen string) {
		app, err := agent.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer app.Close(t.Context())
		panels = slices.DeleteFunc(app.Panels(), func(p agent.Panel) bool { return p.Plugin != "toy" })
		statuses = slices.DeleteFunc(app.Statuses(), func(s agent.Status) bool { return s.Plugin != "toy" })
		return panels, statuses, app.Startup(t.Context(), plug.ScreenContext{Terminal: plug.Terminal{Columns: 80, Unicode: true}})
	}
	panels, statuses, screen := look(o)
	if len(panels) != 1 || panels[0].Title != "Toys" || panels[0].Nodes[0].Label != "the toy" {
		t.Errorf("got panels %+v", panels)
	}
	if len(statuses) != 1 || statuses[0].Text != "toy ready" {
		t.Errorf("got statuses %+v", statuses)
	}
	if !strings.Contains(screen, "wound up") {
		t.Errorf("got the start screen %s", screen)
	}
	o.Plugins = program(nil, nil, nil, nil, nil).Plugins
	if panels, statuses, screen := look(o); len(panels)+len(statuses) > 0 || strings.Contains(screen, "wound up") {
		t.Errorf("without the line: got %+v, %+v, %s", panels, statuses, screen)
	}
}

func TestToyPluginKeepsTheContract(t *testing.T) { plugtest.Run(t, toy.Plugin) }

// TestScript runs the end-to-end scripts: the real program in processes of its
// own against scripted servers on real sockets.
func TestScript(t *testing.T) {
	scripttest.Run(t, scripttest.Params{
		Dir:    "testdata/script",
		Self:   "alisio",
		Build:  map[string]string{"fakellm": "alisio/scripts/fakellm"},
		Homes:  []string{"ALISIO_CONFIG_HOME", "ALISIO_STATE_HOME", "ALISIO_CACHE_HOME"},
		Update: *update,
		Line: func(line []byte) error {
			_, err := plug.DecodeEvent(line)
			return err
		},
	})
}

// The rules of the repository. Each row is a subtest of TestRules; for each
// there is at least one small bad tree in testdata/rules that breaks it.
var rules = []struct {
	name  string
	check func(*repocheck.Tree) []repocheck.Complaint
}{
	{"layout", func(t *repocheck.Tree) []repocheck.Complaint { return t.Layout(topLevel, madeHere) }},
	{"arrows", func(t *repocheck.Tree) []repocheck.Complaint { return t.Arrows(arrows) }},
	{"doors", func(t *repocheck.Tree) []repocheck.Complaint { return t.Doors(doors) }},
	{"connections", func(t *repocheck.Tree) []repocheck.Complaint { return t.Connections("agent/transport", "llm/llmtest") }},
	{"closures", func(t *repocheck.Tree) []repocheck.Complaint { return t.Closures(closures) }},
	{"ids", func(t *repocheck.Tree) []repocheck.Complaint { return t.Names("agent", pluginIDs) }},
	{"sizes", func(t *repocheck.Tree) []repocheck.Complaint { return t.Sizes(limits) }},
	{"state", (*repocheck.Tree).State},
	{"style", func(t *repocheck.Tree) []repocheck.Complaint { return t.Style(vagueNames) }},
	{"words", func(t *repocheck.Tree) []repocheck.Complaint { return t.Words(words) }},
}

var topLevel = []string{
	".ci", ".gitattributes", ".gitignore", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md",
	"SECURITY.md", "agent", "cmdcat", "db", "go.mod", "go.sum", "llm", "main.go", "main_test.go", "mcp", "plug",
	"scripts", "testdata", "tui",
}

// What git and .gitignore make of a working copy.
var madeHere = []string{".git", "alisio", "alisio.exe", "dist", "*.test", "*.prof", "*.out"}

// Who may import whom. Rows and arrows come with their first use. An arrow is
// a decision: before adding one, see whether a function handed over would do.
var arrows = []repocheck.Row{
	{Package: "llm"},
	{Package: "llm/sse"},
	{Package: "llm/schema"},
	{Package: "llm/wire", May: []string{"llm", "llm/sse"}},
	{Package: "llm/chatapi", May: []string{"llm", "llm/sse", "llm/wire"}},
	{Package: "llm/responses", May: []string{"llm", "llm/sse", "llm/wire"}},
	{Package: "llm/script", May: []string{"llm"}},
	{Package: "llm/llmtest", May: []string{"llm"}, TestsOnly: true},

	{Package: "plug", May: []string{"llm"}},
	{Package: "plug/frontmatter"},
	{Package: "plug/plugtest", May: []string{"plug", "llm"}, TestsOnly: true},
	{Package: "plug/openai", May: []string{"plug", "llm", "llm/chatapi", "llm/responses"}},

	{Package: "db/blob"},
	{Package: "db/hold"},
	{Package: "db/lock"},
	{Package: "db/netfs"},
	{Package: "db/place", May: []string{"db/hold", "db/swap"}},
	{Package: "db/report"},
	{Package: "db/scan"},
	{Package: "db/schema"},
	{Package: "db/swap"},
	{Package: "db/uri"},
	{Package: "db/pages"},
	{Package: "db/salvage", May: []string{"db/pages", "db/scan"}},
	{Package: "db", May: []string{"db/blob", "db/hold", "db/lock", "db/netfs", "db/pages", "db/place", "db/report", "db/salvage", "db/schema", "db/swap", "db/uri"}},
	{Package: "db/storage", May: []string{"db", "db/scan"}},

	{Package: "agent/perm"},
	{Package: "agent/diff"},
	{Package: "agent/text"},
	{Package: "agent/clock"},
	{Package: "agent/transport"},
	{Package: "agent/config", May: []string{"agent/perm"}},
	{Package: "agent/trust", May: []string{"agent/config"}},
	{Package: "agent/workspace", May: []string{"agent/text"}},
	{Package: "agent/proc", May: []string{"agent/text"}},
	{Package: "agent/resource", May: []string{"plug/frontmatter", "agent/text"}},
	{Package: "agent/tools", May: []string{"plug", "llm", "agent/diff", "agent/text"}},
	{Package: "agent/gate", May: []string{"plug", "agent/perm", "agent/workspace", "agent/clock"}},
	{Package: "agent/session/codec", May: []string{"plug", "llm"}},
	{Package: "agent/session/mend", May: []string{"llm"}},
	{Package: "agent/session/archive", May: []string{"llm", "db", "agent/session/codec"}},
	{Package: "agent/session", May: []string{"plug", "llm", "db", "agent/session/archive", "agent/session/codec", "agent/session/mend", "agent/text"}},
	{Package: "agent/session/child", May: []string{"plug", "llm", "agent/session", "agent/perm", "agent/text"}},
	{Package: "agent/profile", May: []string{"plug", "llm", "agent/config"}},
	{Package: "agent/host", May: []string{"plug", "llm", "db/storage", "agent/config", "agent/text"}},
	{Package: "agent/compact", May: []string{"llm"}},
	{Package: "agent/search", May: []string{"db/storage", "agent/session", "agent/text", "llm"}},
	{Package: "agent/account", May: []string{"plug", "llm", "agent/session", "agent/text"}},
	{Package: "agent/doom", May: []string{"llm"}},
	{Package: "agent/callid", May: []string{"llm"}},
	{Package: "agent/ledger", May: []string{"llm"}},
	{Package: "agent/output", May: []string{"llm", "llm/schema"}},
	{Package: "agent/prefix", May: []string{"plug", "llm"}},
	{Package: "agent/run", May: []string{"plug", "llm", "llm/schema", "agent/callid", "agent/clock", "agent/compact", "agent/doom", "agent/gate", "agent/ledger", "agent/output", "agent/prefix", "agent/session", "agent/text"}},
	{Package: "agent/blob", May: []string{"plug", "llm"}},
	{Package: "agent/outside", May: []string{"plug", "llm", "agent/gate", "agent/run", "agent/session", "agent/text"}},
	{Package: "agent/ports", May: []string{"plug", "llm", "agent/proc", "agent/resource", "agent/session", "agent/workspace"}},
	{Package: "agent/request", May: []string{"plug", "llm", "agent/output", "agent/run", "agent/session"}},
	{Package: "agent", May: []string{"plug", "llm", "db"}, Any: "agent", But: []string{"agent/tools"}},
	{Package: "agent/doctor", May: []string{"agent", "agent/config", "agent/perm", "agent/proc", "agent/profile", "agent/text", "agent/transport", "agent/trust", "llm"}},

	{Package: "cmdcat", May: []string{"agent", "agent/config", "agent/text", "llm"}},

	{Package: "tui/term", May: []string{"agent/text"}},
	{Package: "tui", May: []string{"agent/diff", "agent/text", "tui/term"}},
	{Package: "tui/tuitest/keys", May: []string{"tui/term"}, TestsOnly: true},
	{Package: "tui/tuitest", May: []string{"agent/text", "tui/term", "tui/tuitest/keys"}, TestsOnly: true},
	{Package: "tui/tuitest/drive", May: []string{"tui/tuitest", "tui/tuitest/keys"}, TestsOnly: true},
	{Package: "tui/tuitest/svg", May: []string{"tui/tuitest"}, TestsOnly: true},
	{Package: "tui/screen", May: []string{"agent/text", "tui/term"}},
	{Package: "tui/lex", May: []string{"agent/text"}},
	{Package: "tui/markdown", May: []string{"agent/text", "tui/lex"}},
	{Package: "tui/plain", May: []string{"agent", "cmdcat", "plug", "llm", "agent/text", "tui/term"}},
	{Package: "tui/cli/args", May: []string{"agent/config", "llm"}},
	{Package: "tui/cli/base", May: []string{"agent", "agent/config", "agent/text", "llm", "tui/plain", "tui/term"}},
	{Package: "tui/cli/extend", May: []string{"agent", "agent/text", "cmdcat", "plug", "tui/cli/base", "tui/term"}},
	{Package: "tui/cli/sessions", May: []string{"agent", "agent/config", "agent/account", "agent/text", "plug", "llm", "tui/cli/base", "tui/plain", "tui/term"}},
	{Package: "tui/cli", May: []string{"agent", "agent/config", "agent/doctor", "agent/perm", "agent/text", "agent/trust", "cmdcat", "plug", "llm", "tui/cli/args", "tui/cli/base", "tui/cli/extend", "tui/cli/sessions", "tui/plain", "tui/term"}},

	{Package: "main", May: []string{"tui/cli", "agent/proc", "agent/tools", "llm/script", "plug/openai"}},
	{Package: "scripts/bench/search", May: []string{"agent/session", "db", "llm"}},
	{Package: "scripts/gallery", May: []string{"agent/diff", "agent/text", "tui", "tui/lex", "tui/markdown", "tui/screen", "tui/term"}},
	{Package: "scripts/*", May: []string{"llm", "llm/script"}},
}

var doors = []repocheck.Door{
	{Module: "golang.org/x/term", Package: "tui/term"},
	{Module: "modernc.org/sqlite", Package: "db"},
	{Module: "gopkg.in/yaml.v3", Package: "plug/frontmatter"},
}

// What authors of plugins and providers have to read, and no more.
var closures = []repocheck.Closure{
	{Package: "llm", Ours: []string{"llm"}, Never: []string{"net/http", "database/sql", "os/exec"}},
	{Package: "plug", Ours: []string{"llm", "plug"}, Never: []string{"database/sql", "os/exec"}},
}

// Built-in plugins, which no file of the engine may name.
var pluginIDs = []string{"openai-compatible", "deepseek", "opencode"}

var limits = repocheck.Limits{File: 600, Function: 100, StructFields: 25, Package: 4000}

// The trusted part: what a reviewer reads to know that nothing happens that
// was not allowed. It grows with the parts that join it and stays below
// trustedLimit lines together. A new file of these packages belongs to it, until
// it is a row of besides. Tables are read with it, but are not counted.
var trusted = []string{
	"agent/gate", "agent/perm", "agent/config", "agent/proc", "agent/transport", "agent/trust", "agent/workspace",
	// The journal, and the one function through which every durable fact passes.
	"db/call.go", "db/write.go",
	// The sanitiser; the rest of the package measures and wraps.
	"agent/text/text.go", "agent/text/plain.go", "agent/text/stripper.go", "agent/text/escape.go", "agent/text/rune.go",
	"agent/text/name.go",
}

// besides are files of the trusted packages that a reviewer may pass over: what
// each does instead of deciding about access, processes, keys or settings.
var besides = []struct {
	why   string
	files []string
}{
	{"lists for people what was read", []string{"agent/config/values.go"}},
	{"reads what a model can take and what it costs", []string{"agent/config/models.go"}},
	{"writes the text of an edit; set.go compares what comes of that", []string{"agent/config/edit.go"}},
	{"chooses, by patterns and ignore rules, among names in folders that folder.go and resolve.go open", []string{
		"agent/workspace/glob.go", "agent/workspace/ignore.go", "agent/workspace/ignore_level.go", "agent/workspace/list.go",
		"agent/workspace/walk.go", "agent/workspace/wildcard.go",
	}},
	{"reads what git ignores, for rules that only hide names", []string{"agent/workspace/excludes.go"}},
	{"finds look-alikes of a name in a directory that file.go opens", []string{"agent/workspace/similar.go"}},
	{"keeps and hands over text that output.go has cleaned, and taken the key out of", []string{"agent/proc/keep.go", "agent/proc/live.go"}},
	{"puts into words that something has failed by then", []string{
		"agent/config/nearest.go", "agent/config/words.go", "agent/proc/errors.go", "agent/transport/explain.go",
		"agent/workspace/errors.go",
	}},
	{"looks for text in files that folder.go opens", []string{
		"agent/workspace/literal.go", "agent/workspace/pattern.go", "agent/workspace/scan.go", "agent/workspace/scan_bounds.go",
		"agent/workspace/scan_utf16.go", "agent/workspace/search.go",
	}},
}

const trustedLimit = 8000

var vagueNames = []string{"Service", "Manager", "Helper", "Util", "Utils", "Types", "Common"}

// Patterns that do not match themselves.
var words = []repocheck.Word{
	{Pattern: "TO[D]O|FIX[M]E|X[X]X|not implement[e]d|un[i]mplemented", GoOnly: true, Why: "finish it, or leave it out and say so in the manual"},
	{Pattern: `/[w]ork/|/[f]arm/|/tmp/brief[s]`, Why: "a path of one machine; nobody else can follow it"},
	{Pattern: `(?i)subagen[t] session|before-sto[p]|\bthe C[E]O\b`, Why: "says nothing about the product"},
}

// What may break a rule, and why.
var exceptions = []repocheck.Exception{
	{Rule: "state", Key: "exit tui/cli/base/signal.go:Quit", Reason: "a second SIGINT quits at once, whatever the run is doing"},
	{Rule: "state", Key: "panic tui/term/terminal.go:Terminal.Guard", Reason: "goes on with a panic that it did not make, after giving the terminal back"},
	{Rule: "ids", Key: "name agent/workspace/protected_tables.go:opencode", Reason: "names of another program's files"},
	{Rule: "ids", Key: "name agent/workspace/protected_test.go:opencode", Reason: "names of another program's files"},
	{Rule: "ids", Key: "name agent/trust/covered_tables.go:opencode", Reason: "names of another program's files"},
	{Rule: "ids", Key: "name agent/trust/trust_test.go:opencode", Reason: "names of another program's files"},
}

func TestRules(t *testing.T) {
	tree := load(t, ".")
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, c := range repocheck.Except(rule.name, rule.check(tree), exceptions) {
				t.Error(c)
			}
		})
	}
}

// TestRulesCanFail gives each rule trees that break it: a rule that finds
// nothing there checks nothing here. Each file of testdata/rules is named
// bad-RULE.txt or bad-RULE-VARIANT.txt and holds a module and, in "want", the
// complaints; the rule may find more (rows that the small tree does not use).
func TestRulesCanFail(t *testing.T) {
	for _, rule := range rules {
		files, err := filepath.Glob("testdata/rules/bad-" + rule.name + "*.txt")
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("no testdata/rules/bad-%s.txt shows that the rule %s can fail", rule.name, rule.name)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				got, want := badTree(t, file, rule.name, rule.check)
				if len(want) == 0 {
					t.Error("the file expects no complaint")
				}
				for _, w := range want {
					if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
						t.Errorf("no complaint %q in:\n%s", w, strings.Join(got, "\n"))
					}
				}
			})
		}
	}
}

func badTree(t *testing.T, file, rule string, check func(*repocheck.Tree) []repocheck.Complaint) (got, want []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// "~" keeps a bad word of the tree from being one of this repository.
	archive := scripttest.ParseArchive(bytes.ReplaceAll(data, []byte("~"), nil))
	dir := t.TempDir()
	if err := archive.Extract(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range repocheck.Except(rule, check(load(t, dir)), nil) {
		got = append(got, c.String())
	}
	section := archive.Section("want")
	if section == nil {
		t.Fatal("no section want")
	}
	for line := range strings.Lines(string(section.Data)) {
		want = append(want, strings.TrimRight(line, "\n"))
	}
	return got, want
}

func TestTrustedPartStaysSmall(t *testing.T) {
	var without []string
	for _, b := range besides {
		without = append(without, b.files...)
	}
	lines, err := load(t, ".").Lines(trusted, without)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("trusted part: %d of %d lines", lines, trustedLimit)
	if lines > trustedLimit {
		t.Errorf("the trusted part has %d lines, the limit is %d", lines, trustedLimit)
	}
}

// TestCommentShare reports; how much there is to say differs from package to
// package.
func TestCommentShare(t *testing.T) {
	shares := load(t, ".").CommentShares()
	if len(shares) == 0 {
		t.Fatal("no packages")
	}
	for _, s := range shares {
		note := ""
		if p := s.Percent(); p < 10 || p > 25 {
			note = "  outside of 10 to 25 %: too little said, or too much?"
		}
		t.Logf("%-20s %5d lines, %4.1f %% comments%s", s.Package, s.Lines, s.Percent(), note)
	}
}

func load(t *testing.T, root string) *repocheck.Tree {
	t.Helper()
	tree, err := repocheck.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
