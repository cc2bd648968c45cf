package proc

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// members lists the live processes of the session that pid has made; without
// /proc, its process group.
func members(pid int) []int {
	all := processes()
	if all == nil {
		return group(pid)
	}
	// Asking costs a tenth of reading, and few are ours.
	return slices.DeleteFunc(all, func(n int) bool { return session(n) != pid || !lives(stat(n)) })
}

// writers lists the live processes that hold the writing end of pipe, with their
// sessions: those who left the program's session. What is older than the program
// is none of its children, but may hold the pipe, as a server that was handed it.
func writers(pipe *os.File, since uint64) []int {
	info, err := pipe.Stat()
	if err != nil || since == 0 {
		return nil
	}
	end := ""
	if inode, ok := info.Sys().(*syscall.Stat_t); ok {
		end = fmt.Sprintf("pipe:[%d]", inode.Ino)
	}
	young := slices.DeleteFunc(processes(), func(n int) bool {
		s := stat(n)
		return session(n) == session(0) || !lives(s) || began(s) < since
	})
	var held []int // sessions
	for _, n := range young {
		if holds(n, end) {
			held = append(held, session(n))
		}
	}
	return slices.DeleteFunc(young, func(n int) bool { return !slices.Contains(held, session(n)) })
}

// holds reports whether a process has a descriptor of this name to write to.
func holds(pid int, name string) bool {
	path := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(path) // Those of another user can not be read.
	return slices.ContainsFunc(fds, func(fd os.DirEntry) bool {
		if to, err := os.Readlink(path + "/" + fd.Name()); err != nil || to != name {
			return false
		}
		info, err := fd.Info()
		return err == nil && info.Mode()&0o200 != 0
	})
}

// processes lists all there are; nil is none, as without /proc.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // Processes come and go anyway.
	var out []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// session is that of a process, 0 if it is gone.
func session(pid int) int {
	id, _, e := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if e != 0 {
		return 0
	}
	return int(id)
}

func stat(pid int) [][]byte {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // None is that of no process.
	return fields(line)
}

// fields are those of proc_pid_stat(5) from the third on: "PID (NAME) STATE …".
// A name may hold spaces and brackets, so they count from the last bracket.
func fields(stat []byte) [][]byte {
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}

// lives: a dead process that nobody has waited for is none.
func lives(stat [][]byte) bool {
	return len(stat) > 0 && string(stat[0]) != "Z" && string(stat[0]) != "X"
}

// began is when a process began, in ticks since the system did; 0 is unknown.
func began(stat [][]byte) uint64 {
	if len(stat) < 20 {
		return 0
	}
	n, _ := strconv.ParseUint(string(stat[19]), 10, 64)
	return n
}

// since is when pid began. It may have ended, but must not have been waited for.
func since(pid int) uint64 { return began(stat(pid)) }
