//go:build linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x)

package term

import "syscall"

// tcflsh is TCFLSH of asm-generic/ioctls.h, which the architectures above use.
const tcflsh = 0x540B

func discard(fd uintptr) { syscall.Syscall(syscall.SYS_IOCTL, fd, tcflsh, syscall.TCIFLUSH) }

// dropOutput throws away what was written and not taken yet.
func dropOutput(fd uintptr) { syscall.Syscall(syscall.SYS_IOCTL, fd, tcflsh, syscall.TCOFLUSH) }
