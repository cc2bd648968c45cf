package scripttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// server is a scripted model server, a process of its own.
type server struct {
	*process
	log  string // its file of one line a request
	addr string
	// down: the script has ended it, and may start it again.
	down bool
}

// cmdFakeLLM starts a server and waits for the line with its address. One that was
// ended comes back at the address that it had.
func (s *script) cmdFakeLLM(ctx context.Context, _ bool, args []string) error {
	name, suffix := "", ""
	if len(args) == 2 {
		name, suffix = args[1], "_"+args[1]
	}
	addr := "127.0.0.1:0"
	if old := s.servers[name]; old != nil {
		if !old.down {
			return errors.New("it runs already; give the second one a name")
		}
		addr = old.addr
	}
	log := filepath.Join(s.root, "requests"+suffix+".jsonl")
	p, err := s.start(ctx, []string{"fakellm", "-strict", "-addr", addr, "-log", log, s.path(args[0])})
	if err != nil {
		return err
	}
	srv := &server{process: p, log: log}
	s.servers[name] = srv
	re := regexp.MustCompile(`(?m)^listening on (http://(\S+)/v1)$`)
	if err := p.stdout.await(ctx, p.ended, re.Match); err != nil {
		return fmt.Errorf("%w\n%s", err, p.stderr.bytes())
	}
	m := re.FindSubmatch(p.stdout.bytes())
	s.env["BASE_URL"+suffix], srv.addr = string(m[1]), string(m[2])
	s.env["REQUESTS"+suffix] = log
	return nil
}

// cmdDown ends a server, whose address then refuses connections.
func (s *script) cmdDown(_ context.Context, _ bool, args []string) error {
	name := ""
	if len(args) == 1 {
		name = args[0]
	}
	srv := s.servers[name]
	if srv == nil || srv.down {
		return errors.New("no such server runs")
	}
	srv.down = true
	return srv.stop()
}

// stop ends the server. What it complains about (a request beyond its script,
// an expectation that was not met) is an error.
func (s *server) stop() error {
	s.cmd.Process.Kill() // An error says that it has ended.
	<-s.ended
	var errs []error
	for line := range strings.Lines(string(s.stderr.bytes())) {
		if strings.HasPrefix(line, "error: ") {
			errs = append(errs, errors.New(strings.TrimSpace(line)))
		}
	}
	return errors.Join(errs...)
}

func (s *script) cmdRequests(_ context.Context, _ bool, args []string) error {
	srv, want, err := s.serverAnd(args)
	if err != nil {
		return err
	}
	got, err := srv.requests()
	if err == nil && got != want {
		err = fmt.Errorf("%d requests, want %d", got, want)
	}
	return err
}

func (s *script) cmdAwaitRequests(ctx context.Context, _ bool, args []string) error {
	srv, want, err := s.serverAnd(args)
	if err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		n, err := srv.requests()
		return n >= want, err
	})
}

// serverAnd reads the arguments N [SERVER].
func (s *script) serverAnd(args []string) (*server, int, error) {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, 0, err
	}
	name := ""
	if len(args) == 2 {
		name = args[1]
	}
	if s.servers[name] == nil {
		return nil, 0, errors.New("no such server was started")
	}
	return s.servers[name], n, nil
}

// requests counts the lines of the log; the server writes a line before it
// answers.
func (s *server) requests() (int, error) {
	data, err := os.ReadFile(s.log)
	return bytes.Count(data, []byte("\n")), err
}

// cmdAwaitFile is for what only a file tells, such as a command that a program
// has started.
func (s *script) cmdAwaitFile(ctx context.Context, _ bool, args []string) error {
	return poll(ctx, func() (bool, error) {
		_, err := os.Lstat(s.path(args[0]))
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
}

// poll asks for a condition that nothing announces until it holds.
func poll(ctx context.Context, holds func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("waited until the script's end")
		}
	}
}
