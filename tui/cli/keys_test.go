package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"alisio/agent/config"
)

// span is what a key takes: values as JSON, with what an error says of the bad ones.
type span struct {
	allowed string
	// good are read, the ends of a range among them.
	good []string
	// bad have a wrong type or are beyond an end. An empty text: allowed says all.
	bad []refused
}

type refused struct{ value, found string }

// rangeOf reads the third column of keys.txt.
func rangeOf(t *testing.T, words string) span {
	t.Helper()
	kind, rest, _ := strings.Cut(strings.TrimSuffix(words, " (ours)"), " ")
	long := strings.Repeat("x", 257)
	switch kind {
	case "integer":
		var lo, hi int
		if _, err := fmt.Sscan(rest, &lo, &hi); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		s := span{allowed: fmt.Sprintf("a whole number from %d to %d", lo, hi),
			good: []string{strconv.Itoa(lo + (hi-lo)/2), strconv.Itoa(lo), strconv.Itoa(hi)}}
		for _, v := range []string{strconv.Itoa(lo - 1), strconv.Itoa(hi + 1), strconv.Itoa(lo) + ".5", strconv.Itoa(lo) + "e0", "-1", `"1"`, "true", "null"} {
			s.bad = append(s.bad, refused{v, v})
		}
		return s
	case "time": // in milliseconds
		return span{allowed: "0 for no limit, or a whole number from 100 to 86400000", good: []string{"60000", "0", "100", "86400000"},
			bad: []refused{{"99", "99"}, {"86400001", "86400001"}, {"1", "1"}, {"-1", "-1"}, {"-0", "-0"}, {"100.5", "100.5"}, {"1e3", "1e3"},
				{`"90s"`, `"90s"`}, {"true", "true"}, {"null", "null"}}}
	case "number":
		lo, hi, _ := strings.Cut(rest, " ")
		over := hi + "1" // 0.991 beyond 0.99
		if !strings.Contains(hi, ".") {
			over = hi + ".1"
		}
		s := span{allowed: "a number from " + lo + " to " + hi, good: []string{"0.5", lo, hi, "1e-1"}}
		bad := []string{"-0.001", over, "1e999", `"0.5"`, "false", "null"}
		if lo == "0" {
			s.allowed += ", for a million tokens"
		} else {
			bad = append(bad, "0", lo[:len(lo)-1]+"09")
		}
		for _, v := range bad {
			s.bad = append(s.bad, refused{v, v})
		}
		return s
	case "boolean":
		return span{allowed: "true or false", good: []string{"false", "true"},
			bad: []refused{{`"true"`, `"true"`}, {"0", "0"}, {"null", "null"}, {"[true]", "a list"}}}
	case "one":
		list := strings.Split(strings.TrimPrefix(rest, "of "), ", ")
		s := span{allowed: `"` + strings.Join(list, `", "`) + `"`}
		for i := range list {
			s.good = append(s.good, strconv.Quote(list[len(list)-1-i]))
		}
		first := strconv.Quote(strings.ToUpper(list[0]))
		s.bad = []refused{{first, first}, {`""`, `""`}, {"true", "true"}, {"{}", "an object"}}
		return s
	case "text":
		return span{allowed: "text of at most 256 bytes without control characters",
			good: []string{`"org/model:7b"`, `""`, strconv.Quote(long[:256])},
			bad: []refused{{strconv.Quote(long), strconv.Quote(long[:60] + "…")}, {`"a\u0007"`, `"a\a"`}, {"7", "7"}, {"null", "null"},
				{`["a"]`, "a list"}}}
	}
	s, ok := spans()[kind]
	if !ok {
		t.Fatalf("nobody knows what %q takes", words)
	}
	return s
}

