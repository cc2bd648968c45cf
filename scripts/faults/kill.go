package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// campaign kills runs. Each goes through
//
//	start ─ kill at a random moment ─► doctor, show ─► same request again ─┐
//	             ▲                                          │ exit 9       │ exit 0
//	             └──── one in four is killed as well ◄──────┴ acknowledge  ▼
//	                              doctor, show, the count file, the answer printed
type campaign struct {
	binary, dir string
	n           int
	seed        uint64
	workers     int

	// took is how long a run takes that nobody disturbs.
	took time.Duration

	mu    sync.Mutex
	tally tally
}

// tally counts what happened.
type tally struct {
	places    [afterEnd + 1]int
	recovery  int
	uncertain int
	continued int
	replayed  int
	migrated  int
}

const (
	// fresh is after how many runs a worker begins with an empty home.
	fresh = 50
	// warmup is how many undisturbed runs are timed.
	warmup = 5
	delay  = 3 * time.Millisecond
)

func (c *campaign) all(ctx context.Context, out io.Writer) error {
	m, err := newModel(delay)
	if err != nil {
		return err
	}
	start := time.Now()
	err = c.measure(ctx, m)
	if err == nil {
		fmt.Fprintf(out, "seed %d; an undisturbed run takes %v\n", c.seed, c.took.Round(time.Millisecond/10))
		err = c.share(ctx, m)
	}
	err = errors.Join(err, m.close())
	t := c.tally
	fmt.Fprintf(out, "%d kills in %v: %d before the first request, %d in a stream, %d in a tool or its journal, %d after the last answer\n",
		t.places[0]+t.places[1]+t.places[2]+t.places[3], time.Since(start).Round(time.Second/10), t.places[0], t.places[1], t.places[2], t.places[3])
	fmt.Fprintf(out, "%d recoveries killed, %d times uncertain, %d continued, %d shown again, %d databases of old versions migrated\n",
		t.recovery, t.uncertain, t.continued, t.replayed, t.migrated)
	return err
}

