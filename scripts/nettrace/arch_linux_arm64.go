package main

import "syscall"

// auditArch is AUDIT_ARCH_AARCH64 (audit.h): the calls that numbers stand for.
const auditArch = 0xc00000b7

const (
	sysSendmmsg  = syscall.SYS_SENDMMSG
	sysRenameat2 = syscall.SYS_RENAMEAT2
)

// oldFileCalls: this architecture has only those with a directory's descriptor.
func oldFileCalls() map[uint64]fileCall { return nil }

// second is the register of a call's second argument.
func second(r *syscall.PtraceRegs) *uint64 { return &r.Regs[1] }
