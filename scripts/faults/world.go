package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// patience is how long any one process may take: what takes longer hangs.
const patience = 90 * time.Second

// build builds the program and returns its path.
func build(ctx context.Context, dir string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "alisio")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin, ".")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build alisio: %w\n%s", err, out)
	}
	return bin, nil
}

// repository is the directory above that holds go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("find the repository: no go.mod here or above")
		}
		dir = up
	}
}

// world is a user: a home, a workspace, a program and a model to ask.
type world struct {
	binary string
	dir    string
	model  *model
	// state is the state home; it may lie on a file system of its own.
	state string
}

func newWorld(binary, dir string, m *model) (*world, error) {
	w := &world{binary: binary, dir: dir, model: m, state: filepath.Join(dir, "state")}
	for _, d := range []string{w.work(), w.config(), filepath.Join(dir, "home")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) work() string     { return filepath.Join(w.dir, "work") }
func (w *world) config() string   { return filepath.Join(w.dir, "config") }
func (w *world) database() string { return filepath.Join(w.state, "sessions.sqlite") }

// command is the program with arguments in this world.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Dir = w.work()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"),
		"ALISIO_CONFIG_HOME=" + w.config(), "ALISIO_STATE_HOME=" + w.state,
		"ALISIO_CACHE_HOME=" + filepath.Join(w.dir, "cache"),
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// task is the command line that works on a prompt.
func (w *world) task(prompt string, flags ...string) []string {
	args := append([]string{"run", "-m", "m", "--base-url", w.model.url, "--allow-write", "--allow-process"}, flags...)
	return append(args, prompt)
}

// resume is the command line that gives a session one more prompt.
func (w *world) resume(session, prompt string) []string {
	return append([]string{"resume"}, append(w.task(prompt)[1:len(w.task(prompt))-1], session, prompt)...)
}

// ended is what a process left.
type ended struct {
	args           []string
	code           int
	killed         bool
	stdout, stderr string
}

func (e ended) String() string {
	how := fmt.Sprintf("exit %d", e.code)
	if e.killed {
		how = "killed"
	}
	return fmt.Sprintf("alisio %q: %s\nstdout: %s\nstderr: %s", e.args, how, short(e.stdout), short(e.stderr))
}

func short(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

// process is a program that runs.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	stop           context.CancelFunc
	// done is closed when the process has ended; end is valid then.
	done chan struct{}
	end  ended
	err  error
}

// start starts the program; wait must be called.
func (w *world) start(ctx context.Context, args ...string) (*process, error) {
	return w.startWith(ctx, nil, args...)
}

// startWith starts the program with more in its environment.
func (w *world) startWith(ctx context.Context, env []string, args ...string) (*process, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	p := &process{cmd: w.command(ctx, args...), stop: stop, done: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(p.done)
		defer stop()
		err := p.cmd.Wait()
		if ctx.Err() != nil {
			p.err = fmt.Errorf("alisio %q did not end: %w", args, ctx.Err())
		}
		s := p.cmd.ProcessState
		if s == nil {
			p.err = err
			return
		}
		p.end = ended{args: args, code: s.ExitCode(), killed: !s.Exited(), stdout: p.stdout.String(), stderr: p.stderr.String()}
	}()
	return p, nil
}

// wait returns what the process left.
func (p *process) wait() (ended, error) {
	<-p.done
	return p.end, p.err
}

// kill ends a process at once; it may have ended.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// run runs the program to its end.
func (w *world) run(ctx context.Context, args ...string) (ended, error) {
	p, err := w.start(ctx, args...)
	if err != nil {
		return ended{}, err
	}
	return p.wait()
}

// must runs the program; any exit code but 0 is an error.
func (w *world) must(ctx context.Context, args ...string) (ended, error) {
	e, err := w.run(ctx, args...)
	if err == nil && e.code != 0 {
		err = errors.New(e.String())
	}
	return e, err
}
