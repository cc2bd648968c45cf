package drive

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"alisio/tui/tuitest"
)

// Script is a key script: what a person does at a terminal and then sees, line by line.
//
//	# a comment
//	size 20x6 80x24         the script runs once for each; goldens then carry the size
//	terminal poor           the kind of terminal: modern (the default), poor, legacy
//	type hello world        \n, \t, \e, \\ and \u{1F600} stand for characters
//	key ctrl+a shift+enter  keys by their names
//	paste a few words
//	paste <<END             lines up to END
//	send \e[200~            bytes as they are
//	resize 40x10
//	focus out               or in
//	light                   or dark: the ground changes
//	click 3,4               column and row from 0; also drag 0,1 5,1 and wheel 3 or -3
//	hold                    answers are kept back until: release, or release 3 bytes
//	wait some text          until it is shown
//	gone some text          until it is not
//	cursor 2,5              until the cursor stands there, row before column
//	title some text         until that is the title
//	golden NAME             the dump of the screen is testdata/NAME.golden
//	pristine                the terminal is as it was found
type Script struct {
	Name  string
	Sizes []Size
	Kind  string
	Steps []Step
}

// Size is a size in cells.
type Size struct{ Columns, Rows int }

func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Columns, s.Rows) }

// Step is one line of a script.
type Step struct {
	Line int
	Verb string
	Args []string // words, or the one argument of verbs that take text, unescaped
}

// The verbs whose argument is text, and how many words the others take at least and at most.
var (
	textVerbs = []string{"type", "paste", "send", "wait", "gone", "title"}
	wordVerbs = map[string][2]int{
		"size": {1, 9}, "terminal": {1, 1}, "key": {1, 99}, "resize": {1, 1}, "focus": {1, 1}, "light": {0, 0}, "dark": {0, 0},
		"click": {1, 1}, "drag": {2, 2}, "wheel": {1, 1}, "hold": {0, 0}, "release": {0, 1}, "cursor": {1, 1}, "golden": {1, 1},
		"pristine": {0, 0},
	}
)

// Options is the kind of terminal that the script names.
func (s *Script) Options() tuitest.Options {
	switch s.Kind {
	case "poor":
		return tuitest.Options{}
	case "legacy": // of today, without clusters and the kitty protocol
		return tuitest.Options{Name: "legacy", OtherKeys: true, Colors: true}
	}
	return tuitest.Modern()
}

// ParseScript reads a script. Mistakes are told with name and line.
func ParseScript(name string, data []byte) (*Script, error) {
	s := &Script{Name: name}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line, number := strings.TrimSpace(lines[i]), i+1
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		step := Step{Line: number, Verb: verb, Args: strings.Fields(rest)}
		if end, ok := strings.CutPrefix(rest, "<<"); ok && verb == "paste" {
			n := slices.Index(lines[i+1:], end)
			if n < 0 {
				return nil, fmt.Errorf("%s:%d: no line %q ends the text", name, number, end)
			}
			step.Args = []string{strings.Join(lines[i+1:i+1+n], "\n")}
			i += n + 1
		} else if err := step.check(rest); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if err := s.add(step); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	if len(s.Sizes) == 0 {
		s.Sizes = []Size{{80, 24}}
	}
	return s, nil
}

// add takes a step, or what it says of the whole script.
func (s *Script) add(step Step) error {
	switch step.Verb {
	case "size":
		for _, arg := range step.Args {
			size, err := parsePair(arg, "x")
			if err != nil {
				return err
			}
			s.Sizes = append(s.Sizes, size)
		}
	case "terminal":
		if s.Kind = step.Args[0]; !slices.Contains([]string{"modern", "poor", "legacy"}, s.Kind) {
			return fmt.Errorf("terminal %s: modern, poor or legacy", s.Kind)
		}
	default:
		s.Steps = append(s.Steps, step)
	}
	return nil
}

// check looks over the arguments, and unescapes text.
func (s *Step) check(rest string) error {
	if slices.Contains(textVerbs, s.Verb) {
		text, err := unescape(rest)
		if err == nil && text == "" && s.Verb != "title" {
			err = fmt.Errorf("%s: no text", s.Verb)
		}
		s.Args = []string{text}
		return err
	}
	most, ok := wordVerbs[s.Verb]
	if !ok {
		return fmt.Errorf("unknown verb %q", s.Verb)
	}
	if n := len(s.Args); n < most[0] || n > most[1] {
		return fmt.Errorf("%s: %d arguments, want %d to %d", s.Verb, n, most[0], most[1])
	}
	for _, arg := range s.Args {
		var err error
		switch s.Verb {
		case "resize":
			_, err = parsePair(arg, "x")
		case "click", "drag", "cursor":
			_, err = parsePair(arg, ",")
		case "wheel", "release":
			_, err = strconv.Atoi(arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parsePair reads two numbers: a size, or a place, whose first is then in Columns.
func parsePair(s, between string) (Size, error) {
	a, b, _ := strings.Cut(s, between)
	x, err := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	if err != nil || err2 != nil || x < 0 || y < 0 || x > 10_000 || y > 10_000 {
		return Size{}, fmt.Errorf("%q is not two numbers with %q between", s, between)
	}
	return Size{x, y}, nil
}

// unescape reads \n, \r, \t, \e, \\ and \u{…}.
func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", fmt.Errorf("a backslash at the end")
		}
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'e':
			b.WriteByte(0x1B)
		case '\\':
			b.WriteByte('\\')
		case 'u':
			digits, _, ok := strings.Cut(s[i+1:], "}")
			r, err := strconv.ParseUint(strings.TrimPrefix(digits, "{"), 16, 21)
			if !ok || err != nil || digits[0] != '{' {
				return "", fmt.Errorf("%q is no \\u{…}", s[i-1:])
			}
			b.WriteRune(rune(r))
			i += len(digits) + 1
		default:
			return "", fmt.Errorf("unknown escape \\%c", s[i])
		}
	}
	return b.String(), nil
}

