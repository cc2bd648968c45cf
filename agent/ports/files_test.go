package ports

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/tools"
	"alisio/agent/workspace"
	"alisio/plug"
)

// What tools show of a file and of a program's output is cut to size: lines,
// pages, head and tail. A key that a cut went through was not found any more and
// survived in halves. Trigger: a file with the key as often as it takes to have
// one under every cut, shifted byte by byte.
func TestNoCutLeavesAPartOfTheKey(t *testing.T) {
	const key = "sk-0123456789-abcdefghijklmno"
	dir := t.TempDir()
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	shown := ""
	note := func(s string) { shown += s }
	for n := range len(key) {
		text := strings.Repeat("p", n) + strings.Repeat(key, 3000) + "\nlast of the many lines that tell nothing " + strings.Repeat(key, 30) + "\n"
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		shown = ""
		c := plug.Call{Files: Files(w, nil, []string{key}), Exec: Exec(w, []string{key}, false), Progress: note}
		for _, call := range []string{
			`read_file {"path":"a.txt"}`,
			fmt.Sprintf(`read_file {"path":"a.txt","startByte":%d}`, 8000+n),
			`search_text {"pattern":"p*sk-01234","limit":5}`,
			`search_text {"pattern":"last","context":1}`,
			fmt.Sprintf(`search_text {"pattern":".{%d}lmno"}`, 900+n),
			`edit_file {"path":"a.txt","oldText":"last of the many lines that tell nothing [redacted] more","newText":"x","expectedHash":"` + fmt.Sprintf("%x", sha256.Sum256([]byte(text))) + `"}`,
			`run_process {"command":"cat","args":["a.txt"]}`,
		} {
			name, args, _ := strings.Cut(call, " ")
			c.Args = json.RawMessage(args)
			got := carryOut(t, name, &c)
			if !strings.Contains(got+shown, "[redacted]") {
				t.Errorf("%s shows nothing of the key's place: %.300q", call, got)
			}
			for i := range len(key) - 7 {
				if part := key[i : i+8]; strings.Contains(got, part) || strings.Contains(shown, part) {
					t.Fatalf("shift %d: %s: %q is shown", n, call, part)
				}
			}
		}
	}
}

// carryOut gives all that comes of a call.
func carryOut(t *testing.T, name string, c *plug.Call) string {
	t.Helper()
	for _, tool := range tools.All() {
		if tool.Spec().Name != name {
			continue
		}
		p, err := tool.Prepare(t.Context(), c)
		if err != nil {
			return err.Error()
		}
		r, err := tool.Execute(t.Context(), c, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	t.Fatalf("no tool %s", name)
	return ""
}
