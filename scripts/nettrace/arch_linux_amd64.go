package main

import "syscall"

// auditArch is AUDIT_ARCH_X86_64 (audit.h): the calls that numbers stand for.
const auditArch = 0xc000003e

// Numbers that package syscall does not have (unistd_64.h).
const (
	sysSendmmsg  = 307
	sysRenameat2 = 316
)

// oldFileCalls are those without a directory's descriptor.
func oldFileCalls() map[uint64]fileCall {
	change := func(name string, path int) fileCall {
		return fileCall{name: name, files: [][2]int{{argCwd, path}}, flags: changes}
	}
	return map[uint64]fileCall{
		syscall.SYS_OPEN:    {name: "open", files: [][2]int{{argCwd, 0}}, flags: 1},
		syscall.SYS_RENAME:  {name: "rename", files: [][2]int{{argCwd, 0}, {argCwd, 1}}, flags: changes},
		syscall.SYS_CREAT:   change("creat", 0),
		syscall.SYS_MKDIR:   change("mkdir", 0),
		syscall.SYS_RMDIR:   change("rmdir", 0),
		syscall.SYS_UNLINK:  change("unlink", 0),
		syscall.SYS_LINK:    change("link", 1),
		syscall.SYS_SYMLINK: change("symlink", 1),
		syscall.SYS_MKNOD:   change("mknod", 0),
		syscall.SYS_CHMOD:   change("chmod", 0),
		syscall.SYS_CHOWN:   change("chown", 0),
		syscall.SYS_LCHOWN:  change("lchown", 0),
		syscall.SYS_UTIMES:  change("utimes", 0),
	}
}

// second is the register of a call's second argument.
func second(r *syscall.PtraceRegs) *uint64 { return &r.Rsi }
