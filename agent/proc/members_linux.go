package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// members lists the live processes of the session that pid has made; without
// /proc, its process group.
func members(pid int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return group(pid)
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // Processes come and go anyway.
	var out []int
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// Asking costs a tenth of reading, and few are ours.
		if id, _, e := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(n), 0, 0); e != 0 || int(id) != pid {
			continue
		}
		if stat, err := os.ReadFile("/proc/" + name + "/stat"); err == nil && lives(stat) {
			out = append(out, n)
		}
	}
	return out
}

// lives reads the state in proc_pid_stat(5): "PID (NAME) STATE …". A name may
// hold spaces and brackets, so fields count from the last bracket. A dead
// process that nobody has waited for is none.
func lives(stat []byte) bool {
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(f) > 0 && string(f[0]) != "Z" && string(f[0]) != "X"
}
