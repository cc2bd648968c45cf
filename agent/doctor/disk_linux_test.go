package doctor

import (
	"strings"
	"testing"

	"alisio/agent"
)

func TestMountedAt(t *testing.T) {
	const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:20 / /net\040home rw shared:2 master:1 - nfs4 server:/x rw
24 22 0:21 / /a rw - tmpfs tmpfs rw
25 24 0:22 / /a rw - btrfs /dev/sdb rw
broken line
26 22 0:23
`
	for dir, want := range map[string]string{"/": "ext4", "/net home/b": "nfs4", "/net": "ext4", "/a/b": "btrfs", "/ab": "ext4"} {
		if got := mountedAt(strings.NewReader(table), dir); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
	for in, want := range map[string]string{`a\040b\134`: `a b\`, `\`: `\`, `\99`: `\99`, `\777`: `\777`} {
		if got := unescaped(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestRemote(t *testing.T) {
	for kind, want := range map[string]bool{"nfs4": true, "fuse.sshfs": true, "cifs": true, "ext4": false, "fuse": false, "": false} {
		if got := remote(kind); got != want {
			t.Errorf("%s: got %v", kind, got)
		}
	}
}

// /proc takes no file, not even from root.
func TestDoctorOfAStateThatCanNotBeWritten(t *testing.T) {
	p := sound(t, "http://127.0.0.1:1")
	p.o.App.Dirs.State = "/proc/self"
	if checks := Examine(t.Context(), p.o); !found(checks, "state directory", agent.Problem, "nothing can be written in /proc/self", "set ALISIO_STATE_HOME") {
		t.Errorf("got:\n%s", listing(checks))
	}
	p.o.App.Dirs.State = "/proc/self/none"
	if checks := Examine(t.Context(), p.o); !found(checks, "state directory", agent.Problem, "nothing can be written in /proc/self", "set ALISIO_STATE_HOME") {
		t.Errorf("got:\n%s", listing(checks))
	}
}
