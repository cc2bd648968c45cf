//go:build amd64 || arm64

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Numbers that are the same on all architectures (asm-generic/unistd.h).
const (
	sysIOUringSetup = 425
	sysOpenat2      = 437
)

const (
	fdCwd = -100     // AT_FDCWD
	oPath = 0x200000 // O_PATH

	// In the place of an argument's number: the working directory, a call that
	// changes whatever it names, and flags in a structure (openat2).
	argCwd  = -1
	changes = -1
	inHow   = -2

	maxMessages = 1024 // UIO_MAXIOV
)

// fileCall says where a call has what it is about: the numbers of the arguments
// that hold a directory and a name, and of its flags.
type fileCall struct {
	name  string
	files [][2]int
	flags int
}

// calls is the table of those that name files.
type calls map[uint64]fileCall

func newCalls() calls {
	change := func(name string, dir, path int) fileCall {
		return fileCall{name: name, files: [][2]int{{dir, path}}, flags: changes}
	}
	c := calls{
		syscall.SYS_OPENAT:    {name: "openat", files: [][2]int{{0, 1}}, flags: 2},
		sysOpenat2:            {name: "openat2", files: [][2]int{{0, 1}}, flags: inHow},
		syscall.SYS_RENAMEAT:  {name: "renameat", files: [][2]int{{0, 1}, {2, 3}}, flags: changes},
		sysRenameat2:          {name: "renameat2", files: [][2]int{{0, 1}, {2, 3}}, flags: changes},
		syscall.SYS_MKDIRAT:   change("mkdirat", 0, 1),
		syscall.SYS_UNLINKAT:  change("unlinkat", 0, 1),
		syscall.SYS_LINKAT:    change("linkat", 2, 3),
		syscall.SYS_SYMLINKAT: change("symlinkat", 1, 2),
		syscall.SYS_MKNODAT:   change("mknodat", 0, 1),
		syscall.SYS_FCHMODAT:  change("fchmodat", 0, 1),
		syscall.SYS_FCHOWNAT:  change("fchownat", 0, 1),
		syscall.SYS_UTIMENSAT: change("utimensat", 0, 1),
		syscall.SYS_TRUNCATE:  change("truncate", argCwd, 0),
		syscall.SYS_SETXATTR:  change("setxattr", argCwd, 0),
		syscall.SYS_LSETXATTR: change("lsetxattr", argCwd, 0),
	}
	maps.Copy(c, oldFileCalls())
	return c
}

func isOpen(call string) bool { return strings.HasPrefix(call, "open") }

// read is what a call asks for, as events without a process; none for most. What
// can not be read is no reason to leave a call out.
func (c calls) read(tid int, d callData) []event {
	if f, ok := c[d.nr]; ok {
		return f.read(tid, d)
	}
	one := func(call string, at, n uint64) []event {
		if at == 0 || n == 0 {
			return nil // on a socket that is connected
		}
		return []event{{Call: call, Address: addressAt(tid, at, n)}}
	}
	switch d.nr {
	case syscall.SYS_CONNECT:
		return one("connect", d.args[1], d.args[2])
	case syscall.SYS_BIND:
		return one("bind", d.args[1], d.args[2])
	case syscall.SYS_LISTEN:
		return []event{{Call: "listen"}}
	case syscall.SYS_SENDTO:
		return one("sendto", d.args[4], d.args[5])
	case syscall.SYS_SENDMSG:
		return messages(tid, "sendmsg", d.args[1], 1)
	case sysSendmmsg:
		return messages(tid, "sendmmsg", d.args[1], d.args[2])
	case sysIOUringSetup:
		return []event{{Call: "io_uring_setup"}}
	}
	return nil
}

func addressAt(tid int, at, n uint64) string {
	b, err := memory(tid, at, min(uint64(uint32(n)), maxAddress))
	if err != nil {
		return fmt.Sprintf("not readable: %v", err)
	}
	return address(b)
}

// messages reads the addresses of an array of struct mmsghdr, of which one
// struct msghdr is the beginning: a pointer and a length.
func messages(tid int, call string, at, n uint64) []event {
	const size = 64
	var events []event
	for i := range min(n, maxMessages) {
		b, err := memory(tid, at+i*size, 12)
		if err != nil {
			return append(events, event{Call: call, Address: fmt.Sprintf("not readable: %v", err)})
		}
		if name, length := u64(b), u32(b[8:]); name != 0 && length != 0 {
			events = append(events, event{Call: call, Address: addressAt(tid, name, length)})
		}
	}
	return events
}

// read is what a call does to the files that it names.
func (f fileCall) read(tid int, d callData) []event {
	access := accessWrite
	switch f.flags {
	case changes:
	case inHow:
		access = accessOf(0)
		if b, err := memory(tid, d.args[2], 8); err == nil {
			access = accessOf(u64(b))
		}
	default:
		access = accessOf(d.args[f.flags])
	}
	var events []event
	for _, args := range f.files {
		dir := int32(fdCwd)
		if args[0] != argCwd {
			dir = int32(d.args[args[0]])
		}
		name := ""
		if at := d.args[args[1]]; at != 0 {
			var err error
			if name, err = cString(tid, at); err != nil {
				name = fmt.Sprintf("/not readable: %v", err)
			}
		}
		events = append(events, event{Call: f.name, Path: absolute(tid, dir, name), Access: access})
	}
	return events
}

// accessOf is what the flags of an open are good for.
func accessOf(flags uint64) string {
	const tmpfile = 0x400000 // __O_TMPFILE: O_DIRECTORY comes with it
	switch {
	case flags&oPath != 0:
		return accessPlace
	case flags&(syscall.O_ACCMODE|syscall.O_CREAT|syscall.O_TRUNC|tmpfile) != 0:
		return accessWrite
	case flags&syscall.O_DIRECTORY != 0:
		return accessPlace
	}
	return accessRead
}

// absolute is a name as the kernel will look it up, links not followed.
func absolute(tid int, dir int32, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	link := "fd/" + strconv.Itoa(int(dir))
	if dir == fdCwd {
		link = "cwd"
	}
	at, err := os.Readlink("/proc/" + strconv.Itoa(tid) + "/" + link)
	if err != nil {
		at = fmt.Sprintf("/not readable: %v", err)
	}
	return filepath.Join(at, name)
}

// realName is where an open ended, if that is not the name it was given.
func realName(tid, fd int, path string) string {
	name, err := os.Readlink("/proc/" + strconv.Itoa(tid) + "/fd/" + strconv.Itoa(fd))
	if err != nil {
		return fmt.Sprintf("/not readable: %v", err)
	}
	if name == path {
		return ""
	}
	return name
}
