package scripttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (s *script) cmdStdout(ctx context.Context, want bool, args []string) error {
	return s.cmdGrep(ctx, want, append(args, "stdout"))
}

func (s *script) cmdStderr(ctx context.Context, want bool, args []string) error {
	return s.cmdGrep(ctx, want, append(args, "stderr"))
}

// cmdGrep searches a file; ^ and $ are borders of lines.
func (s *script) cmdGrep(_ context.Context, want bool, args []string) error {
	count := -1
	if text, ok := strings.CutPrefix(args[0], "-count="); ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		count, args = n, args[1:]
	}
	if len(args) != 2 || count >= 0 && !want {
		return errors.New("usage: [-count=N] PATTERN, and a count can not be negated")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	data, err := s.read(args[1])
	if err != nil {
		return err
	}
	got := len(re.FindAllIndex(data, -1))
	switch {
	case count >= 0 && got != count:
		return fmt.Errorf("%d matches in %s, want %d", got, args[1], count)
	case count < 0 && want && got == 0:
		return fmt.Errorf("no match in %s", args[1])
	case !want && got > 0:
		return fmt.Errorf("%s holds %q", args[1], re.Find(data))
	}
	return nil
}

// cmdCapture is how a later command names what an earlier one made up, a
// session's id for instance.
func (s *script) cmdCapture(_ context.Context, _ bool, args []string) error {
	re, err := regexp.Compile("(?m)" + args[1])
	if err != nil {
		return err
	}
	if re.NumSubexp() != 1 {
		return errors.New("the pattern needs exactly one group")
	}
	data, err := s.read(args[2])
	if err != nil {
		return err
	}
	m := re.FindSubmatch(data)
	if m == nil {
		return fmt.Errorf("no match in %s", args[2])
	}
	s.env[args[0]] = string(m[1])
	return nil
}

// cmdCmp compares whole files. With Params.Update a difference changes the
// script instead of failing it, if the second file is one of its sections.
func (s *script) cmdCmp(_ context.Context, want bool, args []string) error {
	got, err := s.read(args[0])
	if err != nil {
		return err
	}
	got = s.portable(got)
	expected, err := s.read(args[1])
	if err != nil && !(s.params.Update && errors.Is(err, os.ErrNotExist)) {
		return err
	}
	equal := bytes.Equal(got, expected)
	section := s.archive.Section(args[1])
	switch {
	case !want && equal:
		return fmt.Errorf("%s and %s are equal", args[0], args[1])
	case equal || !want:
		return nil
	case s.params.Update && section != nil:
		section.Data, s.updated = got, true
		return nil
	}
	return fmt.Errorf("%s and %s differ:\n%s", args[0], args[1], firstDifference(got, expected))
}

// portable puts $NAME in the place of values that differ from run to run:
// folders and addresses. The longest value goes first, since some folders lie
// in others.
func (s *script) portable(data []byte) []byte {
	names := slices.Sorted(maps.Keys(s.env))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(s.env[b]), len(s.env[a])) })
	for _, name := range names {
		v := s.env[name]
		if name != "PATH" && (strings.HasPrefix(v, s.root) || strings.HasPrefix(name, "BASE_URL")) {
			data = bytes.ReplaceAll(data, []byte(v), []byte("$"+name))
		}
	}
	return data
}

// firstDifference shows one line of each, quoted, since the difference is often
// in what can not be seen.
func firstDifference(got, want []byte) string {
	g, w := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	at := func(lines []string) string {
		if i >= len(lines) {
			return "(end)"
		}
		return strconv.Quote(lines[i])
	}
	return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, at(g), at(w))
}

// cmdJSONL takes an empty file and an unfinished last line for defects: both
// pass for good in a loop over lines.
func (s *script) cmdJSONL(_ context.Context, _ bool, args []string) error {
	data, err := s.read(args[0])
	switch {
	case err != nil:
		return err
	case len(data) == 0:
		return fmt.Errorf("%s is empty", args[0])
	case data[len(data)-1] != '\n':
		return fmt.Errorf("the last line of %s has no end", args[0])
	case s.params.Line == nil:
		return errors.New("Params.Line is not set")
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if err := s.params.Line(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return fmt.Errorf("%s:%d: %w\n%s", args[0], number, err, line)
		}
	}
	return nil
}

// cmdExists does not follow links: one that leads nowhere exists. Negated, a
// name that can not be looked up for another reason is an error, not a pass.
func (s *script) cmdExists(_ context.Context, want bool, args []string) error {
	for _, name := range args {
		_, err := os.Lstat(s.path(name))
		switch {
		case want && err != nil:
			return err
		case !want && err == nil:
			return fmt.Errorf("%s exists", name)
		case !want && !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	return nil
}

func (s *script) cmdMode(_ context.Context, _ bool, args []string) error {
	want, err := mode(args[0])
	if err != nil {
		return err
	}
	for _, name := range args[1:] {
		info, err := os.Stat(s.path(name))
		if err != nil {
			return err
		}
		if got := info.Mode().Perm(); got != want {
			return fmt.Errorf("%s has mode %#o, want %#o", name, got, want)
		}
	}
	return nil
}

// mode reads nine permission bits in octal.
func mode(text string) (os.FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 9)
	return os.FileMode(n), err
}
