package proc

import "syscall"

// undump makes /proc/PID ours alone (PR_SET_DUMPABLE in prctl(2)). A program
// that is executed starts with the usual again. There is no core dump either.
func undump() {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0, 0, 0, 0) // Zero is never refused.
}
