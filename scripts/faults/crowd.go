package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// crowds lets many programs do at once what they share: n runs on one fresh
// database, and then the races, each rounds times.
func crowds(ctx context.Context, binary, dir string, n, rounds int, hold time.Duration, out io.Writer) error {
	m, err := newModel(0)
	if err != nil {
		return err
	}
	w, err := newWorld(binary, dir, m)
	if err != nil {
		return err
	}
	c := &crowd{world: w, out: out}
	steps := []struct {
		name  string
		times int
		do    func(context.Context, int) error
	}{
		{fmt.Sprintf("%d runs at once on a fresh database", n), 1, func(ctx context.Context, _ int) error { return c.rush(ctx, n) }},
		{"two runs of one request at once", rounds, c.twins},
		{"two resumes of one session at once", rounds, c.rivals},
		{"a session whose owner was killed", rounds, c.heir},
		{fmt.Sprintf("a database that another program holds for %v", hold), 1, func(ctx context.Context, _ int) error { return c.held(ctx, hold) }},
		{"sessions that are looked at while 20 runs write", max(1, rounds/4), c.lookers},
		{"20 runs while the configuration is read", 1, c.readers},
	}
	for _, s := range steps {
		start := time.Now()
		for i := range s.times {
			if err := s.do(ctx, i); err != nil {
				return errors.Join(fmt.Errorf("%s, round %d: %w", s.name, i, err), m.close())
			}
		}
		fmt.Fprintf(out, "%-50s %4d times  %8v\n", s.name, s.times, time.Since(start).Round(time.Millisecond))
	}
	return errors.Join(w.doctor(ctx), m.close())
}

type crowd struct {
	*world
	out io.Writer
}

