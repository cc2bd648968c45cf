//go:build amd64 || arm64

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestMain lets the test binary be the tracer, by its name, and what the tracer
// has to find, by its first argument.
func TestMain(m *testing.M) {
	switch {
	case filepath.Base(os.Args[0]) == "nettrace":
		main()
	case len(os.Args) > 1 && os.Args[1] == "probe":
		if err := probe(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// patience bounds one traced program.
const patience = time.Minute

// traced is what a program did under the tracer.
type traced struct {
	events         []event
	code           int
	stdout, stderr string
}

// traceOf runs a command under the tracer, which is a process of its own: it
// waits for all children of its thread.
func traceOf(t *testing.T, dir string, env []string, attr *syscall.SysProcAttr, argv ...string) traced {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return traceBy(t, exe, dir, env, attr, argv...)
}

func traceBy(t *testing.T, exe, dir string, env []string, attr *syscall.SysProcAttr, argv ...string) traced {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, exe)
	// The descriptor is passed by number, so that whoever runs it may write there.
	cmd.Args = append([]string{"nettrace", "-o", "/proc/self/fd/3"}, argv...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, env, attr
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &stdout, &stderr, []*os.File{w}
	if attr != nil && attr.Credential != nil {
		if err := w.Chown(int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out := traced{}
	for d := json.NewDecoder(r); ; {
		var e event
		if err := d.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("events: %v", err)
			}
			break
		}
		out.events = append(out.events, e)
	}
	_ = cmd.Wait() // The exit code tells.
	out.code, out.stdout, out.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%q did not end in %v", argv, patience)
	case out.code == exitForbidden:
		t.Skip(strings.TrimSpace(out.stderr))
	case out.code == exitBroken:
		t.Fatalf("%q: %s", argv, out.stderr)
	}
	return out
}

// find returns the events that have all that want has.
func find(events []event, want event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool {
		return want.Call != e.Call ||
			want.Address != "" && want.Address != e.Address ||
			want.Path != "" && want.Path != e.Path ||
			want.Real != "" && want.Real != e.Real ||
			want.Access != "" && want.Access != e.Access ||
			want.Error != "" && want.Error != e.Error
	})
}

// probe is the program that the tracer has to see into: a child of a shell that is
// a child of what was started, in threads of its own. Its arguments are how many
// of these are to come, a TCP port on both loopback addresses, a socket, a name
// server and a directory to work in.
func probe(args []string) error {
	if args[0] == "protected" {
		_, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		dial(syscall.AF_INET, &syscall.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
		_, err := os.ReadFile("/etc/passwd")
		return err
	}
	depth, port, socket, server, dir := args[0], args[1], args[2], args[3], args[4]
	if depth != "0" {
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		out, err := exec.Command("/bin/sh", "-c", `"$0" probe 0 "$@" & wait $!`, exe, port, socket, server, dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, do := range []func(){
		func() { dial(syscall.AF_INET, &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}) },
		// Where there is no IPv6 the kernel refuses, and is asked all the same.
		func() { dial(syscall.AF_INET6, &syscall.SockaddrInet6{Port: n, Addr: [16]byte{15: 1}}) },
		func() { dial(syscall.AF_UNIX, &syscall.SockaddrUnix{Name: socket}) },
		func() { dial(syscall.AF_UNIX, &syscall.SockaddrUnix{Name: "@nowhere"}) },
		func() { datagrams(n) },
		func() { lookUp(server) },
		func() { files(dir) },
	} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread() // and never unlocked: a thread each
			do()
		}()
	}
	wg.Wait()
	return nil
}

// dial asks the kernel, whose answer does not matter.
func dial(family int, to syscall.Sockaddr) {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err == nil {
		defer syscall.Close(fd)
	}
	_ = syscall.Connect(fd, to)
}

// datagrams are the calls that have an address without a connection, each to a
// port of its own, and those of a server.
func datagrams(port int) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	to := func(n byte) *syscall.SockaddrInet4 {
		return &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 1, n}}
	}
	_ = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 1, 9}})
	_ = syscall.Sendto(fd, []byte("x"), 0, to(1))
	_ = syscall.Sendmsg(fd, []byte("x"), nil, to(2), 0)
	// Two messages in one call, the second with an address.
	raw := syscall.RawSockaddrInet4{Family: syscall.AF_INET, Port: uint16(port>>8 | port<<8), Addr: [4]byte{127, 0, 1, 3}}
	type message struct {
		head syscall.Msghdr
		sent uint32
	}
	list := [2]message{1: {head: syscall.Msghdr{Name: (*byte)(unsafe.Pointer(&raw)), Namelen: syscall.SizeofSockaddrInet4}}}
	_, _, _ = syscall.Syscall6(sysSendmmsg, uintptr(fd), uintptr(unsafe.Pointer(&list)), 2, 0, 0, 0)
	_ = syscall.Listen(fd, 1)
}

