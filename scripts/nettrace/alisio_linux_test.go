//go:build amd64 || arm64

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// user is somebody with a repository, empty homes and the program as it is
// released.
type user struct {
	alisio, dir string
	// more is added to the environment.
	more []string
}

// programs are built once for all tests that trace the program.
type programs struct{ alisio, fakellm string }

func newPrograms(t *testing.T) programs {
	t.Helper()
	// The kernel tells names without links.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lookAtSources(t)
	p := programs{alisio: filepath.Join(dir, "alisio"), fakellm: filepath.Join(dir, "fakellm")}
	for file, pkg := range map[string]string{p.alisio: "alisio", p.fakellm: "alisio/scripts/fakellm"} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", file, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // static, as releases are
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", pkg, err, out)
		}
	}
	return p
}

func (u *user) work() string { return filepath.Join(u.dir, "work") }

func (u *user) env() []string {
	in := func(name string) string { return filepath.Join(u.dir, name) }
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + in("home"), "TMPDIR=" + in("tmp"), "LANG=C.UTF-8", "TERM=dumb",
		"ALISIO_CONFIG_HOME=" + in("config"), "ALISIO_STATE_HOME=" + in("state"), "ALISIO_CACHE_HOME=" + in("cache"),
	}, u.more...)
}

// lookAtSources makes the go command take an earlier result of these tests for stale
// when the program has changed: of what go build reads it does not know.
func lookAtSources(t *testing.T) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") || d.Name() == "go.mod":
			n++
			_, err = os.Stat(name)
		}
		return err
	})
	if err != nil || n < 100 {
		t.Fatalf("%d sources are seen, %v", n, err)
	}
}