// measure times runs that nobody disturbs.
func (c *campaign) measure(ctx context.Context, m *model) error {
	w, err := newWorld(c.binary, filepath.Join(c.dir, "measure"), m)
	if err != nil {
		return err
	}
	var all []time.Duration
	for i := range warmup {
		start := time.Now()
		if _, err := w.must(ctx, w.task(prompt(fmt.Sprintf("w%d", i), "long"))...); err != nil {
			return err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	c.took = all[len(all)/2]
	return nil
}

// share shares the runs out among the workers; the first error stops all.
func (c *campaign) share(ctx context.Context, m *model) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for worker := range c.workers {
		wg.Go(func() {
			var v *victim
			for i := worker; i < c.n && ctx.Err() == nil; i += c.workers {
				if err := c.one(ctx, m, &v, worker, i); err != nil {
					stop(fmt.Errorf("run %d: %w", i, err))
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// one kills one run; v is the worker's home, made anew now and then.
func (c *campaign) one(ctx context.Context, m *model, v **victim, worker, i int) error {
	r := rand.New(rand.NewPCG(c.seed, uint64(i)))
	if *v == nil || i/c.workers%fresh == 0 {
		w, err := newWorld(c.binary, filepath.Join(c.dir, fmt.Sprintf("home-%d-%d", worker, i)), m)
		if err != nil {
			return err
		}
		*v = &victim{world: w, campaign: c}
		if err := (*v).old(r); err != nil {
			return err
		}
	}
	return (*v).suffer(ctx, r, fmt.Sprintf("t%d", i))
}

// victim is a home whose runs are killed.
type victim struct {
	*world
	*campaign
	// done are sessions that other tasks came to their end in.
	done []string
}

func (v *victim) count(do func(*tally)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do(&v.tally)
}

// old puts a database of an older version in the home, for half of them.
func (v *victim) old(r *rand.Rand) error {
	version := r.IntN(8) + 1
	if version > 4 {
		return nil
	}
	root, err := repository()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(root, "db", "testdata", fmt.Sprintf("sessions-v%d.sqlite", version)))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(v.state, 0o700); err != nil {
		return err
	}
	v.count(func(t *tally) { t.migrated++ })
	return os.WriteFile(v.database(), data, 0o600)
}

// suffer is one run from its start through its deaths to its end.
func (v *victim) suffer(ctx context.Context, r *rand.Rand, token string) error {
	session := ""
	if len(v.done) > 0 && r.IntN(4) == 0 {
		session = v.done[r.IntN(len(v.done))]
	}
	flags := []string{"--request-id", "request-" + token}
	if session != "" {
		flags = append(flags, "--session", session)
	}
	shown := flags
	if r.IntN(2) == 0 {
		shown = append(slices.Clone(flags), "--json")
	}
	say := prompt(token, "long")
	first, where, err := v.murder(ctx, r, token, v.world.task(say, shown...))
	if err != nil {
		return err
	}
	v.count(func(t *tally) { t.places[where]++ })
	if !first.killed && first.code != 0 {
		return fmt.Errorf("before it was killed: %v", first)
	}
	if session, err = v.look(ctx, session, say); err != nil {
		return fmt.Errorf("after the kill of %v: %w", first, err)
	}
	last, err := v.recover(ctx, r, token, say, flags, session)
	if err != nil {
		return fmt.Errorf("after the kill of %v: %w", first, err)
	}
	if len(shown) == len(flags) {
		first.stdout = "" // no events
	}
	if err := v.judge(ctx, token, say, session, first, last); err != nil {
		return fmt.Errorf("after the kill of %v: %w", first, err)
	}
	return nil
}

// murder starts a process and kills it at a random moment.
func (v *victim) murder(ctx context.Context, r *rand.Rand, token string, args []string) (ended, place, error) {
	moment := time.Duration(r.Float64() * 1.3 * float64(v.took))
	p, err := v.start(ctx, args...)
	if err != nil {
		return ended{}, 0, err
	}
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
	where := v.model.at(token)
	p.kill()
	e, err := p.wait()
	if !e.killed {
		where = afterEnd
	}
	return e, where, err
}

// look checks what a kill left, and returns the session if there is one.
func (v *victim) look(ctx context.Context, session, title string) (string, error) {
	if _, err := os.Stat(v.database()); err != nil {
		return session, nil // it was killed before it had made one
	}
	if err := v.doctor(ctx); err != nil {
		return "", err
	}
	if session == "" {
		h, ok, err := v.find(ctx, title)
		if err != nil || !ok {
			return "", err
		}
		session = h.ID
	}
	c, err := v.show(ctx, session)
	if err == nil {
		err = c.pairs(true)
	}
	if err == nil {
		err = c.numbered()
	}
	return session, err
}

// recover gives the same request until it completes. One recovery in four is
// killed itself, at most four times.
func (v *victim) recover(ctx context.Context, r *rand.Rand, token, say string, flags []string, session string) (ended, error) {
	asked := v.model.asked(token)
	args := v.world.task(say, flags...)
	for kills := 0; ; {
		var e ended
		var err error
		if kills < 4 && r.IntN(4) == 0 {
			kills++
			v.count(func(t *tally) { t.recovery++ })
			e, _, err = v.murder(ctx, r, token, args)
		} else {
			e, err = v.run(ctx, args...)
		}
		switch {
		case err != nil:
			return e, err
		case e.killed:
			if session, err = v.look(ctx, session, say); err != nil {
				return e, fmt.Errorf("after a killed recovery: %w", err)
			}
		case e.code == 9 && !slices.Contains(args, "--acknowledge-uncertain"):
			v.count(func(t *tally) { t.uncertain++ })
			if h, ok, err := v.find(ctx, say); err != nil || ok && !h.Uncertain {
				return e, fmt.Errorf("it refused to run, and the list shows %+v (%v): %v", h, err, e)
			}
			args = v.world.task(say, append(slices.Clone(flags), "--acknowledge-uncertain")...)
		case e.code != 0:
			return e, errors.New(e.String())
		default:
			v.count(func(t *tally) {
				if v.model.asked(token) > asked {
					t.continued++
				} else {
					t.replayed++
				}
			})
			return e, nil
		}
	}
}

// judge checks the end: the answer, the history, what the commands left.
func (v *victim) judge(ctx context.Context, token, say, session string, first, last ended) error {
	if strings.Count(last.stdout, finished(token)) != 1 {
		return fmt.Errorf("the answer is not printed once: %v", last)
	}
	asked := v.model.asked(token)
	again, err := v.must(ctx, v.world.task(say, last.args[slices.Index(last.args, "--request-id"):len(last.args)-1]...)...)
	if err != nil || !strings.Contains(again.stdout, finished(token)) || v.model.asked(token) != asked {
		return fmt.Errorf("the request again: %d more requests, error %v: %v", v.model.asked(token)-asked, err, again)
	}
	if session, err = v.look(ctx, session, say); err != nil {
		return err
	}
	c, err := v.show(ctx, session)
	if err != nil {
		return err
	}
	if err := errors.Join(c.pairs(false), c.holds(first.stdout), v.ends(c, token), v.counted(c, token)); err != nil {
		return err
	}
	v.done = append(v.done, session)
	return nil
}

// ends checks that the task's run ended well, once.
func (v *victim) ends(c conversation, token string) error {
	if c.LastRun != "completed" || c.Uncertain || c.BusyPID != 0 {
		return fmt.Errorf("the session is left as %+v", c.head)
	}
	n := 0
	for _, e := range c.events {
		if e.Type == "run_completed" && strings.Contains(string(e.Data), finished(token)) {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("%d runs of the task completed", n)
	}
	return nil
}

// counted compares the count file with what the history tells of the commands.
func (v *victim) counted(c conversation, token string) error {
	data, err := os.ReadFile(filepath.Join(v.work(), "count"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(data)) {
		ran[strings.TrimSuffix(line, "\n")]++
	}
	commands := map[string]string{token + "-1": marks(token)[0], token + "-5": marks(token)[1], token + "-6": marks(token)[2]}
	for _, mark := range commands {
		if ran[mark] > 1 {
			return fmt.Errorf("the command of %s ran %d times", mark, ran[mark])
		}
	}
	told := 0
	for _, m := range c.messages {
		if !strings.HasPrefix(m.CallID, token+"-") {
			continue
		}
		told++
		mark, isCommand := commands[m.CallID]
		switch {
		case m.CallID == token+"-2" && !m.Result.IsError:
			if got, err := os.ReadFile(filepath.Join(v.work(), token+".txt")); err != nil || string(got) != "written for "+token+"\n" {
				return fmt.Errorf("%s is told as written and holds %q, %v", token+".txt", got, err)
			}
		case isCommand && !m.Result.IsError && ran[mark] != 1:
			return fmt.Errorf("call %s is told as done and its command ran %d times: %s", m.CallID, ran[mark], short(m.said()))
		case isCommand && strings.Contains(m.said(), "not executed") && ran[mark] != 0:
			return fmt.Errorf("call %s is told as not executed and its command ran", m.CallID)
		}
	}
	if told != 6 {
		return fmt.Errorf("the history tells of %d calls of the task, want 6", told)
	}
	return nil
}