// spans are those of single keys.
func spans() map[string]span {
	path := "a path, absolute or relative to where it stands; ~ is not expanded"
	variable := "letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here"
	noName := "found no name of an environment variable, allowed: " + variable
	address := `an address like "https://host/v1" or "http://localhost:8080/v1"`
	body := "an object of at most 64 KiB, without what the client sets itself"
	headers := "an object of at most 32 headers, each with the name of the environment variable that holds its value"
	items := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	var effort []string
	for i := range 17 {
		effort = append(effort, strconv.Quote("e"+strconv.Itoa(i)))
	}
	var many []string
	for i := range 33 {
		many = append(many, fmt.Sprintf(`"X-%d": "V"`, i))
	}
	return map[string]span{
		"address": {allowed: address,
			good: []string{`"http://localhost:1/v1"`, `"https://host:65535"`, `"HTTP://[::1]:80/v1/"`},
			bad: []refused{{`"ftp://host"`, "found an address that starts with neither http:// nor https://, allowed: " + address},
				{`"https://u:p@host"`, "found a user name or a password in the address, allowed: " + address},
				{`"https://host:65536"`, "found a port that is none of 1 to 65535, allowed: " + address},
				{`"https://host:0"`, "found a port that is none of 1 to 65535, allowed: " + address},
				{`""`, "found nothing, allowed: " + address}, {"80", "80"}, {"null", "null"}}},
		"variable": {allowed: variable,
			good: []string{`"K"`, `"_my_KEY_2"`, strconv.Quote(strings.Repeat("K", 128))},
			bad: []refused{{`"sk-secret"`, noName}, {`""`, noName}, {`"2K"`, noName}, {"5", noName}, {"null", noName},
				{strconv.Quote(strings.Repeat("K", 129)), noName}}},
		"path": {allowed: path, good: []string{`"certs/a.pem"`, `"/a.pem"`},
			bad: []refused{{`""`, `""`}, {`"~/a.pem"`, `"~/a.pem"`}, {`"a\n"`, `"a\n"`}, {"1", "1"}, {"null", "null"}}},
		"paths": {allowed: "a list of at most 64 items: " + path, good: []string{`["a", "/b"]`, "[]", items(64, `"a"`)},
			bad: []refused{{items(65, `"a"`), "found a list, allowed: a list of at most 64 items"},
				{`"a"`, `found "a", allowed: a list of at most 64 items`}, {"{}", "found an object, allowed: a list of at most 64 items"},
				{"[true]", "found true, allowed: " + path}}},
		"words": {allowed: "a list of at most 16 items: reasoning efforts, lowest first",
			good: []string{`["low", "high"]`, "[]", "[" + strings.Join(effort[:16], ",") + "]"},
			bad: []refused{{"[" + strings.Join(effort, ",") + "]", "found a list, allowed: a list of at most 16 items"},
				{`"low"`, `found "low", allowed: a list of at most 16 items`},
				{"[1]", "found 1, allowed: the name of a reasoning effort, each once"}}},
		"body": {allowed: body, good: []string{`{"top_k": 1}`, "{}", `{"a": "` + strings.Repeat("x", 64<<10-8) + `"}`},
			bad: []refused{{`{"a": "` + strings.Repeat("x", 64<<10-7) + `"}`, "found 65537 bytes, allowed: " + body},
				{"[]", "a list"}, {`"{}"`, `"{}"`}, {"null", "null"}}},
		"headers": {allowed: headers, good: []string{`{"X-A": "V"}`, "{}", "{" + strings.Join(many[:32], ",") + "}"},
			bad: []refused{{"{" + strings.Join(many, ",") + "}", "an object"}, {`["X-A"]`, "a list"}, {"true", "true"}}},
		"plugin": {allowed: "an object: enabled, and what the plugin takes",
			good: []string{`{"enabled": false}`, `{"enabled": true, "own": [1]}`, "{}"},
			bad: []refused{{"true", "found true, allowed: an object"}, {"[]", "found a list, allowed: an object"},
				{"null", "found null, allowed: an object"}}},
	}
}

// keyFile writes a configuration that gives a key a value, each name in a line of its
// own; one price needs the others.
func keyFile(key, value string) string {
	names := strings.Split(strings.ReplaceAll(key, "<id>", "m"), ".")
	text := value
	for i := len(names) - 1; i >= 0; i-- {
		more := ""
		if i == 3 && names[2] == "price" {
			for _, other := range []string{"input", "output"} {
				if other != names[3] {
					more += fmt.Sprintf(", %q: 2", other)
				}
			}
		}
		text = fmt.Sprintf("{\n%q: %s%s}", names[i], text, more)
	}
	return text
}