// newUser makes homes and a repository of one file.
func newUser(t *testing.T, p programs) *user {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &user{alisio: p.alisio, dir: dir}
	for _, name := range []string{"work", "home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(u.work(), "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = u.work(), u.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return u
}

// serve starts a scripted model server on a loopback address and returns its
// host and port.
func (p programs) serve(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, p.fakellm, file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // It was killed.
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on http://")
	if err != nil || !ok {
		t.Fatalf("the server says %q, %v", line, err)
	}
	host, _, _ := strings.Cut(url, "/")
	return host
}

// everyTool calls each built-in tool once, then answers for ever.
const everyTool = `{"replies": [
  {"calls": [
    {"name": "list_files", "arguments": {}},
    {"name": "read_file", "arguments": {"path": "notes.txt"}},
    {"name": "search_text", "arguments": {"pattern": "milk"}},
    {"name": "git_status", "arguments": {}},
    {"name": "git_diff", "arguments": {}}]},
  {"capture": {"NOTES": "(?m)^notes\\.txt.*sha256: ([0-9a-f]{64})"}, "calls": [
    {"name": "edit_file", "arguments": {"path": "notes.txt", "oldText": "milk", "newText": "tea", "expectedHash": "${NOTES}"}},
    {"name": "write_file", "arguments": {"path": "sub/new.txt", "content": "x\n", "expectedHash": null}},
    {"name": "run_process", "arguments": {"command": "cat", "args": ["notes.txt"]}},
    {"name": "shell", "arguments": {"command": "cat /etc/hosts"}}]},
  {"text": "Done.", "repeat": -1}]}`

// place is something outside of homes and workspace that our processes may open.
type place struct {
	// names matches whole names.
	names string
	// git: only git may, which we start.
	git    bool
	access string
	reason string
}

func places() []place {
	return []place{
		{names: `/proc/(self|\d+)/(cgroup|mountinfo)`, access: accessRead, reason: "the Go runtime counts the processors that it may use"},
		{names: `/sys/fs/cgroup(/.*)?/(cpu\.max|cpu\.cfs_(quota|period)_us)`, access: accessRead, reason: "likewise"},
		{names: `/sys/kernel/mm/transparent_hugepage/hpage_pmd_size`, access: accessRead, reason: "the Go runtime's memory"},
		{names: `/sys/devices/system/cpu/online`, access: accessRead, reason: "likewise"},
		{names: `/proc/sys/kernel/random/boot_id`, access: accessRead, reason: "whether the holder of a lock is of this start of the machine"},
		{names: `/proc/(self|\d+)/stat`, access: accessRead, reason: "when the holder of a lock, or a tool's process, was started"},
		{names: `/proc/stat`, access: accessRead, reason: "likewise, in ticks since the machine's start"},
		{names: `/proc|/proc/(self|\d+)/fd|/dev/fd`, access: accessRead, reason: "which processes a tool has left behind"},
		{names: `/etc/localtime|/usr/share/zoneinfo/.*`, access: accessRead, reason: "times for people, and git's"},
		{names: `/dev/null`, access: accessRead, reason: "the standard input of programs"},
		{names: `/dev/urandom`, access: accessRead, reason: "SQLite's random numbers"},

		{git: true, names: `/dev/null`, access: accessRead + accessWrite, reason: "git makes sure that its three streams are open"},
		{git: true, names: `/etc/git(config|attributes)`, access: accessRead, reason: "the machine's settings of git"},
		{git: true, names: `/etc/ld\.so\.(cache|preload)|(/usr)?/lib(32|64)?/.*\.so[.\d]*`, access: accessRead, reason: "git is no static program"},
		{git: true, names: `/usr/(lib|share)/locale/.*|/usr/lib/.*/gconv/.*`, access: accessRead, reason: "git's messages"},
	}
}

// certificates are opened for an https server alone.
const certificates = `/etc/(ssl|pki)(/.*)?|/usr/(local/)?share/(ca-certificates|certs)(/.*)?|/etc/ca-certificates(/.*)?|/etc/openssl/.*`

// ours reports whether an event is of the program itself or of a git that it has
// started. What another program does that a tool was asked to run is the business
// of who allowed it.
func (u *user) ours(e event) bool { return e.Program == u.alisio || filepath.Base(e.Program) == "git" }

// complaints are what our processes did beyond what may be done: open, by the
// table of places and more, and send, to one of addresses.
func (u *user) complaints(events []event, addresses []string, more ...place) []string {
	var out []string
	complain := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, e := range events {
		switch {
		case !u.ours(e):
		case e.Call == "exec":
		case e.Call == "connect" && slices.Contains(addresses, e.Address):
		case e.Path == "":
			complain("%s: %s %s", e.Program, e.Call, e.Address)
		default:
			for _, name := range []string{e.Path, e.Real} {
				if name != "" && !u.mayOpen(e, name, more) {
					complain("%s: %s %s to %s", e.Program, e.Call, name, e.Access)
				}
			}
		}
	}
	return out
}

// mayOpen reports whether a file is below the homes or the workspace, or in a row.
func (u *user) mayOpen(e event, name string, more []place) bool {
	for _, home := range []string{"config", "state", "cache", "work"} {
		dir := filepath.Join(u.dir, home)
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	if strings.HasPrefix(name, filepath.Join(u.dir, "home")+"/") && e.Access == accessRead {
		return true
	}
	for _, p := range append(places(), more...) {
		isGit := filepath.Base(e.Program) == "git"
		if (isGit || !p.git) && strings.Contains(p.access, e.Access) && regexp.MustCompile(`^(`+p.names+`)$`).MatchString(name) {
			return true
		}
	}
	return false
}

// run runs the program and checks what it did: it connects to all of addresses and
// to nothing else.
func (u *user) run(t *testing.T, code int, addresses []string, more []place, args ...string) traced {
	t.Helper()
	got := traceOf(t, u.work(), u.env(), nil, append([]string{u.alisio}, args...)...)
	if got.code != code {
		t.Fatalf("alisio %q: exit code %d, want %d\n%s%s", args, got.code, code, got.stdout, got.stderr)
	}
	if first := find(got.events, event{Call: "exec"}); len(first) == 0 || first[0].Program != u.alisio {
		t.Fatalf("alisio %q: the trace begins with %+v", args, first)
	}
	for _, c := range u.complaints(got.events, addresses, more...) {
		t.Errorf("alisio %q: %s", args, c)
	}
	for _, a := range addresses {
		if len(find(got.events, event{Call: "connect", Address: a})) == 0 {
			t.Errorf("alisio %q: no connection to %s is seen", args, a)
		}
	}
	return got
}

// alone runs the program as run does, without a network, and without any other
// program.
func (u *user) alone(t *testing.T, code int, args ...string) traced {
	t.Helper()
	got := u.run(t, code, nil, nil, args...)
	if started := find(got.events, event{Call: "exec"}); len(started) != 1 {
		t.Errorf("alisio %q starts programs: %+v", args, started[1:])
	}
	return got
}

// Spec providers.md, "Trust in transport": what the program contacts is the
// configured endpoint and nothing else.
func TestNetworkTrace(t *testing.T) {
	p := newPrograms(t)
	t.Run("whole", func(t *testing.T) { wholeRun(t, p) })
	t.Run("localhost", func(t *testing.T) { localhost(t, p) })
	t.Run("proxy", func(t *testing.T) { throughProxy(t, p) })
}

// A whole run, from the first start on, connects to the endpoint alone and looks up
// no name. What needs no model connects to nothing.
func wholeRun(t *testing.T, p programs) {
	u := newUser(t, p)
	server := p.serve(t, everyTool)
	task := func(words ...string) []string {
		return append(words, "-m", "toy", "--base-url", "http://"+server+"/v1", "--allow-write", "--allow-process")
	}

	u.alone(t, 2)
	u.alone(t, 0, "--version")
	u.alone(t, 0, "help")
	u.alone(t, 0, "help", "run")
	u.alone(t, 0, "sessions", "list")
	u.alone(t, 0, "doctor", "--store")
	u.alone(t, 0, "completion", "bash")
	u.alone(t, 0, "completion", "--words", "--", "sess")
	u.alone(t, 0, "setup", "--base-url", "http://"+server+"/v1")
	u.alone(t, 0, "config", "show")
	u.alone(t, 0, "context", "explain")
	u.alone(t, 0, "trust", "list")
	probe := place{names: regexp.QuoteMeta(u.dir) + "/[.]alisio-doctor-[0-9]+", access: accessWrite,
		reason: "whether the homes can be made is tried out where they would be"}
	alias := place{names: "/etc/locale[.]alias", access: accessRead, reason: "of git, which asks for its version"}
	u.run(t, 1, nil, []place{probe, alias}, "doctor") // no model is chosen yet

	first := u.run(t, 0, []string{server}, nil, task("run", "--json", "use every tool")...)
	for _, tool := range []string{
		"list_files", "read_file", "search_text", "git_status", "git_diff", "edit_file", "write_file", "run_process", "shell",
	} {
		if !regexp.MustCompile(`"type":"tool_completed".*"name":"` + tool + `".*"isError":false`).MatchString(first.stdout) {
			t.Errorf("the tool %s did not work:\n%s", tool, first.stdout)
		}
	}
	// What a tool's program does is seen and not counted.
	if hosts := find(first.events, event{Call: "openat", Path: "/etc/hosts"}); len(hosts) != 1 || u.ours(hosts[0]) {
		t.Errorf("cat /etc/hosts is seen as %+v", hosts)
	}

	u.run(t, 0, []string{server}, nil, task("resume", "--last", "go on")...)
	list := u.alone(t, 0, "sessions", "list", "--json").stdout
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(list)
	if id == nil {
		t.Fatalf("no session in %q", list)
	}
	u.alone(t, 0, "sessions", "show", id[1])
	u.alone(t, 0, "sessions", "show", id[1], "--json")
	u.alone(t, 0, "sessions", "export", id[1])
	u.alone(t, 0, "sessions", "export", id[1], "--output", "out.jsonl")
	u.alone(t, 0, "sessions", "import", "out.jsonl", "--db", "other.sqlite")
	u.alone(t, 0, "doctor", "--store")

	demo := place{names: regexp.QuoteMeta(filepath.Join(u.dir, "tmp")) + "(/.*)?", access: accessRead + accessWrite + accessPlace,
		reason: "the demonstration's repository is a temporary directory"}
	u.run(t, 0, nil, []place{demo}, "demo")
}

// "localhost" is this machine: no file and no server is asked which address it has.
func localhost(t *testing.T, p programs) {
	u := newUser(t, p)
	server := p.serve(t, `{"replies": [{"text": "Here.", "repeat": -1}]}`)
	_, port, err := net.SplitHostPort(server)
	if err != nil {
		t.Fatal(err)
	}
	got := traceOf(t, u.work(), u.env(), nil, u.alisio, "run", "-m", "toy", "--base-url", "http://localhost:"+port+"/v1", "hello")
	if got.code != 0 || got.stdout != "Here.\n" {
		t.Fatalf("exit code %d: %q, %q", got.code, got.stdout, got.stderr)
	}
	for _, c := range u.complaints(got.events, []string{server, "[::1]:" + port}) {
		t.Error(c)
	}
	if len(find(got.events, event{Call: "connect", Address: server})) == 0 {
		t.Errorf("no connection to %s is seen", server)
	}
}

// With a proxy it is the proxy that looks the server's name up and connects to it.
func throughProxy(t *testing.T, p programs) {
	u := newUser(t, p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100) // more are dropped; one is enough
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.Method + " " + r.Host:
		default:
		}
		w.WriteHeader(http.StatusForbidden)
	})}
	done := make(chan error, 1)
	go func() { done <- proxy.Serve(l) }()
	defer func() {
		proxy.Close()
		<-done
	}()
	u.more = []string{"HTTPS_PROXY=http://" + l.Addr().String(), "OPENAI_API_KEY=sk-test"}
	tls := place{names: certificates, access: accessRead + accessPlace, reason: "https"}
	got := u.run(t, 7, []string{l.Addr().String()}, []place{tls}, "run", "-m", "toy", "--base-url", "https://model.invalid/v1", "hello")
	select {
	case what := <-asked:
		if what != "CONNECT model.invalid:443" {
			t.Errorf("the proxy is asked for %q", what)
		}
	default:
		t.Errorf("the proxy is not asked: %s", got.stderr)
	}
}

