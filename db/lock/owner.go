package lock

import "os"

// Owner is the identity of a process. A pid alone is none: it is given to
// another process after the first has ended, and after a restart of the machine.
type Owner struct {
	PID int
	// Boot names the run of the machine, or the kind of system where that can not
	// be learned; it is empty in rows of programs that stored a pid alone.
	Boot string
	// Start is when the process began, in the system's own unit, good for
	// comparison alone; zero where the system does not tell.
	Start int64
}

// startSlackMs is by how much a process may seem to have started too late: the
// clock was set, or two clocks were read one after the other.
const startSlackMs = 2000

// Self returns this process.
func Self() Owner { return Of(os.Getpid()) }

// Of returns the process that has a pid now.
func Of(pid int) Owner {
	start, _ := processStart(pid)
	return Owner{PID: pid, Boot: bootID(), Start: start}
}

// Alive reports whether the process runs. Known is false where a process of the
// pid runs and nothing tells whether it is this one.
func (o Owner) Alive() (alive, known bool) {
	if o.PID <= 0 {
		return false, true
	}
	if boot := bootID(); o.Boot != "" && boot != "" && o.Boot != boot {
		return false, true
	}
	if !processExists(o.PID) {
		return false, true
	}
	start, ok := processStart(o.PID)
	if o.Boot == "" || o.Start == 0 || !ok {
		return true, false
	}
	return start == o.Start, true
}

// AliveSince reports whether the process of a pid can be the one that wrote a
// row at changedMs (ms since the epoch, zero when it is not known): a process
// that started later is another one. It is for rows of programs that stored a
// pid and nothing more, and says yes in doubt.
func AliveSince(pid int, changedMs int64) bool {
	if pid <= 0 || !processExists(pid) {
		return false
	}
	if changedMs <= 0 {
		return true
	}
	startMs, ok := processStartMs(pid)
	return !ok || startMs <= changedMs+startSlackMs
}

// Doubtful reports whether Works says yes of rows of programs that stored a pid
// alone though nothing tells that this process wrote them: the pid may have been
// given to another since.
func (o Owner) Doubtful(changedMs int64) bool {
	if o.Boot != "" || !AliveSince(o.PID, changedMs) {
		return false
	}
	_, ok := processStartMs(o.PID)
	return changedMs <= 0 || !ok
}

// Works reports whether the process that a row names runs for certain. Rows of
// programs that stored a pid alone are judged by when they were changed; where a
// newer one is in doubt, its lock tells.
func (o Owner) Works(changedMs int64) bool {
	if o.Boot == "" {
		return AliveSince(o.PID, changedMs)
	}
	alive, known := o.Alive()
	return alive && known
}