// all runs command lines at once and returns what became of each.
func (c *crowd) all(ctx context.Context, lines [][]string) ([]ended, error) {
	out := make([]ended, len(lines))
	errs := make([]error, len(lines))
	var wg sync.WaitGroup
	for i, args := range lines {
		wg.Go(func() { out[i], errs[i] = c.run(ctx, args...) })
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// rush starts n runs at once. They also make and migrate the database at once.
func (c *crowd) rush(ctx context.Context, n int) error {
	lines := make([][]string, n)
	for i := range lines {
		lines[i] = c.task(prompt(fmt.Sprintf("c%d", i), "one"))
	}
	start := time.Now()
	ends, err := c.all(ctx, lines)
	if err != nil {
		return err
	}
	took := time.Since(start)
	for _, e := range ends {
		if err := calm(e); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "%d processes ended in %v\n", n, took.Round(time.Millisecond))
	list, err := c.list(ctx)
	if err != nil {
		return err
	}
	if len(list) != n {
		return fmt.Errorf("%d sessions are listed", len(list))
	}
	for _, h := range list {
		if err := c.complete(ctx, h); err != nil {
			return fmt.Errorf("session %s, %s: %w", h.ID, h.Title, err)
		}
	}
	return c.doctor(ctx)
}

// calm checks that a run ended well and that no lock error reached the person.
func calm(e ended) error {
	text := strings.ToLower(e.stderr)
	if e.code != 0 || e.killed || strings.Contains(text, "locked") || strings.Contains(text, "busy") {
		return errors.New(e.String())
	}
	return nil
}

// complete checks that a run with one call left all its messages and events.
func (c *crowd) complete(ctx context.Context, h head) error {
	s, err := c.show(ctx, h.ID)
	if err != nil {
		return err
	}
	if err := errors.Join(s.pairs(false), s.numbered()); err != nil {
		return err
	}
	var roles, types []string
	for _, m := range s.messages {
		roles = append(roles, m.Role)
	}
	for _, e := range s.events {
		types = append(types, e.Type)
	}
	wantRoles := []string{"user", "assistant", "tool", "assistant"}
	wantTypes := []string{"run_started", "turn_completed", "tool_started", "approval_resolved", "tool_completed", "turn_completed", "run_completed"}
	if !slices.Equal(roles, wantRoles) || !slices.Equal(types, wantTypes) {
		return fmt.Errorf("it holds the messages %q and the events %q", roles, types)
	}
	return nil
}

// twins gives one request twice at the same moment: it is asked for once, and
// both print the answer.
func (c *crowd) twins(ctx context.Context, i int) error {
	token := fmt.Sprintf("twin%d", i)
	line := c.task(prompt(token, "say"), "--request-id", token)
	ends, err := c.all(ctx, [][]string{line, line})
	if err != nil {
		return err
	}
	if ends[0].code != 0 || ends[1].code != 0 || ends[0].stdout != ends[1].stdout || !strings.Contains(ends[0].stdout, finished(token)) {
		return fmt.Errorf("%v\n%v", ends[0], ends[1])
	}
	if n := c.model.asked(token); n != 1 {
		return fmt.Errorf("the server was asked %d times", n)
	}
	return nil
}

// begun makes a session and returns its id.
func (c *crowd) begun(ctx context.Context, token string) (string, error) {
	say := prompt(token, "say")
	if _, err := c.must(ctx, c.task(say)...); err != nil {
		return "", err
	}
	h, ok, err := c.find(ctx, say)
	if err == nil && !ok {
		err = fmt.Errorf("no session of %q is listed", say)
	}
	return h.ID, err
}

// rivals resumes one session twice at the same moment. One runs; the other is
// refused with the pid of the first while that still waits for the model (C115).
func (c *crowd) rivals(ctx context.Context, i int) error {
	id, err := c.begun(ctx, fmt.Sprintf("rival%d", i))
	if err != nil {
		return err
	}
	var ps [2]*process
	tokens := [2]string{fmt.Sprintf("rival%da", i), fmt.Sprintf("rival%db", i)}
	for k, token := range tokens {
		if ps[k], err = c.start(ctx, c.resume(id, prompt(token, "slow"))...); err != nil {
			return err
		}
	}
	loser := 0
	select {
	case <-ps[0].done:
	case <-ps[1].done:
		loser = 1
	}
	winner := 1 - loser
	c.model.release(tokens[winner])
	lost, errLost := ps[loser].wait()
	won, errWon := ps[winner].wait()
	pid := fmt.Sprint(ps[winner].cmd.Process.Pid)
	switch {
	case errors.Join(errLost, errWon) != nil:
		return errors.Join(errLost, errWon)
	case lost.code != 1 || !strings.Contains(lost.stderr, pid):
		return fmt.Errorf("want a refusal that names %s: %v", pid, lost)
	case won.code != 0 || c.model.asked(tokens[loser]) != 0:
		return fmt.Errorf("%v\nand the refused one asked %d times", won, c.model.asked(tokens[loser]))
	}
	s, err := c.show(ctx, id)
	if err != nil {
		return err
	}
	if len(s.messages) != 4 || s.messages[2].Text != prompt(tokens[winner], "slow") || s.messages[3].Text != finished(tokens[winner]) {
		return fmt.Errorf("the session holds %+v", s.messages)
	}
	return nil
}

// heir kills the owner of a session in the middle of a run: the session is free
// at once (C116).
func (c *crowd) heir(ctx context.Context, i int) error {
	id, err := c.begun(ctx, fmt.Sprintf("heir%d", i))
	if err != nil {
		return err
	}
	token := fmt.Sprintf("heir%da", i)
	p, err := c.start(ctx, c.resume(id, prompt(token, "slow"))...)
	if err != nil {
		return err
	}
	select {
	case <-c.model.reached(token):
		p.kill()
	case <-p.done:
	}
	if e, err := p.wait(); err != nil || !e.killed {
		return fmt.Errorf("the owner ended by itself (%v): %v", err, e)
	}
	next := fmt.Sprintf("heir%db", i)
	e, err := c.must(ctx, c.resume(id, prompt(next, "say"))...)
	if err == nil && !strings.Contains(e.stdout, finished(next)) {
		err = errors.New(e.String())
	}
	return err
}

// errNoPython tells that a check needs a program that is not there.
var errNoPython = errors.New("python3 with its module sqlite3 is not there")

// holder is another program: it holds the database's write lock from its line
// "held" until its input ends.
const holder = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
c.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
c.execute("ROLLBACK")
`

// python runs a program on the database with its arguments.
func (c *world) python(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	if exec.CommandContext(ctx, "python3", "-c", "import sqlite3").Run() != nil {
		return nil, errNoPython
	}
	return exec.CommandContext(ctx, "python3", append([]string{"-c", program, c.database()}, args...)...), nil
}

// held lets another program hold the write lock in the middle of a run: the run
// waits and ends well (C109).
func (c *crowd) held(ctx context.Context, hold time.Duration) error {
	cmd, err := c.python(ctx, holder)
	if errors.Is(err, errNoPython) {
		fmt.Fprintln(c.out, "left out: a held database:", err)
		return nil
	}
	const token = "held1"
	p, err := c.start(ctx, c.task(prompt(token, "slow"))...)
	if err != nil {
		return err
	}
	select {
	case <-c.model.reached(token):
	case <-p.done:
		e, err := p.wait()
		return fmt.Errorf("the run ended before its request (%v): %v", err, e)
	}
	free, err := takeLock(cmd)
	if err != nil {
		return err
	}
	c.model.release(token)
	timer := time.NewTimer(hold)
	defer timer.Stop()
	early := false
	select {
	case <-timer.C:
	case <-p.done:
		early = true
	}
	if err := free(); err != nil {
		return err
	}
	e, err := p.wait()
	switch {
	case err != nil:
		return err
	case early:
		return fmt.Errorf("the run ended while another program held the database: %v", e)
	}
	return calm(e)
}

// takeLock starts the holder and returns, when it holds, what ends it.
func takeLock(cmd *exec.Cmd) (free func() error, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		in.Close()
		return nil, fmt.Errorf("hold the database: %w, %s", errors.Join(err, cmd.Wait()), stderr.String())
	}
	return func() error { return errors.Join(in.Close(), cmd.Wait()) }, nil
}

// lookers lists, shows and checks sessions without a pause while 20 runs write:
// nobody finds anything locked, torn or damaged.
func (c *crowd) lookers(ctx context.Context, i int) error {
	id, err := c.begun(ctx, fmt.Sprintf("look%d", i))
	if err != nil {
		return err
	}
	lines := make([][]string, 20)
	for k := range lines {
		lines[k] = c.task(prompt(fmt.Sprintf("look%dr%d", i, k), "one"))
	}
	done := make(chan struct{})
	looks := [][]string{{"sessions", "list", "--json"}, {"sessions", "show", id, "--json"}, {"doctor", "--store", "--json"}}
	errs := make([]error, len(looks))
	var wg sync.WaitGroup
	for k, args := range looks {
		wg.Go(func() { errs[k] = c.keepLooking(ctx, done, args) })
	}
	ends, err := c.all(ctx, lines)
	close(done)
	wg.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	for _, e := range ends {
		if err := calm(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) keepLooking(ctx context.Context, done <-chan struct{}, args []string) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		e, err := c.must(ctx, args...)
		if err == nil {
			err = calm(e)
		}
		if err != nil {
			return err
		}
	}
}

// readers reads the configuration in a loop while 20 runs start and end: it is
// whole each time, and the same at the end (C117).
func (c *crowd) readers(ctx context.Context, _ int) error {
	file := filepath.Join(c.config(), "config.json")
	want := []byte(`{"schemaVersion": 1, "limits": {"maxTurns": 77}}` + "\n")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		return err
	}
	lines := make([][]string, 20)
	for i := range lines {
		lines[i] = c.task(prompt(fmt.Sprintf("reader%d", i), "say"))
	}
	stop, broken := make(chan struct{}), make(chan error, 1) // one send, never dropped
	go func() {
		for {
			data, err := os.ReadFile(file)
			if err == nil && !json.Valid(data) {
				err = fmt.Errorf("the configuration was read as %q", data)
			}
			select {
			case <-stop:
				broken <- err
				return
			default:
			}
			if err != nil {
				broken <- err
				return
			}
		}
	}()
	ends, err := c.all(ctx, lines)
	close(stop)
	if err := errors.Join(err, <-broken); err != nil {
		return err
	}
	for _, e := range ends {
		if err := calm(e); err != nil {
			return err
		}
	}
	got, err := os.ReadFile(file)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("the configuration holds %q now", got)
	}
	return err
}