// The judgement itself can find fault: each of these is something that no run may
// do.
func TestComplaints(t *testing.T) {
	u := &user{alisio: "/bin/alisio", dir: "/u"}
	for _, c := range []struct {
		e    event
		want string
	}{
		{event{Program: u.alisio, Call: "connect", Address: "127.0.0.1:2"}, "/bin/alisio: connect 127.0.0.1:2"},
		{event{Program: u.alisio, Call: "bind", Address: "127.0.0.1:1"}, "/bin/alisio: bind 127.0.0.1:1"},
		{event{Program: u.alisio, Call: "listen"}, "/bin/alisio: listen "},
		{event{Program: "/usr/bin/git", Call: "connect", Address: "127.0.0.1:2"}, "/usr/bin/git: connect 127.0.0.1:2"},
		{event{Program: u.alisio, Call: "openat", Path: "/etc/resolv.conf", Access: accessRead}, "/bin/alisio: openat /etc/resolv.conf to read"},
		{event{Program: u.alisio, Call: "openat", Path: "/etc/gitconfig", Access: accessRead}, "/bin/alisio: openat /etc/gitconfig to read"},
		{event{Program: u.alisio, Call: "openat", Path: "/dev/null", Access: accessWrite}, "/bin/alisio: openat /dev/null to write"},
		{event{Program: u.alisio, Call: "openat", Path: "/u/state/link", Real: "/etc/shadow", Access: accessRead}, "/bin/alisio: openat /etc/shadow to read"},
		{event{Program: u.alisio, Call: "mkdirat", Path: "/u/home/.alisio", Access: accessWrite}, "/bin/alisio: mkdirat /u/home/.alisio to write"},
		{event{Program: u.alisio, Call: "openat", Path: "/u/workshop", Access: accessRead}, "/bin/alisio: openat /u/workshop to read"},
		{event{Program: u.alisio, Call: "io_uring_setup"}, "/bin/alisio: io_uring_setup "},
		{event{Program: u.alisio, Call: "foreign"}, "/bin/alisio: foreign "},

		{event{Program: u.alisio, Call: "connect", Address: "127.0.0.1:1"}, ""},
		{event{Program: "/usr/bin/curl", Call: "connect", Address: "192.0.2.1:80"}, ""},
		{event{Program: u.alisio, Call: "openat", Path: "/u/state/x", Access: accessWrite}, ""},
		{event{Program: "/usr/bin/git", Call: "openat", Path: "/etc/gitconfig", Access: accessRead}, ""},
	} {
		if got := strings.Join(u.complaints([]event{c.e}, []string{"127.0.0.1:1"}), "\n"); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.e, got, c.want)
		}
	}
}
