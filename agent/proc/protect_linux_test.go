package proc

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// An allowed program must reach neither the key in our environment nor our
// output, and the key variable must be gone for what we run. Root reaches
// everything, so that the parent is another user here.
func TestProtect(t *testing.T) {
	if mode := os.Getenv("PROC_TEST_PROTECT"); mode != "" {
		if mode == "yes" {
			Protect()
		}
		e, err := Run(t.Context(), Command{Dir: "/", Shell: `exec 2>/dev/null
			tr '\0' '\n' < /proc/$PPID/environ | grep '^PROC_TEST_API_KEY'
			(echo injected > /proc/$PPID/fd/1) && echo written
			head -c 1 /proc/$PPID/mem; ls /proc/$PPID/fd/ | head -1; echo end`}, nil)
		t.Logf("parent has %q, program: %q, %v", os.Getenv("PROC_TEST_API_KEY"), e.Output, err)
		return
	}
	for mode, want := range map[string][]string{
		"no":  {`parent has "hidden"`, `PROC_TEST_API_KEY=hidden\n`, "injected\n", `written\n0\nend\n", <nil>`},
		"yes": {`parent has ""`, `program: "end\n", <nil>`},
	} {
		out := asNobody(t, "^TestProtect$", "PROC_TEST_PROTECT="+mode, "PROC_TEST_API_KEY=hidden")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("Protect %s: no %q in\n%s", mode, w, out)
			}
		}
		if mode == "yes" && (strings.Contains(out, "hidden") || strings.Contains(out, "injected")) {
			t.Errorf("Protect did not protect:\n%s", out)
		}
	}
}

// asNobody runs a test of this binary in a process without privileges and
// returns its output. The binary lies where only its owner may look: it is
// handed over as a descriptor.
func asNobody(t *testing.T, test string, env ...string) string {
	t.Helper()
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/fd/3", Args: []string{"proc.test", "-test.run=" + test, "-test.v"}, Dir: "/",
		Env: append([]string{"PATH=" + os.Getenv("PATH")}, env...), Stdout: w, Stderr: w, ExtraFiles: []*os.File{exe},
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		// Of another user's pipe only the descriptor can be used.
		if err := w.Chown(65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
