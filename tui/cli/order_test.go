package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/tui/cli/base"
)

// orderSeed and a round's number make a command line again.
const orderSeed = 20

// validValues are values that each kind of argument takes, odd ones with them: they
// are nobody's business when a command line is taken apart.
func validValues() map[string][]string {
	return map[string][]string{
		"DIR": {"dir", "two words", "./dir"}, "FILE": {"file", "two words", "-file"},
		"URL": {"http://127.0.0.1:9/v1", "=", ""}, "SESSION": {"1a", "2b"}, "ID": {"1a", "-1", "--id", "a=b"},
		"AGENT": {"plan", "build", "none"}, "PLUGIN": {"toy", "-1", "--id", "a=b"},
		"N": {"1", "7"}, "AMOUNT": {"1", "0.5"}, "TIME": {"90s", "0"}, "NAME": {"toy", "a/b=c", "--odd", "-m"}, "TEXT": {"two words", "", "--", "-"},
	}
}

// given is one flag of a command line.
type given struct {
	f     flag
	value string
	bare  bool // no value is given, where it may be left out
}

// plainForm is how the manual writes it.
func (g given) plainForm() []string {
	if g.f.Arg == "" || g.bare {
		return []string{"--" + g.f.Name}
	}
	return []string{"--" + g.f.Name + "=" + g.value}
}

// forms are all ways to write it.
func (g given) forms() [][]string {
	forms := [][]string{g.plainForm()}
	withShort := g.f.Short != ""
	switch {
	case g.f.Arg == "" || g.bare:
		if withShort {
			forms = append(forms, []string{"-" + g.f.Short})
		}
		return forms
	case g.f.Inline:
		return forms
	}
	if !strings.HasPrefix(g.value, "--") {
		forms = append(forms, []string{"--" + g.f.Name, g.value})
		if withShort {
			forms = append(forms, []string{"-" + g.f.Short, g.value})
		}
	}
	if withShort && g.value != "" {
		forms = append(forms, []string{"-" + g.f.Short + "=" + g.value}, []string{"-" + g.f.Short + g.value})
	}
	return forms
}

// line is a command line before its order.
type line struct {
	command []string
	flags   []given
	words   []string
}

// plain has the flags behind the command, each in one word, and the words behind "--".
func (l line) plain() []string {
	list := slices.Clone(l.command)
	for _, g := range l.flags {
		list = append(list, g.plainForm()...)
	}
	return append(append(list, "--"), l.words...)
}

// other is the same in another order: words keep theirs, and so do flags that are
// given twice.
func (l line) other(r *rand.Rand) []string {
	words := append(slices.Clone(l.command), l.words...)
	end := len(words) // where "--" may stand at last: before a word like a flag
	if i := slices.IndexFunc(words, func(w string) bool { return len(w) > 1 && w[0] == '-' }); i >= 0 {
		end = i
	}
	cut := -1
	if end < len(words) || r.IntN(3) == 0 {
		cut = 1 + r.IntN(end)
	}
	// What stands before "--": true is a flag.
	before := len(words)
	if cut >= 0 {
		before = cut
	}
	order := append(slices.Repeat([]bool{true}, len(l.flags)), slices.Repeat([]bool{false}, before)...)
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	flags := shuffled(r, l.flags)
	var list []string
	for _, isFlag := range order {
		if !isFlag {
			list, words = append(list, words[0]), words[1:]
			continue
		}
		forms := flags[0].forms()
		list, flags = append(list, forms[r.IntN(len(forms))]...), flags[1:]
	}
	if cut >= 0 {
		list = append(list, "--")
	}
	return append(list, words...)
}

// shuffled keeps the order of flags with one name.
func shuffled(r *rand.Rand, flags []given) []given {
	flags = slices.Clone(flags)
	byName := make(map[string][]given)
	for _, g := range flags {
		byName[g.f.Name] = append(byName[g.f.Name], g)
	}
	r.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	for i, g := range flags {
		flags[i], byName[g.f.Name] = byName[g.f.Name][0], byName[g.f.Name][1:]
	}
	return flags
}

// valued gives a flag a value that it takes.
func valued(t *testing.T, r *rand.Rand, f flag) given {
	t.Helper()
	values := f.Values
	if values == nil && f.Arg != "" {
		values = validValues()[f.Arg]
	}
	if f.Arg == "" {
		return given{f: f}
	}
	if f.Inline && r.IntN(2) == 0 {
		return given{f: f, bare: true}
	}
	for range 100 {
		if len(values) == 0 {
			break
		}
		v := values[r.IntN(len(values))]
		if f.Set(new(settings), v) == nil {
			return given{f: f, value: v}
		}
	}
	t.Fatalf("no value is known for --%s %s; give validValues one", f.Name, f.Arg)
	return given{}
}

// drawn is a command with some of the flags that it takes, some of them twice where
// they may be repeated.
func drawn(t *testing.T, r *rand.Rand, name string, taken []flag) line {
	t.Helper()
	l := line{command: strings.Fields(name)}
	for _, f := range taken {
		if r.IntN(3) > 0 {
			continue
		}
		// Help and the version keep a command from doing anything.
		if f.Everywhere && f.Short != "" && r.IntN(4) > 0 {
			continue
		}
		l.flags = append(l.flags, valued(t, r, f))
		if strings.Contains(f.Help, "may be repeated") {
			l.flags = append(l.flags, valued(t, r, f))
		}
	}
	pool := []string{"1a", "word", "two words", "ünï", "", "-", "--not-a-flag", "-x", "--", "bash", "run"}
	for range r.IntN(4) {
		l.words = append(l.words, pool[r.IntN(len(pool))])
	}
	return l
}

