package lock

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	// procLimit bounds what is read of a file in /proc.
	procLimit = 1 << 16
	// ticksPerSecond is USER_HZ, the unit of times in /proc/PID/stat: 100 on
	// every architecture that Go builds for.
	ticksPerSecond = 100
	// startField is the number of starttime in /proc/PID/stat, counted from one
	// (proc_pid_stat(5)).
	startField = 22
)

// bootID changes with each start of the machine.
func bootID() string {
	text, err := readProc("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// processExists also counts a process of another user. A zombie does no more
// work: it is none.
func processExists(pid int) bool {
	err := syscall.Kill(pid, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	fields := statFields(pid)
	return len(fields) == 0 || fields[0] != "Z" && fields[0] != "X"
}

// processStart is in ticks since the machine started.
func processStart(pid int) (int64, bool) {
	fields := statFields(pid)
	// The first of the fields is number three of the file.
	if len(fields) <= startField-3 {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[startField-3], 10, 64)
	return n, err == nil && n > 0
}

// processStartMs is in ms since the epoch, by the clock as it is set now.
func processStartMs(pid int) (int64, bool) {
	ticks, ok := processStart(pid)
	if !ok {
		return 0, false
	}
	boot, ok := bootTime()
	return boot*1000 + ticks*1000/ticksPerSecond, ok
}

// statFields returns the fields of /proc/PID/stat from the state on. The name
// before it stands in parentheses and may hold spaces, line ends and ")".
func statFields(pid int) []string {
	text, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return splitStat(text)
}

func splitStat(text []byte) []string {
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return nil
	}
	return strings.Fields(string(text[i+1:]))
}

// bootTime is when the machine started, in seconds since the epoch.
func bootTime() (int64, bool) {
	text, err := readProc("/proc/stat")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n, err == nil && n > 0
		}
	}
	return 0, false
}

func readProc(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, procLimit))
}
