package scripttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxOutput bounds what is kept of a program's output, in bytes a stream.
const maxOutput = 64 << 20

// lingering is how long output may stay open after a program has ended: what
// still holds it then is a process that it left behind.
const lingering = 3 * time.Second

// process is a program that was started.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	// ended is closed when the program has ended and its output is complete; err
	// is valid then.
	ended chan struct{}
	err   error
}

// start starts a program, which ctx kills.
func (s *script) start(ctx context.Context, args []string) (*process, error) {
	file, err := s.bin.find(args[0])
	if err != nil {
		return nil, err
	}
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, file, args[1:]...)
	p.cmd.Args[0] = args[0]
	p.cmd.Dir = s.dir
	p.cmd.Env = s.environ()
	if s.stdin != nil {
		p.cmd.Stdin = bytes.NewReader(s.stdin)
		s.stdin = nil
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.WaitDelay = lingering
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// finish waits for a program, makes its output the last one, and judges its
// exit code.
func (s *script) finish(ctx context.Context, p *process, want bool) error {
	<-p.ended // ctx kills it
	s.stdout, s.stderr, s.ran = p.stdout.bytes(), p.stderr.bytes(), true
	s.code = p.cmd.ProcessState.ExitCode()
	s.note("stdout", s.stdout)
	s.note("stderr", s.stderr)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return errors.New("the script has run out of time; the program was killed")
	case errors.Is(p.err, exec.ErrWaitDelay):
		return fmt.Errorf("the program ended and left a process behind that held its output open for %v", lingering)
	case p.err != nil && !errors.As(p.err, &exit):
		return p.err
	case want && s.code != 0:
		return fmt.Errorf("exit code %d", s.code)
	case !want && s.code == 0:
		return errors.New("exit code 0; another one was expected")
	}
	return nil
}

// note logs output for the report of a failure.
func (s *script) note(stream string, data []byte) {
	const most = 16 << 10
	if len(data) == 0 {
		return
	}
	cut := ""
	if len(data) > most {
		data, cut = data[:most], fmt.Sprintf("\n(%d bytes more)", len(data)-most)
	}
	fmt.Fprintf(&s.log, "[%s]\n%s%s\n", stream, bytes.TrimRight(data, "\n"), cut)
}

// cmdExec runs a program to its end, or starts it for a later wait.
func (s *script) cmdExec(ctx context.Context, want bool, args []string) error {
	name, inBackground := strings.CutPrefix(args[len(args)-1], "&")
	if inBackground {
		args = args[:len(args)-1]
	}
	if len(args) == 0 {
		return errors.New("no program before &")
	}
	if inBackground && (name == "" || s.background[name] != nil) {
		return fmt.Errorf("&%s: give each background program a name of its own", name)
	}
	p, err := s.start(ctx, args)
	if err != nil {
		return err
	}
	if inBackground {
		s.background[name] = p
		return nil
	}
	return s.finish(ctx, p, want)
}

func (s *script) cmdSh(ctx context.Context, want bool, args []string) error {
	return s.cmdExec(ctx, want, append([]string{"/bin/sh", "-c"}, args...))
}

func (s *script) cmdWait(ctx context.Context, want bool, args []string) error {
	p := s.background[args[0]]
	if p == nil {
		return fmt.Errorf("no background program %q", args[0])
	}
	delete(s.background, args[0])
	return s.finish(ctx, p, want)
}

func (s *script) cmdExit(_ context.Context, _ bool, args []string) error {
	n, err := strconv.Atoi(args[0])
	switch {
	case err != nil:
		return err
	case !s.ran:
		return errors.New("no program has run")
	case s.code != n:
		return fmt.Errorf("exit code %d, want %d", s.code, n)
	}
	return nil
}

func (s *script) cmdSignal(_ context.Context, _ bool, args []string) error {
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
	}
	sig, ok := signals[args[0]]
	if !ok {
		return fmt.Errorf("unknown signal %q", args[0])
	}
	p := s.background[args[1]]
	if p == nil {
		return fmt.Errorf("no background program %q", args[1])
	}
	return p.cmd.Process.Signal(sig)
}

// cmdAwait takes the place of sleeping: it goes on as soon as the program has
// said what it says in that state.
func (s *script) cmdAwait(ctx context.Context, _ bool, args []string) error {
	p := s.background[args[1]]
	if p == nil {
		return fmt.Errorf("no background program %q", args[1])
	}
	o := &p.stdout
	switch args[0] {
	case "stderr":
		o = &p.stderr
	case "stdout":
	default:
		return fmt.Errorf("await stdout or stderr, not %s", args[0])
	}
	re, err := regexp.Compile("(?m)" + args[2])
	if err != nil {
		return err
	}
	return o.await(ctx, p.ended, re.Match)
}

// output collects what a program prints and tells those who wait for more.
type output struct {
	mu   sync.Mutex
	data []byte
	more chan struct{} // closed at the next write; nil while nobody waits
}

// Write never fails and never keeps more than maxOutput: a program that prints
// without end is stopped by the script's time, not by a broken pipe.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data = append(o.data, b[:min(len(b), maxOutput-len(o.data))]...)
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return len(b), nil
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.data)
}

// look returns whether the output so far is good, and what is closed when
// there is more.
func (o *output) look(good func([]byte) bool) (bool, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return good(o.data), o.more
}

// await waits until the output is good. It is an error if the program ends
// before, or ctx.
func (o *output) await(ctx context.Context, ended <-chan struct{}, good func([]byte) bool) error {
	for {
		ok, more := o.look(good)
		if ok {
			return nil
		}
		select {
		case <-more:
		case <-ended:
			if ok, _ := o.look(good); ok {
				return nil
			}
			return fmt.Errorf("the program ended before; it printed:\n%s", o.bytes())
		case <-ctx.Done():
			return fmt.Errorf("waited until the script's end; so far:\n%s", o.bytes())
		}
	}
}

// close ends what still runs. In a script that has not failed already it
// complains about it.
func (s *script) close(failed bool) error {
	var errs []error
	for name, p := range s.background {
		p.cmd.Process.Kill() // An error says that it has ended.
		<-p.ended
		s.note("stdout of "+name, p.stdout.bytes())
		s.note("stderr of "+name, p.stderr.bytes())
		if !failed {
			errs = append(errs, fmt.Errorf("%s: nobody waited for the background program %s", s.name, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		if err := s.servers[name].stop(); err != nil {
			errs = append(errs, fmt.Errorf("%s: fakellm %s: %w", s.name, name, err))
		}
	}
	return errors.Join(errs...)
}
