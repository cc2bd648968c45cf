//go:build !windows && !darwin && !freebsd && !netbsd && !(linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x))

package term

// discard knows no way here: lines that were finished are dropped by who reads
// them, and the start of one that was not stays.
func discard(uintptr) {}

func dropOutput(uintptr) {}