// lookUp asks a name server for a name that no file knows.
func lookUp(server string) {
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server)
	}}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	_, _ = r.LookupHost(ctx, "name.invalid.") // It is told that there is no such name.
}

// files opens and changes some, directly and below a directory.
func files(dir string) {
	inside := func(name string) string { return filepath.Join(dir, name) }
	_ = os.WriteFile(inside("made"), []byte("x"), 0o600)
	_ = os.Mkdir(inside("sub"), 0o700)
	_ = os.Symlink("made", inside("link"))
	_, _ = os.ReadFile(inside("link"))
	_ = os.Rename(inside("made"), inside("sub/moved"))
	_, _ = os.ReadFile(inside("none"))
	if root, err := os.OpenRoot(dir); err == nil {
		_, _ = root.ReadFile("sub/moved")
		_ = root.Remove("sub/moved")
		root.Close()
	}
	if os.Chdir(dir) == nil { // of the whole process; nobody else has a relative name
		_, _ = os.ReadFile("sub/none")
	}
	atTheEdge(inside("edge"))
	how := [3]uint64{syscall.O_WRONLY} // struct open_how
	name := append([]byte(inside("how")), 0)
	at := int64(fdCwd)
	_, _, _ = syscall.Syscall6(sysOpenat2, uintptr(at), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
}

// atTheEdge opens a name behind which there is no memory.
func atTheEdge(name string) {
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return
	}
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&b[page])), uintptr(page), 0)
	at := page - len(name) - 1
	copy(b[at:], name)
	cwd := int64(fdCwd)
	_, _, _ = syscall.Syscall6(syscall.SYS_OPENAT, uintptr(cwd), uintptr(unsafe.Pointer(&b[at])), syscall.O_RDONLY, 0, 0, 0)
}

// noSuchName answers every question that there is no such name.
func noSuchName(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 1024)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return // closed
			}
			if n > 12 {
				b[2], b[3] = 0x81, 0x83 // an answer, NXDOMAIN
				b[10], b[11] = 0, 0     // without the question's additional record
				end := 12 + bytes.IndexByte(b[12:n], 0) + 5
				_, _ = c.WriteTo(b[:min(n, end)], from)
			}
		}
	}()
	return c.LocalAddr().String()
}