// Scripts runs every script that a pattern matches, as "testdata/keys/*.txt", at each of
// its sizes, in a subtest. Start makes the program under test and its terminal.
func Scripts(t *testing.T, pattern string, start func(t *testing.T, s *Script, size Size) Driver) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts %s: %v", pattern, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseScript(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), data)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, size := range s.Sizes {
			t.Run(s.Name+"/"+size.String(), func(t *testing.T) { s.Run(t, size, start(t, s, size)) })
		}
	}
}

// settling is how long a screen may take to become the one that a script expects.
const settling = 2 * time.Second

// Run runs the steps.
func (s *Script) Run(tb testing.TB, size Size, d Driver) {
	tb.Helper()
	for _, step := range s.Steps {
		if err := s.step(tb, size, d, step); err != nil {
			tb.Fatalf("%s:%d: %s: %v", s.Name, step.Line, step.Verb, err)
		}
	}
}

func (s *Script) step(tb testing.TB, size Size, d Driver, step Step) error {
	tb.Helper()
	arg := strings.Join(step.Args, " ")
	where := fmt.Sprintf("%s:%d: %s %s", s.Name, step.Line, step.Verb, arg)
	switch step.Verb {
	case "type":
		d.Type(arg)
	case "key":
		return d.Press(step.Args...)
	case "paste":
		d.Paste(arg)
	case "send":
		d.Send(arg)
	case "resize":
		to, _ := parsePair(arg, "x") // was checked
		d.Resize(to.Columns, to.Rows)
	case "wait":
		d.Await(tb, where, func(s *tuitest.Screen) bool { return s.Contains(arg) })
	case "gone":
		d.Await(tb, where, func(s *tuitest.Screen) bool { return !s.Contains(arg) })
	case "title":
		d.Await(tb, where, func(s *tuitest.Screen) bool { return s.Title == arg })
	case "cursor":
		place, _ := parsePair(arg, ",")
		d.Await(tb, where, func(s *tuitest.Screen) bool {
			return s.Cursor.Row == place.Columns && s.Cursor.Column == place.Rows
		})
	case "golden":
		if _, ok := d.(*Tmux); ok {
			return nil // its screens have less to tell: see Reduced
		}
		name := arg
		if len(s.Sizes) > 1 {
			name += "-" + size.String()
		}
		// Through a pseudo-terminal a frame may come in pieces.
		want, ok := tuitest.Expected(name)
		for end := time.Now().Add(settling); ok && d.Screen().Dump() != want && time.Now().Before(end); {
		}
		tuitest.Golden(tb, name, d.Screen().Dump())
	default:
		v := virtual(d)
		if v == nil {
			tb.Skipf("%s: only the virtual terminal can do this", where)
		}
		return virtualStep(v, step)
	}
	return nil
}

// virtual is the virtual terminal of a driver that has one.
func virtual(d Driver) *tuitest.Terminal {
	switch d := d.(type) {
	case *Memory:
		return d.Terminal
	case *Pty:
		return d.Terminal
	case *tuitest.Terminal:
		return d
	}
	return nil
}

// virtualStep is a step that a real terminal can not be made to do.
func virtualStep(v *tuitest.Terminal, step Step) error {
	var places []Size
	for _, arg := range step.Args {
		if place, err := parsePair(arg, ","); err == nil {
			places = append(places, place)
		}
	}
	switch step.Verb {
	case "focus":
		v.Focus(step.Args[0] == "in")
	case "light", "dark":
		v.SetLight(step.Verb == "light")
	case "click":
		v.Click(places[0].Columns, places[0].Rows)
	case "drag":
		v.Drag(places[0].Columns, places[0].Rows, places[1].Columns, places[1].Rows)
	case "wheel":
		n, _ := strconv.Atoi(step.Args[0]) // was checked
		v.Wheel(n, 0, 0)
	case "hold":
		v.Hold()
	case "release":
		n := -1
		if len(step.Args) > 0 {
			n, _ = strconv.Atoi(step.Args[0])
		}
		v.Release(n)
	case "pristine":
		if left := v.Pristine(); len(left) > 0 {
			return fmt.Errorf("left changed: %s", strings.Join(left, "; "))
		}
	}
	return nil
}
