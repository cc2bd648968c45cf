// Package scripttest runs end-to-end tests that are written as small text
// files: a comment with the origin of the case, commands, then the files that
// the case needs (see Archive). Every script has a fresh home and working
// folder and a minimal environment, talks to no network, and fails on anything
// that it did not expect, a background program left over included.
//
// It starts real programs and reads what they print; it knows nothing of the
// program under test. The table of commands in script.go is the manual.
package scripttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Params says which scripts to run, and with what.
type Params struct {
	// Dir holds the scripts, *.txt.
	Dir string
	// Self is the name under which scripts run the test binary itself. TestMain
	// must hand over to the program when IsSelf says so.
	Self string
	// Build maps names of other programs to Go packages; each is built once, on
	// first use.
	Build map[string]string
	// Homes are names of environment variables that are set to fresh empty
	// folders, beside HOME and TMPDIR.
	Homes []string
	// Line checks a line of the jsonl command.
	Line func(line []byte) error
	// Update rewrites the sections that cmp compares with.
	Update bool
	// Timeout bounds a whole script; zero is a minute.
	Timeout time.Duration
}

// IsSelf reports whether this process was started as the program of that name
// (Params.Self) rather than as the test. The name of the file decides, not the
// environment, so that it holds for every process that the program starts
// itself as, whatever environment it gives it.
func IsSelf(name string) bool {
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == name
}

// Run runs every script as a parallel subtest.
func Run(t *testing.T, p Params) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.Dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no scripts in %s", p.Dir)
	}
	bin, err := newBin(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			one(t, file, bin, p)
		})
	}
}

// one runs a script and reports what it did if it failed.
func one(t *testing.T, file string, bin *bin, p Params) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	timeout := p.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	s, err := newScript(filepath.Base(file), data, t.TempDir(), bin, p)
	if err != nil {
		t.Fatal(err)
	}
	err = s.run(ctx)
	err = errors.Join(err, s.close(err != nil))
	switch {
	case s.skipped != "" && err == nil:
		t.Skip(s.skipped)
	case err != nil:
		t.Fatalf("%v\n%s", err, s.log.String())
	case s.updated:
		if err := os.WriteFile(file, s.archive.Format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// bin is the folder of the programs that scripts run by name.
type bin struct {
	dir   string
	build map[string]func() error
}

func newBin(dir string, p Params) (*bin, error) {
	b := &bin{dir: dir, build: make(map[string]func() error)}
	if p.Self != "" {
		if err := linkSelf(b.path(p.Self)); err != nil {
			return nil, err
		}
		b.build[p.Self] = func() error { return nil }
	}
	for name, pkg := range p.Build {
		b.build[name] = sync.OnceValue(func() error {
			out, err := exec.Command("go", "build", "-o", b.path(name), pkg).CombinedOutput()
			if err != nil {
				return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
			}
			return nil
		})
	}
	return b, nil
}

func (b *bin) path(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.dir, name)
}

// find returns the file of a program: one of ours, built if need be, else
// what PATH has.
func (b *bin) find(name string) (string, error) {
	if build, ok := b.build[name]; ok {
		return b.path(name), build()
	}
	return exec.LookPath(name)
}

// linkSelf gives the running binary a second name; a copy where the file
// system has no hard links.
func linkSelf(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if os.Link(self, name) == nil {
		return nil
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}