// probed runs the probe under the tracer and returns what it did, beside what was
// asked of it.
func probed(t *testing.T, dir string) (got traced, port, socket, server string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	socket, server = filepath.Join(dir, "socket"), noSuchName(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return traceBy(t, exe, dir, os.Environ(), nil, exe, "probe", "1", port, socket, server, dir), port, socket, server
}

// A tracer that sees nothing finds no fault with anything: what a child of a child
// does in threads of its own has to be seen, each kind of call.
func TestEverythingIsSeen(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got, port, socket, server := probed(t, dir)
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	inside := func(name string) string { return filepath.Join(dir, name) }
	for _, want := range []event{
		{Call: "connect", Address: "127.0.0.1:" + port},
		{Call: "connect", Address: "[::1]:" + port},
		{Call: "connect", Address: "unix:" + socket, Error: "no such file or directory"},
		{Call: "connect", Address: "unix:@nowhere", Error: "connection refused"},
		{Call: "connect", Address: server},
		{Call: "openat", Path: "/etc/resolv.conf", Access: accessRead},
		{Call: "openat", Path: "/etc/hosts", Access: accessRead},
		{Call: "bind", Address: "127.0.1.9:0"},
		{Call: "sendto", Address: "127.0.1.1:" + port},
		{Call: "sendmsg", Address: "127.0.1.2:" + port},
		{Call: "sendmmsg", Address: "127.0.1.3:" + port},
		{Call: "listen"},
		{Call: "openat", Path: inside("made"), Access: accessWrite},
		{Call: "mkdirat", Path: inside("sub"), Access: accessWrite},
		{Call: "symlinkat", Path: inside("link"), Access: accessWrite},
		{Call: "openat", Path: inside("link"), Real: inside("made"), Access: accessRead},
		{Call: "openat", Path: inside("none"), Access: accessRead, Error: "no such file or directory"},
		{Call: "openat", Path: inside("sub/moved"), Access: accessRead},
		{Call: "openat", Path: inside("sub/none"), Access: accessRead, Error: "no such file or directory"},
		{Call: "openat", Path: inside("edge"), Access: accessRead, Error: "no such file or directory"},
		{Call: "unlinkat", Path: inside("sub/moved"), Access: accessWrite},
		{Call: "openat2", Path: inside("how"), Access: accessWrite, Error: "no such file or directory"},
	} {
		if len(find(got.events, want)) == 0 {
			t.Errorf("not seen: %+v", want)
		}
	}
	for _, name := range []string{"made", "sub/moved"} {
		if len(find(got.events, event{Call: "renameat", Path: inside(name)})) != 1 && len(find(got.events, event{Call: "rename", Path: inside(name)})) != 1 {
			t.Errorf("the move of %s is not seen", name)
		}
	}
	pids := map[int]bool{}
	for _, e := range find(got.events, event{Call: "exec"}) {
		pids[e.PID] = true
	}
	if started := find(got.events, event{Call: "exec"}); len(started) != 3 || len(pids) != 3 {
		t.Errorf("three programs run, seen: %+v", started)
	}
	last := find(got.events, event{Call: "exec"})[2].PID
	for _, e := range find(got.events, event{Call: "connect"}) {
		if e.PID != last || e.Program != exe {
			t.Errorf("connects only the last process, %d: %+v", last, e)
		}
	}
}

// What closes itself to others of its user is seen into all the same, by somebody
// who is not root.
func TestOfAProgramThatProtectsItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{}
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		const nobody = 65534
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		for up := dir; up != os.TempDir() && strings.HasPrefix(up, os.TempDir()); up = filepath.Dir(up) {
			if err := os.Chmod(up, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Where the test binary lies nobody may look.
	exe := filepath.Join(dir, "probe-of-nobody")
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	got := traceBy(t, exe, "/", os.Environ(), attr, exe, "probe", "protected")
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	for _, want := range []event{
		{Call: "openat", Path: "/etc/passwd", Access: accessRead},
		{Call: "connect", Address: "127.0.0.1:9"},
	} {
		if e := find(got.events, want); len(e) != 1 || e[0].Program != exe {
			t.Errorf("%+v: seen %+v", want, e)
		}
	}
}

// The traced program is the same as without us: its arguments, its output, its exit
// code, the signals that reach it, and a stop.
func TestTheProgramRunsAsAlone(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		stdout string
	}{
		{"exit 0", 0, ""},
		{"echo out; exit 3", 3, "out\n"},
		{"kill -KILL $$", 128 + 9, ""},
		{`trap 'echo caught; exit 4' TERM; kill -TERM $$; exit 5`, 4, "caught\n"},
		{"sh -c 'kill -STOP $$; exit 6'; echo $?", 0, "6\n"},
		{"(exit 7) & wait $!", 7, ""},
	} {
		got := traceOf(t, "/", os.Environ(), nil, "/bin/sh", "-c", c.script)
		if got.code != c.code || got.stdout != c.stdout || got.stderr != "" {
			t.Errorf("%s: exit code %d, %q, %q", c.script, got.code, got.stdout, got.stderr)
		}
	}
}

func TestWrongUse(t *testing.T) {
	for _, args := range [][]string{nil, {"-x"}, {"-o", "/dev/null"}, {"/no/such/program"}, {"-o", "/no/such/file", "true"}} {
		var stderr strings.Builder
		if code := run(args, &stderr); code != exitBroken || stderr.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}
