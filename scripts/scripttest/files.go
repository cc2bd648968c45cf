package scripttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

func (s *script) cmdEnv(_ context.Context, _ bool, args []string) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is not NAME=VALUE", a)
		}
		s.env[name] = value
	}
	return nil
}

// cmdUnset refuses names that are not set, which are mostly misspelled.
func (s *script) cmdUnset(_ context.Context, _ bool, args []string) error {
	for _, name := range args {
		if _, ok := s.env[name]; !ok {
			return fmt.Errorf("%s is not set", name)
		}
		delete(s.env, name)
	}
	return nil
}

func (s *script) cmdCd(_ context.Context, _ bool, args []string) error {
	dir := s.path(args[0])
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", args[0])
	}
	s.dir = dir
	return nil
}

func (s *script) cmdStdin(_ context.Context, _ bool, args []string) error {
	data, err := s.read(args[0])
	if err != nil {
		return err
	}
	s.stdin = append([]byte{}, data...) // not nil: an empty file is a pipe too
	return nil
}

func (s *script) cmdSkip(_ context.Context, _ bool, args []string) error {
	s.skipped = args[0]
	return nil
}

func (s *script) cmdMkdir(_ context.Context, _ bool, args []string) error {
	return s.each(args, func(name string) error { return os.MkdirAll(name, 0o755) })
}

func (s *script) cmdRm(_ context.Context, _ bool, args []string) error {
	return s.each(args, os.RemoveAll)
}

func (s *script) cmdMkfifo(_ context.Context, _ bool, args []string) error {
	return s.each(args, mkfifo)
}

func (s *script) cmdChmod(_ context.Context, _ bool, args []string) error {
	m, err := mode(args[0])
	if err != nil {
		return err
	}
	return s.each(args[1:], func(name string) error { return os.Chmod(name, m) })
}

// each does the same to files named relative to the working folder, until one
// fails.
func (s *script) each(names []string, do func(string) error) error {
	for _, name := range names {
		if err := do(s.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) cmdCp(_ context.Context, _ bool, args []string) error {
	data, err := s.read(args[0])
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(args[1]), data, 0o644)
}

func (s *script) cmdSymlink(_ context.Context, _ bool, args []string) error {
	if args[1] != "->" {
		return errors.New("usage: symlink NAME -> TARGET")
	}
	return os.Symlink(args[2], s.path(args[0]))
}

// cmdExpand is for files that programs read themselves, such as a configuration
// that holds a server's address.
func (s *script) cmdExpand(_ context.Context, _ bool, args []string) error {
	return s.each(args, func(name string) error {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text, err := s.expand(string(data), false)
		if err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o644)
	})
}
