// Faults is what happens to real users, done to the real program on purpose:
// processes killed at random moments, crowds on one database, two programs that
// want the same thing at once. It looks at the program from outside alone: exit
// codes, what it prints, what its tools left on the disk.
//
//	go run ./scripts/faults [-n 1000] [-seed 1] [-p 2] [-binary PATH]
//	go run ./scripts/faults -weather [-n 200] [-seed 1] [-p 2] [-binary PATH]
//	go run ./scripts/faults -crowd 200 [-rounds 20] [-hold 7s] [-binary PATH]
//
// The first kills n runs at seeded random moments, checks what is left, takes
// each to its end, and checks again; see kill.go. The second gives n sessions to servers
// that do all that servers do; see weather.go. The third runs crowds; see crowd.go. It
// needs python3 for one of its checks and says when that is left
// out. On the first violation it stops, exits with 1 and keeps the directory.
//
// The model is a server in this program that answers by the history that a
// request shows, as models do: a run that another process left goes on where it
// was. Nothing leaves the machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("faults", flag.ContinueOnError)
	fs.SetOutput(stderr)
	n := fs.Int("n", 1000, "runs to kill")
	seed := fs.Uint64("seed", 1, "seed of the moments and of all choices")
	workers := fs.Int("p", 2, "runs at the same time, each with a database of its own")
	binary := fs.String("binary", "", "the `program`; built when empty")
	stormy := fs.Bool("weather", false, "instead of killing: n sessions with servers of all kinds")
	people := fs.Int("crowd", 0, "instead of killing: `runs` at once on one database")
	rounds := fs.Int("rounds", 20, "with -crowd: repetitions of each race")
	hold := fs.Duration("hold", 7*time.Second, "with -crowd: how long another program holds the database")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	dir, err := os.MkdirTemp("", "alisio-faults-")
	if err == nil && *binary == "" {
		*binary, err = build(ctx, dir)
	}
	switch {
	case err != nil:
	case *people > 0:
		err = crowds(ctx, *binary, dir, *people, *rounds, *hold, stdout)
	case *stormy:
		c := &weather{binary: *binary, dir: dir, n: *n, seed: *seed, workers: *workers}
		err = c.all(ctx, stdout)
	default:
		c := &campaign{binary: *binary, dir: dir, n: *n, seed: *seed, workers: *workers}
		err = c.all(ctx, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\nhint: seed %d, kept in %s\n", err, *seed, dir)
		return 1
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}
