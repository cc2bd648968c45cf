// Command search measures searches over many sessions: whole processes, against a
// database that it makes.
//
//	go run ./scripts/bench/search [-n 10000] [-times 20]
//
// A session has 20 messages of 30 to 300 words, which are as frequent as words of a
// language are. The first search makes the index; the median of the later ones counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"alisio/agent/session"
	"alisio/db"
	"alisio/llm"
)

func main() {
	n := flag.Int("n", 10_000, "sessions")
	times := flag.Int("times", 20, "searches of each kind")
	flag.Parse()
	if err := measure(*n, *times); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func measure(n, times int) error {
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	alisio := filepath.Join(dir, "alisio")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", alisio, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	home := filepath.Join(dir, "state")
	if err := fill(home, n); err != nil {
		return err
	}
	search := func(query string) (time.Duration, error) {
		c := exec.Command(alisio, "sessions", "search", "--quiet", "--", query)
		c.Env = append(os.Environ(), "ALISIO_STATE_HOME="+home, "ALISIO_CONFIG_HOME="+filepath.Join(dir, "config"))
		begin := time.Now()
		out, err := c.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("search %s: %w\n%s", query, err, out)
		}
		return time.Since(begin), nil
	}
	first, err := search(word(0))
	if err != nil {
		return err
	}
	fmt.Printf("%d sessions, database %.1f MB; the first search makes the index in %.1f s, %.1f MB\n",
		n, size(home, "sessions.sqlite"), first.Seconds(), size(home, "search.sqlite"))
	for _, q := range []struct{ name, query string }{
		{"the most frequent word", word(0)}, {"a rare word", word(9000)}, {"a phrase", `"` + word(0) + " " + word(1) + `"`},
		{"a beginning", word(500)[:3] + "*"}, {"a beginning of two letters", "th*"}, {"of one letter", "t*"},
		{"three words", word(3) + " " + word(40) + " " + word(500)}, {"one without another", word(0) + " -" + word(1)},
		{"a word that is nowhere", "nowhere"},
	} {
		var all []time.Duration
		for range times {
			d, err := search(q.query)
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		slices.Sort(all)
		fmt.Printf("%-24s median %6.1f ms, worst %6.1f ms\n", q.name, ms(all[len(all)/2]), ms(all[len(all)-1]))
	}
	return nil
}

// word is the word of a rank: words begin with all letters, some more often than others.
func word(rank uint64) string {
	const often = "tttaaaooosssiiiwwwccbbpphhffmmddrrlleenngguuvvyjkqxz"
	r := rand.New(rand.NewPCG(rank, 7))
	letters := make([]byte, 2+r.IntN(4))
	for i := range letters {
		letters[i] = often[r.IntN(len(often))]
	}
	return string(letters) + fmt.Sprint(rank)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// size is that of a database with its log, in megabytes.
func size(home, name string) float64 {
	var sum int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(home, name+suffix)); err == nil {
			sum += info.Size()
		}
	}
	return float64(sum) / 1e6
}

func fill(home string, n int) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := session.OpenSQLite(ctx, db.Options{Path: filepath.Join(home, "sessions.sqlite"), Home: home})
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.1, 4, 20_000)
	for i := range n {
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i)
		if err := s.Create(ctx, session.Session{ID: id, Workspace: "/w", Title: "session", Created: time.Now(), Updated: time.Now()}); err != nil {
			return err
		}
		messages := make([]llm.Message, 20)
		for j := range messages {
			var b strings.Builder
			for range 30 + rnd.IntN(270) {
				b.WriteString(word(zipf.Uint64()) + " ")
			}
			messages[j] = llm.Message{Role: []llm.Role{llm.RoleUser, llm.RoleAssistant}[j%2], Text: b.String()}
		}
		if err := s.Append(ctx, id, "", messages...); err != nil {
			return err
		}
	}
	return s.Close()
}