// loadKey reads a file as the global one, or as that of a trusted project over a global
// one that says less.
func loadKey(t *testing.T, text string, project bool) (config.Config, string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	o := config.LoadOptions{Dir: dir, Getenv: func(string) string { return "" }}
	if project {
		o.Project = &config.Project{File: file, Data: []byte(text)}
	} else {
		o.Dirs = config.Dirs{Config: dir}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(o)
	return c, file, err
}

// read is what the program takes from a configuration.
func read(c config.Config) string {
	m := c.Models["m"]
	var price config.Price
	if m.Price != nil {
		price = *m.Price
	}
	m.Price = nil // a pointer's address is another each time
	return fmt.Sprintf("%+v %+v %+v %+v %+v %+v %+v %s %v", c.Provider, m, price, [2]any{c.Limits, c.Compaction}, c.Context, c.Plugin("m"), c.PluginHooks,
		fmt.Sprint(c.Skills, c.SkillOverrides, c.Agents),
		append(c.AdditionalDirectories, string(c.Permissions.Mode)))
}

// eachKey runs a test for every key of the contract that the program has.
func eachKey(t *testing.T, test func(t *testing.T, key string, row []string, s span)) {
	t.Helper()
	c := readContract(t, "keys.txt")
	ran := 0
	for _, key := range c.names {
		if _, later := c.later[key]; later {
			continue
		}
		ran++
		t.Run(key, func(t *testing.T) { test(t, key, c.rows[key], rangeOf(t, c.rows[key][2])) })
	}
	if ran == 0 {
		t.Error("no key was looked at")
	}
}

// Every key reads good values, those at the ends of its range too, and the program
// takes different things from them. They are compared with each other, since what
// stands beside a key in its file changes what is taken too.
func TestEveryKeyReadsItsRange(t *testing.T) {
	eachKey(t, func(t *testing.T, key string, _ []string, s span) {
		readings := make(map[string]bool)
		for _, value := range s.good {
			c, file, err := loadKey(t, keyFile(key, value), false)
			if err != nil {
				t.Errorf("%.60s: %v", value, err)
				continue
			}
			name := strings.ReplaceAll(key, "<id>", "m")
			if !c.Given(name) && value != "{}" {
				t.Errorf("%.60s: the key counts as not given", value)
			}
			if got := c.Origin(name); value != "{}" && !strings.HasPrefix(got, file+":") {
				t.Errorf("%.60s: it comes from %s", value, got)
			}
			readings[read(c)] = true
		}
		if len(readings) < 2 {
			t.Errorf("the program takes the same from each of %.200q", s.good)
		}
	})
}

// Spec config-cli.md, "Files and layers": a wrong type and a value out of range are
// errors that name file, line, key, what was found and what is allowed.
func TestEveryKeyRefusesWhatIsBeyondItsRange(t *testing.T) {
	eachKey(t, func(t *testing.T, key string, _ []string, s span) {
		line := strings.Count(key, ".") + 2
		if strings.HasPrefix(key, "builtinPlugins.") {
			s.allowed = "an object"
		}
		for _, r := range s.bad {
			_, file, err := loadKey(t, keyFile(key, r.value), false)
			says := r.found
			if !strings.HasPrefix(says, "found ") {
				says = "found " + strings.Trim(r.found, " ") + ", allowed: " + s.allowed
			}
			want := fmt.Sprintf("read config %q: line %d: %q: %s", file, line, strings.ReplaceAll(key, "<id>", "m"), says)
			if err == nil || strings.Split(err.Error(), "\n")[0] != want {
				t.Errorf("%.60s:\ngot  %.400v\nwant %s", r.value, err, want)
			}
		}
	})
}

// Spec config-cli.md, "Files and layers": an unknown key is an error that names the
// nearest known one, at every level.
func TestEveryKeyIsNearestToItsSlip(t *testing.T) {
	eachKey(t, func(t *testing.T, key string, _ []string, s span) {
		names := strings.Split(key, ".")
		last := len(names) - 1
		for names[last] == "<id>" {
			last--
		}
		right := strings.Join(names[:last+1], ".")
		for _, slip := range slips(names[last]) {
			wrong := strings.Join(append(append([]string{}, names[:last]...), slip), ".")
			rest := strings.TrimPrefix(key, right)
			_, file, err := loadKey(t, keyFile(wrong+rest, s.good[0]), false)
			id := func(s string) string { return strings.ReplaceAll(s, "<id>", "m") }
			want := fmt.Sprintf("read config %q: line %d: unknown key %q, did you mean %q?", file, last+2, id(wrong), id(right))
			if err == nil || strings.Split(err.Error(), "\n")[0] != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	})
}

// slips are ways to mistype a word: two letters swapped, one left out, one added.
func slips(word string) []string {
	n := len(word)
	for i := n - 1; i > 0; i-- {
		if word[i] != word[i-1] {
			return []string{word[:i-1] + string(word[i]) + string(word[i-1]) + word[i+1:], word[:n-1], word + "s"}
		}
	}
	return nil
}

// Spec config-cli.md, "Files and layers": the project layer is a closed list and can
// only tighten; any other key there is an error that names the global file.
func TestEveryKeyKeepsToItsLayer(t *testing.T) {
	stricter := map[string][2]string{
		"limits.maxTurns": {"99", "101"}, "permissions.mode": {`"ask"`, `"auto"`},
		"limits.timeoutMs": {"599999", "0"}, "limits.firstTokenTimeoutMs": {"100", "120001"}, "limits.idleTimeoutMs": {"120000", "0"},
		"limits.firstTokenRetries": {"0", "2"}, "limits.truncationRecoveries": {"1", "3"},
		"limits.maxContextChars": {"799999", "800001"},
		"limits.maxTokens":       {"1", ""}, "limits.maxCost": {"0.5", ""},
		"limits.maxOutputTokens": {"1", ""}, // any value is stricter than none
	}
	eachKey(t, func(t *testing.T, key string, row []string, s span) {
		value := s.good[0]
		pair, isPair := stricter[key]
		if isPair {
			value = pair[0]
		}
		if row[3] == "below" {
			value = `["a", "../b"]`
			if _, _, err := loadKey(t, keyFile(key, `["a", "/b"]`), true); err == nil || !strings.Contains(err.Error(), `"/b", which is not below the project`) {
				t.Errorf("got %v", err)
			}
		}
		if isPair != (row[3] == "stricter") {
			t.Fatalf("%s: give the test a stricter and a looser value", row[3])
		}
		_, file, err := loadKey(t, keyFile(key, value), true)
		if row[3] == "never" {
			line := strings.Count(key, ".") + 2
			want := fmt.Sprintf("read config %q: line %d: %q: found in a project; only the global configuration may set it",
				file, line, strings.ReplaceAll(key, "<id>", "m"))
			if err == nil || strings.Split(err.Error(), "\n")[0] != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			return
		}
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if !isPair || pair[1] == "" {
			return
		}
		if _, _, err := loadKey(t, keyFile(key, pair[1]), true); err == nil || !strings.Contains(err.Error(), "looser than") {
			t.Errorf("%s: got %v", pair[1], err)
		}
	})
}

// Spec runner.md, "Limits": 10 minutes for a run, none for a conversation, and what is
// set for both.
func TestAConversationHasNoLimitOfTime(t *testing.T) {
	for limits, want := range map[string][2]int{
		`{}`: {600_000, 0}, `{"timeoutMs": 600000}`: {600_000, 600_000}, `{"timeoutMs": 100}`: {100, 100}, `{"timeoutMs": 0}`: {0, 0},
	} {
		c, _, err := loadKey(t, `{"limits": `+limits+`}`, false)
		if got := [2]int{c.Limits.TimeoutMs, unhurried(c).Limits.TimeoutMs}; err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", limits, got, err, want)
		}
	}
	var s settings
	if err := setTimeout(&s, "0"); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.LoadOptions{Getenv: func(string) string { return "" }, Overrides: s.overrides})
	if err != nil || c.Limits.TimeoutMs != 0 || c.Origin("limits.timeoutMs") != "flag --timeout" {
		t.Errorf("--timeout 0: got %d from %s, %v", c.Limits.TimeoutMs, c.Origin("limits.timeoutMs"), err)
	}
	for v, want := range map[string]int{"100ms": 100, "24h": 86_400_000, "1h30m": 5_400_000, "1.5s": 1500, "0s": 0} {
		if err := setTimeout(&s, v); err != nil || s.overrides.Timeout.Milliseconds() != int64(want) {
			t.Errorf("--timeout %s: got %v, %v", v, s.overrides.Timeout, err)
		}
	}
}
