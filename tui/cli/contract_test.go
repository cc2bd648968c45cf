package cli

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/scripts/scripttest"
	"alisio/tui/cli/base"
)

// contract is a table of the specification that the program is held to, read from a
// file of testdata.
type contract struct {
	names []string
	rows  map[string][]string
	// later holds the rows that the program does not have yet, more what it has
	// beside the table, each with its reason.
	later, more map[string]string
}

func readContract(t *testing.T, file string) contract {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	c := contract{rows: map[string][]string{}, later: map[string]string{}, more: map[string]string{}}
	archive := scripttest.ParseArchive(data)
	each := func(section string, row func(name string, columns []string)) {
		s := archive.Section(section)
		if s == nil {
			return
		}
		for line := range strings.Lines(string(s.Data)) {
			columns := strings.Split(strings.TrimSpace(line), "|")
			if len(columns) == 1 {
				continue // what the next section is about
			}
			for i := range columns {
				columns[i] = strings.TrimSpace(columns[i])
			}
			row(columns[0], columns)
		}
	}
	each("table", func(name string, columns []string) { c.names, c.rows[name] = append(c.names, name), columns })
	each("later", func(name string, columns []string) { c.later[name] = columns[1] })
	each("more", func(name string, columns []string) { c.more[name] = columns[1] })
	return c
}

// hold complains where what the program has is neither what the table says nor
// listed beside it.
func (c contract) hold(t *testing.T, what string, names, have []string) {
	t.Helper()
	for _, name := range names {
		_, later := c.later[name]
		switch has := slices.Contains(have, name); {
		case has && later:
			t.Errorf("%s %s is there (%s): take it off the list of what comes later", what, name, c.later[name])
		case !has && !later:
			t.Errorf("%s %s of the table is missing, and no feature is named that it belongs to", what, name)
		}
	}
	for _, name := range have {
		if _, more := c.more[name]; !more && !slices.Contains(names, name) {
			t.Errorf("%s %s is not in the table; list it with a reason, or leave it out", what, name)
		}
	}
	for name, feature := range c.later {
		if !slices.Contains(names, name) || feature == "" {
			t.Errorf("%s %s comes later by the list, but it is not in the table, or no feature is named", what, name)
		}
	}
	for name, reason := range c.more {
		if slices.Contains(names, name) || !slices.Contains(have, name) || reason == "" {
			t.Errorf("%s %s is listed beside the table, but it is in it, or not in the program, or without a reason", what, name)
		}
	}
}

// Spec config-cli.md, "Command line": the table of commands.
func TestTheCommandsAreThoseOfTheContract(t *testing.T) {
	c := readContract(t, "commands.txt")
	have := commandLine().Names()
	c.hold(t, "command", c.names, have)
	word := regexp.MustCompile(`[A-Za-z]+`)
	for _, name := range have {
		row := c.rows[name]
		if row == nil {
			continue
		}
		line := resolve(strings.Fields(name))
		for _, w := range word.FindAllString(strings.Join(row[1:], "|"), -1) {
			_, isFlag := flagNamed(w)
			if !isFlag && !strings.Contains(line.Command.Args, w) {
				t.Errorf("alisio %s takes %q, which lacks %s", name, line.Command.Args, w)
			}
		}
	}
}

func flagNamed(name string) (flag, bool) {
	list := flags()
	i := slices.IndexFunc(list, func(f flag) bool { return f.Name == name })
	if i < 0 {
		return flag{}, false
	}
	return list[i], true
}

// Spec config-cli.md, "Command line": the global flags and those of single commands,
// who takes them, and what value they take.
func TestTheFlagsAreThoseOfTheContract(t *testing.T) {
	c := readContract(t, "flags.txt")
	var names, have []string
	for _, key := range c.names {
		short, long, _ := strings.Cut(key, "/")
		if long == "" {
			short, long = "", short
		}
		names = append(names, long)
		f, ok := flagNamed(strings.TrimPrefix(long, "--"))
		if !ok {
			continue // hold tells of it
		}
		if got := strings.TrimSuffix("-"+f.Short, "-"); got != short {
			t.Errorf("%s is %q for short, want %q", long, got, short)
		}
		var takers []string
		for _, taker := range strings.Split(c.rows[key][2], ", ") {
			switch taker {
			case "global":
				takers = append(takers, taskVerbs()...)
			case "alisio":
				takers = append(takers, "")
			default:
				takers = append(takers, taker)
			}
		}
		for _, taker := range takers {
			if !takes(f, taker) {
				t.Errorf("alisio %s does not take %s", taker, long)
			}
		}
		if got := valueOf(t, f); got != c.rows[key][1] {
			t.Errorf("%s takes %s, want %s", long, got, c.rows[key][1])
		}
	}
	for _, f := range flags() {
		have = append(have, "--"+f.Name)
	}
	c.hold(t, "flag", names, have)
}

