//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

const (
	optExitKill = 0x100000 // PTRACE_O_EXITKILL: nothing runs on without us
	options     = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK |
		syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEEXEC | optExitKill

	// callStop is the signal of a stop at a call's begin or end.
	callStop = syscall.SIGTRAP | 0x80

	waitAll = 0x40000000 // __WALL: threads too
)

// tracer holds what is known of the threads that run.
type tracer struct {
	report func(event) error
	calls  calls
	root   int
	// seen are the threads that have stopped before: the first SIGSTOP of a new one
	// is ptrace's own.
	seen map[int]bool
	// open are the calls that have begun, by thread.
	open map[int][]event
	// code is the exit code of root.
	code int
}

// trace runs a program to the end of all that it starts, and returns its exit
// code.
//
//	wait ─┬─ ended ──────── last thread gone: done
//	      ├─ call begins ── arguments are read
//	      ├─ call ends ──── reported with its result
//	      ├─ new program ── reported
//	      └─ signal ─────── handed on
func trace(argv []string, report func(event) error) (int, error) {
	// A process is traced by one thread; nobody else's children are its own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	file, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(file, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS):
		return 0, fmt.Errorf("%w: trace a child of our own: %w", errForbidden, err)
	case err != nil:
		return 0, fmt.Errorf("start %s: %w", file, err)
	}
	t := &tracer{report: report, calls: newCalls(), root: pid, seen: map[int]bool{}, open: map[int][]event{}}
	if err := t.loop(); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone; the others go with us
		return 0, err
	}
	return t.code, nil
}

func (t *tracer) loop() error {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, waitAll, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil:
			return fmt.Errorf("wait for the traced: %w", err)
		}
		if !status.Stopped() {
			if err := t.ended(tid, status); err != nil {
				return err
			}
			continue
		}
		sig, err := t.stopped(tid, status)
		if err == nil {
			err = syscall.PtraceSyscall(tid, int(sig))
		}
		// Whoever is killed while stopped is gone before its end is told.
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("trace thread %d: %w", tid, err)
		}
	}
}

// ended forgets a thread; a call that it never came back from counts.
func (t *tracer) ended(tid int, status syscall.WaitStatus) error {
	if tid == t.root {
		if t.code = status.ExitStatus(); status.Signaled() {
			t.code = 128 + int(status.Signal())
		}
	}
	delete(t.seen, tid)
	return t.close(tid, "")
}

// stopped deals with one stop and returns the signal to go on with.
func (t *tracer) stopped(tid int, status syscall.WaitStatus) (syscall.Signal, error) {
	first := !t.seen[tid]
	t.seen[tid] = true
	sig := status.StopSignal()
	switch {
	case first && tid == t.root:
		if err := syscall.PtraceSetOptions(tid, options); err != nil {
			return 0, fmt.Errorf("set options: %w", err)
		}
		return 0, t.report(event{Program: program(tid), PID: tid, Call: "exec"})
	case sig == callStop:
		return 0, t.call(tid)
	case sig == syscall.SIGTRAP && status.TrapCause() == syscall.PTRACE_EVENT_EXEC:
		return 0, t.executed(tid)
	case sig == syscall.SIGTRAP && status.TrapCause() > 0:
		return 0, nil // a new thread or process, which stops by itself
	case sig == syscall.SIGSTOP && first:
		return 0, nil
	}
	return sig, nil // The stop that SIGTSTP and its like have led to takes none.
}

// executed reports a new program. Its other threads are gone, and the one that
// asked for it has the process's number now.
func (t *tracer) executed(pid int) error {
	former, err := syscall.PtraceGetEventMsg(pid)
	if err != nil {
		return err
	}
	if int(former) != pid {
		delete(t.seen, int(former))
		delete(t.open, int(former))
	}
	if err := t.close(pid, ""); err != nil {
		return err
	}
	return t.report(event{Program: program(pid), PID: pid, Call: "exec"})
}

// call deals with the begin or the end of one.
func (t *tracer) call(tid int) error {
	info, err := callInfo(tid)
	switch {
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("%w: the kernel tells nothing of calls (Linux before 5.3): %w", errForbidden, err)
	case err != nil:
		return err
	}
	switch info.op {
	case opEntry:
		if t.open[tid], err = t.begin(tid, info); len(t.open[tid]) == 0 {
			delete(t.open, tid)
		}
		return err
	case opExit:
		result := ""
		if n := int64(info.nr); n < 0 && n > -4096 {
			result = syscall.Errno(-n).Error()
		}
		for i := range t.open[tid] {
			if e := &t.open[tid][i]; result == "" && isOpen(e.Call) {
				e.Real = realName(tid, int(info.nr), e.Path)
			}
		}
		return t.close(tid, result)
	}
	return nil
}

// begin is what a call asks for.
func (t *tracer) begin(tid int, info callData) ([]event, error) {
	if info.arch != auditArch {
		return []event{{Program: program(tid), PID: process(tid), Call: "foreign"}}, nil
	}
	if info.nr == syscall.SYS_PRCTL && info.args[0] == syscall.PR_SET_DUMPABLE && info.args[1] == 0 {
		return nil, keepOpen(tid)
	}
	events := t.calls.read(tid, info)
	for i := range events {
		events[i].Program, events[i].PID = program(tid), process(tid)
	}
	return events, nil
}

// close reports what a thread has begun.
func (t *tracer) close(tid int, result string) error {
	for _, e := range t.open[tid] {
		e.Error = result
		if err := t.report(e); err != nil {
			return err
		}
	}
	delete(t.open, tid)
	return nil
}

// program is the file that a thread executes, empty when it is gone.
func program(tid int) string {
	name, _ := os.Readlink("/proc/" + strconv.Itoa(tid) + "/exe") // None is that of a zombie.
	return name
}