// takenFlags are the flags that a command takes, and the others.
func takenFlags(name string) (taken, foreign []flag) {
	for _, f := range flags() {
		if takes(f, name) {
			taken = append(taken, f)
		} else {
			foreign = append(foreign, f)
		}
	}
	return taken, foreign
}

// sameCall complains unless two command lines say the same.
func sameCall(a, b *call) error {
	x, y := a.settings, b.settings
	x.Getenv, y.Getenv = nil, nil // functions can not be compared
	switch {
	case a.Verb != b.Verb || a.cmd.Name != b.cmd.Name:
		return fmt.Errorf("the command is %q, and %q", a.Verb, b.Verb)
	case !slices.Equal(a.Args, b.Args):
		return fmt.Errorf("the words are %q, and %q", a.Args, b.Args)
	case !reflect.DeepEqual(x, y):
		return fmt.Errorf("the settings are %+v, and %+v", a.settings, b.settings)
	}
	return nil
}

// Spec config-cli.md, "Command line": flags may stand before or after the command
// and its arguments, in either form. Every command, with flags that it takes.
func TestFlagsStandAnywhere(t *testing.T) {
	used := make(map[string]bool)
	for _, name := range commandLine().Names() {
		taken, _ := takenFlags(name)
		for round := range uint64(300) {
			r := rand.New(rand.NewPCG(orderSeed, round))
			l := drawn(t, r, name, taken)
			plain, other := l.plain(), l.other(r)
			a, err := parse(env(plain...))
			if err != nil || a.unknown != nil {
				t.Fatalf("seed %d, round %d: %q: %v, %v", orderSeed, round, plain, err, a.unknown)
			}
			b, err := parse(env(other...))
			if err == nil {
				err = sameCall(a, b)
			}
			if err != nil {
				t.Fatalf("seed %d, round %d: %q and\n%q: %v", orderSeed, round, plain, other, err)
			}
			if a.Verb != name || !slices.Equal(a.Args, append([]string{}, l.words...)) {
				t.Fatalf("seed %d, round %d: %q is taken for %q with %q", orderSeed, round, plain, a.Verb, a.Args)
			}
			for _, g := range l.flags {
				used[g.f.Name] = true
			}
		}
	}
	for _, f := range flags() {
		// A line without a command takes words with white space alone, see package args.
		if bare := slices.Equal(f.In, []string{""}); !used[f.Name] && !bare {
			t.Errorf("no command line had --%s", f.Name)
		}
	}
}

// A flag that means nothing to a command is an error, and the same one, wherever it
// stands.
func TestForeignFlagsStandNowhere(t *testing.T) {
	for round := range uint64(300) {
		r := rand.New(rand.NewPCG(orderSeed, round))
		names := commandLine().Names()
		name := names[round%uint64(len(names))]
		taken, foreign := takenFlags(name)
		l := drawn(t, r, name, taken)
		l.flags = slices.DeleteFunc(l.flags, func(g given) bool { return g.f.Everywhere }) // help is given to everybody
		l.flags = append(l.flags, valued(t, r, foreign[r.IntN(len(foreign))]))
		plain, other := l.plain(), l.other(r)
		_, want := parse(env(plain...))
		_, got := parse(env(other...))
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Fatalf("seed %d, round %d: %q: %v\n%q: %v", orderSeed, round, plain, want, other, got)
		}
	}
}

// Spec config-cli.md, as above: what a command line does is the same in every order.
// No provider is there, so that a task ends before anybody is asked.
func TestEveryOrderDoesTheSame(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	t.Setenv("TMPDIR", filepath.Join(home, "tmp"))
	codes := make(map[int]int)
	for round := range uint64(300) {
		r := rand.New(rand.NewPCG(orderSeed, round))
		names := commandLine().Names()
		name := names[round%uint64(len(names))]
		taken, _ := takenFlags(name)
		l := drawn(t, r, name, taken)
		plain, other := l.plain(), l.other(r)
		want, got := done(t, home, plain), done(t, home, other)
		if got != want {
			t.Fatalf("seed %d, round %d: %q: %+v\n%q: %+v", orderSeed, round, plain, want, other, got)
		}
		codes[want.code]++
	}
	if len(codes) < 3 || codes[base.ExitDone] < 50 {
		t.Errorf("the exit codes were %v: too few command lines do anything", slices.Collect(maps.Keys(codes)))
	}
}

// deed is what a command line did.
type deed struct {
	code           int
	stdout, stderr string
	// files are the names of those that there are now.
	files string
}

// done runs a command line in a directory made anew.
func done(t *testing.T, dir string, args []string) deed {
	t.Helper()
	old, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dir", "two words", "tmp"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := env(args...)
	e.Script = func(string, []byte) (llm.Provider, error) { return nil, errors.New("no provider") }
	e.Getenv = func(name string) string {
		if name == "HOME" || strings.HasPrefix(name, "ALISIO_") && strings.HasSuffix(name, "_HOME") {
			return dir
		}
		return ""
	}
	code := Main(context.Background(), e)
	made := regexp.MustCompile(`alisio-demo-\d+`) // a name that is new each time
	text := func(w io.Writer) string { return made.ReplaceAllString(w.(*bytes.Buffer).String(), "alisio-demo-N") }
	d := deed{code: code, stdout: text(e.Stdout), stderr: text(e.Stderr)}
	names, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	d.files = strings.Join(names, " ")
	return d
}
