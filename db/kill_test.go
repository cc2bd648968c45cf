package db

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// A process that is killed at any moment loses nothing of what Write returned
// for, and leaves nothing half (spec runner.md, "Crash safety").
func TestKilledProcessLosesNothing(t *testing.T) {
	if dir, ok := childPath("TestKilledProcessLosesNothing"); ok {
		d := open(t, dir)
		create1(t, d, fmt.Sprint(os.Getpid()))
		for i := range 100_000 {
			id := fmt.Sprintf("%d-%d", os.Getpid(), i)
			if err := d.Write(t.Context(), Full, func(x *Tx) error {
				if err := x.BeginCall(Call{Session: fmt.Sprint(os.Getpid()), ID: id}); err != nil {
					return err
				}
				_, err := x.AppendMessage(Message{Session: fmt.Sprint(os.Getpid()), RunID: id, Body: "{}"})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			fmt.Println(id)
		}
		return
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		c := child(t, "TestKilledProcessLosesNothing", dir)
		out := bufio.NewScanner(must(c.StdoutPipe())(t))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var told []string
		for left := 1 + random.IntN(60); left > 0 && out.Scan(); left-- {
			told = append(told, out.Text())
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() {
			told = append(told, out.Text())
		}
		_ = c.Wait()
		if len(told) == 0 {
			t.Fatal("the child stored nothing")
		}
		d := open(t, dir)
		calls := must(d.Calls(t.Context(), fmt.Sprint(c.Process.Pid), told))(t)
		if len(calls) != len(told) {
			t.Errorf("%d of %d calls are there", len(calls), len(told))
		}
		all := allCalls(t, d, fmt.Sprint(c.Process.Pid))
		if n := must(d.CountMessages(t.Context(), fmt.Sprint(c.Process.Pid)))(t); n != len(all) {
			t.Errorf("%d messages beside %d calls", n, len(all))
		}
		if got := strs(t, d.writer.conn, `PRAGMA integrity_check`); got[0] != "ok" {
			t.Errorf("integrity_check: %v", got)
		}
		shut(t, d)
	}
}
