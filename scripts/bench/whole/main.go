// Whole times the program as its user meets it: whole processes against a
// scripted server on a real socket.
//
//	go run ./scripts/bench/whole [-n 20]
//
// Each row is run n times after one that does not count, in turn with the
// others, so that a machine that changes its speed changes it for all. Times
// are medians with the smallest and the largest; memory is the largest peak of
// resident memory that the kernel reports.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// deltas is the length of the bulk answer.
const deltas = 200_000

func main() {
	n := flag.Int("n", 20, "counted runs of each row")
	flag.Parse()
	if err := run(context.Background(), *n, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// row is one command and what was measured of it.
type row struct {
	name string
	argv []string
	env  []string // beside what all have
	wall []time.Duration
	cpu  []time.Duration
	peak int64 // bytes
}

func run(ctx context.Context, n int, out io.Writer) error {
	dir, err := os.MkdirTemp("", "alisio-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	alisio, fake := filepath.Join(dir, "alisio"), filepath.Join(dir, "fakellm")
	for bin, pkg := range map[string]string{alisio: ".", fake: "./scripts/fakellm"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
	}
	info, err := os.Stat(alisio)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "stripped binary: %.1f MB\n\n", float64(info.Size())/1e6)
	turn, stop, err := serve(ctx, fake, dir, "turn", `{"replies":[{"text":"Hello.","usage":{"input":9,"output":2},"repeat":-1}]}`)
	if err != nil {
		return err
	}
	defer stop()
	bulk, stopBulk, err := serve(ctx, fake, dir, "bulk", fmt.Sprintf(`{"replies":[{"bulk":{"deltas":%d,"bytes":20},"repeat":-1}]}`, deltas))
	if err != nil {
		return err
	}
	defer stopBulk()
	rows := []*row{
		{name: "true", argv: []string{"true"}},
		{name: "alisio --version", argv: []string{alisio, "--version"}},
		{name: "curl, the request alone", argv: []string{"curl", "-sN", turn + "/chat/completions", "-d", `{"model":"m","stream":true,"messages":[]}`}},
		{name: "alisio run, one turn", argv: []string{alisio, "run", "-m", "m", "--base-url", turn, "hello"}},
		{name: "alisio run --json, one turn", argv: []string{alisio, "run", "--json", "-m", "m", "--base-url", turn, "hello"}},
		{name: fmt.Sprintf("alisio run, %d deltas", deltas), argv: []string{alisio, "run", "-m", "m", "--base-url", bulk, "hello"}},
		{name: fmt.Sprintf("alisio run --json, %d deltas", deltas), argv: []string{alisio, "run", "--json", "-m", "m", "--base-url", bulk, "hello"}},
		{
			name: fmt.Sprintf("alisio run, %d deltas, Responses", deltas),
			argv: []string{alisio, "run", "-m", "m", "--base-url", bulk, "hello"}, env: []string{"ALISIO_API_MODE=responses"},
		},
	}
	for i := range n + 1 {
		for _, r := range rows {
			if err := r.measure(ctx, dir, i > 0); err != nil {
				return err
			}
		}
	}
	report(out, rows)
	return nil
}

// measure runs a row's command once. This program stays small, since a child
// is charged for the memory of its parent at its start.
func (r *row) measure(ctx context.Context, dir string, counts bool) error {
	cmd := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "ALISIO_CONFIG_HOME="+dir, "ALISIO_STATE_HOME="+filepath.Join(dir, "state"))
	cmd.Env = append(cmd.Env, r.env...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	took := time.Since(start)
	if !counts {
		return nil
	}
	r.wall = append(r.wall, took)
	r.cpu = append(r.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	r.peak = max(r.peak, peak(cmd.ProcessState))
	return nil
}

// serve starts a scripted server and returns its URL.
func serve(ctx context.Context, bin, dir, name, script string) (url string, stop func(), err error) {
	file := filepath.Join(dir, name+".json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, bin, file)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("start the scripted server: %w", err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), stop, nil
}

func report(out io.Writer, rows []*row) {
	base := median(rows[0].wall)
	fmt.Fprintf(out, "%-39s %28s %10s %12s %12s\n", "", "wall ms (min … max)", "× true", "cpu ms", "peak MB")
	for _, r := range rows {
		w := median(r.wall)
		fmt.Fprintf(out, "%-39s %8.1f (%6.1f … %6.1f) %12.1f %12.1f %12.1f\n", r.name,
			ms(w), ms(slices.Min(r.wall)), ms(slices.Max(r.wall)), float64(w)/float64(base), ms(median(r.cpu)), float64(r.peak)/1e6)
	}
	for i, name := range []string{"text", "JSON", "text over Responses"} {
		turn, bulk := rows[3+i%2], rows[5+i]
		each := float64((median(bulk.cpu) - median(turn.cpu)).Nanoseconds()) / deltas / 1000
		fmt.Fprintf(out, "cpu a delta in bulk, %s: %.2f µs\n", name, each)
	}
	fmt.Fprintf(out, "one turn ÷ curl: %.2f\n", float64(median(rows[3].wall))/float64(median(rows[2].wall)))
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
