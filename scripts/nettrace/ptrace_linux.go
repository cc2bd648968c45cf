//go:build amd64 || arm64

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Requests and sizes of ptrace(2) that package syscall does not have.
const (
	getCallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO, Linux 5.3
	opEntry     = 1
	opExit      = 2
	ntPRStatus  = 1 // the set of general registers

	maxPath = 4096 // PATH_MAX, in bytes
)

// callData is struct ptrace_syscall_info. At a call's end nr holds the result.
type callData struct {
	op     uint8
	_      [3]byte
	arch   uint32
	ip, sp uint64
	nr     uint64
	args   [6]uint64
	_      uint64
}

func callInfo(tid int) (callData, error) {
	var d callData
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, getCallInfo, uintptr(tid), unsafe.Sizeof(d), uintptr(unsafe.Pointer(&d)), 0, 0)
	if errno != 0 {
		return d, fmt.Errorf("ask what a call is: %w", errno)
	}
	return d, nil
}

// keepOpen makes a process that is about to close its memory and its /proc to
// others of its user (PR_SET_DUMPABLE) leave them open: nothing of it could be
// read any more, except by root. It is the one thing that runs otherwise under
// this program than alone.
func keepOpen(tid int) error {
	var r syscall.PtraceRegs
	v := syscall.Iovec{Base: (*byte)(unsafe.Pointer(&r)), Len: uint64(unsafe.Sizeof(r))}
	for _, request := range []uintptr{syscall.PTRACE_GETREGSET, syscall.PTRACE_SETREGSET} {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, request, uintptr(tid), ntPRStatus, uintptr(unsafe.Pointer(&v)), 0, 0)
		if errno != 0 {
			return fmt.Errorf("set the registers of a thread: %w", errno)
		}
		*second(&r) = 1
	}
	return nil
}

// memory reads n bytes of a thread, at most those of one address or structure.
func memory(tid int, at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	got, err := syscall.PtracePeekData(tid, uintptr(at), b)
	if err == nil && uint64(got) < n {
		err = syscall.EFAULT
	}
	return b, err
}

// cString reads a string that ends with a zero byte. It goes by blocks that lie in
// one page each, since what follows the string's may not be there.
func cString(tid int, at uint64) (string, error) {
	const block = 64
	var all []byte
	for len(all) < maxPath {
		n := block - at%block
		b, err := memory(tid, at, n)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(append(all, b[:end]...)), nil
		}
		all, at = append(all, b...), at+n
	}
	return "", errors.New("a name of more than 4096 bytes")
}

// process is the process of a thread; 0 when it is gone.
func process(tid int) int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status") // None is that of no process.
	_, rest, _ := bytes.Cut(status, []byte("\nTgid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line))) // Zero is that of no process.
	return n
}

func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
func u32(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) }