// valueOf says what value a flag takes, in the words of the contract.
func valueOf(t *testing.T, f flag) string {
	t.Helper()
	switch {
	case f.Arg == "":
		return "none"
	case f.Inline:
		return "after ="
	case f.Name == "mode":
		return "one of " + strings.Join(f.Values, ", ")
	}
	v := validValues()[f.Arg]
	if f.Values != nil {
		v = f.Values
	}
	var once, twice settings
	for i, s := range []*settings{&once, &twice, &twice} {
		if err := f.Set(s, v[max(0, i-1)]); err != nil {
			t.Fatalf("--%s %s: %v", f.Name, v[max(0, i-1)], err)
		}
	}
	if len(once.task.images)+len(once.disable)+len(once.overrides.AddDirs) < len(twice.task.images)+len(twice.disable)+len(twice.overrides.AddDirs) {
		return "each"
	}
	return "one"
}

// Spec config-cli.md, "Exit codes by cause": what a run ends with, and that the
// manual and the README tell every code.
func TestTheExitCodesAreThoseOfTheContract(t *testing.T) {
	c := readContract(t, "exitcodes.txt")
	source, err := os.ReadFile("../../llm/cause.go")
	if err != nil {
		t.Fatal(err)
	}
	causes := regexp.MustCompile(`Cause = "(\w+)"`).FindAllSubmatch(source, -1)
	want := map[string]string{"": "0"}
	for _, code := range c.names {
		for _, cause := range strings.Split(c.rows[code][2], ", ") {
			if cause != "" {
				want[cause] = code
			}
		}
	}
	if len(want) != len(causes)+1 || len(causes) == 0 {
		t.Errorf("%d causes have a code, and there are %d", len(want)-1, len(causes))
	}
	for _, cause := range slices.Sorted(maps.Keys(want)) {
		if got := strconv.Itoa(base.ExitCode(llm.Cause(cause))); got != want[cause] {
			t.Errorf("cause %q: got %s, want %s", cause, got, want[cause])
		}
	}
	page, err := manual.ReadFile("manual/exit-codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^  (\d+)  `).FindAllSubmatch(page, -1) {
		have = append(have, string(m[1]))
	}
	c.hold(t, "exit code", c.names, have)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range c.names {
		if _, later := c.later[code]; bytes.Contains(readme, []byte("\n| "+code+" | ")) == later {
			t.Errorf("exit code %s: it is in the table of the README, or it is not, against the list", code)
		}
	}
}

// Spec config-cli.md, "Keys": name, default and range of every key. What each of them
// reads and refuses is tested beside this.
func TestTheKeysAreThoseOfTheContract(t *testing.T) {
	c := readContract(t, "keys.txt")
	var have []string
	defaults := make(map[string]string)
	for _, v := range config.Default().Values() {
		defaults[v.Key] = v.JSON
	}
	for _, key := range config.Keys() {
		have = append(have, key.Name)
		if got := defaults[key.Name]; got != key.Default {
			t.Errorf("%s: the default configuration has %q, the list of keys %q", key.Name, got, key.Default)
		}
		row := c.rows[key.Name]
		if row == nil {
			continue
		}
		if want := strings.TrimSuffix(row[1], "unset"); key.Default != want {
			t.Errorf("%s: the default is %q, want %q", key.Name, key.Default, want)
		}
		if want := rangeOf(t, row[2]).allowed; key.Allowed != want {
			t.Errorf("%s: allowed is %q, want %q", key.Name, key.Allowed, want)
		}
	}
	c.hold(t, "key", c.names, have)
}

// Every command stands in the README's table of them, and nothing else does.
func TestTheCommandsAreThoseOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := bytes.Cut(readme, []byte("| command | does |\n"))
	table, _, _ = bytes.Cut(table, []byte("\n\n"))
	var said []string
	for _, m := range regexp.MustCompile("`alisio ([a-z]+)(?: ([a-z]+(?:\\\\\\|[a-z]+)*))?").FindAllSubmatch(table, -1) {
		name := string(m[1])
		if !resolve([]string{name}).Command.Group() {
			said = append(said, name)
			continue
		}
		for sub := range strings.SplitSeq(string(m[2]), `\|`) {
			said = append(said, name+" "+sub)
		}
	}
	slices.Sort(said)
	if have := slices.Sorted(slices.Values(commandLine().Names())); !slices.Equal(said, have) {
		t.Errorf("the README has %q, the program %q", said, have)
	}
}
