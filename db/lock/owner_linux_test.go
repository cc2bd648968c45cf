package lock

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// A pid that is used again has another start; one of another boot is over.
func TestReusedPIDIsDead(t *testing.T) {
	self := Self()
	if self.Boot == "" || self.Start == 0 {
		t.Fatalf("no identity: %+v", self)
	}
	tests := map[string]Owner{
		"other start": {self.PID, self.Boot, self.Start - 1},
		"other boot":  {self.PID, "0d4f7a2e-0000-0000-0000-000000000000", self.Start},
	}
	for name, o := range tests {
		if alive, known := o.Alive(); alive || !known {
			t.Errorf("%s: alive %v, known %v", name, alive, known)
		}
	}
}

func TestOtherUsersProcessIsAlive(t *testing.T) {
	if !processExists(1) {
		t.Error("process 1 does not exist")
	}
}

// The process of the pid started a moment ago; the row is an hour old.
func TestLaterProcessIsAnother(t *testing.T) {
	hourAgo := time.Now().Add(-time.Hour).UnixMilli()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if AliveSince(c.Process.Pid, hourAgo) {
		t.Error("a process wrote a row before it began")
	}
	if !AliveSince(c.Process.Pid, time.Now().UnixMilli()) {
		t.Error("a running process is not alive")
	}
}

func TestZombieIsDead(t *testing.T) {
	c := exec.Command("true")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	// The pipe's end tells that the process ends; it may still be on its way.
	out.Read(make([]byte, 1))
	deadline := time.Now().Add(10 * time.Second)
	for processExists(c.Process.Pid) {
		if time.Now().After(deadline) {
			t.Fatal("a process that has ended and was not waited for is alive")
		}
		if _, err := os.ReadFile("/proc/uptime"); err != nil {
			t.Fatal(err)
		}
	}
}

// A process may call itself anything: "(a) R 1 2" too.
func TestSplitStat(t *testing.T) {
	got := splitStat([]byte("42 (x) S 1\n) R 7 8\n"))
	if want := []string{"R", "7", "8"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := splitStat([]byte("42 no name")); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
}
