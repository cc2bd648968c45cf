package lock

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestSelfIsAlive(t *testing.T) {
	alive, known := Self().Alive()
	if !alive {
		t.Errorf("this process is not alive: %+v", Self())
	}
	if (Self().Start != 0) != known {
		t.Errorf("known = %v with start %d", known, Self().Start)
	}
}

func TestNoProcess(t *testing.T) {
	for _, pid := range []int{0, -1, -os.Getpid()} {
		if alive, known := (Owner{PID: pid}).Alive(); alive || !known {
			t.Errorf("pid %d: alive %v, known %v", pid, alive, known)
		}
		if AliveSince(pid, 0) {
			t.Errorf("pid %d is alive since ever", pid)
		}
	}
}

func TestPIDAloneIsDoubtful(t *testing.T) {
	if alive, known := (Owner{PID: os.Getpid()}).Alive(); !alive || known {
		t.Errorf("alive %v, known %v; want alive and not known", alive, known)
	}
}

// startChild runs this test again as another process, which does what env says.
func startChild(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	t.Cleanup(func() {
		if c.Process != nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

func TestEndedProcessIsDead(t *testing.T) {
	if os.Getenv("ALISIO_DB_CHILD") != "" {
		return
	}
	c := startChild(t, "ALISIO_DB_CHILD=1")
	c.Stdout = nil
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if alive, known := (Owner{PID: c.Process.Pid}).Alive(); alive || !known {
		t.Errorf("alive %v, known %v", alive, known)
	}
}

func TestAliveSince(t *testing.T) {
	now := time.Now().UnixMilli()
	if !AliveSince(os.Getpid(), now) {
		t.Error("this process did not write a row now")
	}
	if !AliveSince(os.Getpid(), 0) {
		t.Error("a row without a time has no writer")
	}
}

// The process of a pid may be another one by now; the doubt ends where the row's
// time tells, or there is no such process.
func TestDoubtfulOwners(t *testing.T) {
	now := time.Now().UnixMilli()
	_, told := processStartMs(os.Getpid())
	for _, c := range []struct {
		name      string
		o         Owner
		changedMs int64
		want      bool
	}{
		{"a pid alone", Owner{PID: os.Getpid()}, 0, true},
		{"a pid and a time", Owner{PID: os.Getpid()}, now, !told},
		{"this process", Self(), 0, false},
		{"nobody", Owner{}, 0, false},
		{"a process that started later", Owner{PID: os.Getpid()}, 1, !told},
	} {
		if got := c.o.Doubtful(c.changedMs); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
