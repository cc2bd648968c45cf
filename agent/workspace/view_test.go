package workspace

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// What a person approved in one session opens nothing to another one.
func TestViewsApproveForThemselves(t *testing.T) {
	root, outside, added := tree(t), tree(t), tree(t)
	w, err := Open(root, added)
	if err != nil {
		t.Fatal(err)
	}
	one, two := w.View(), w.View()
	inside := func(v *Workspace, dir string) bool {
		target, err := v.Resolve(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		return target.Inside
	}
	revoke, err := one.Approve(outside)
	if err != nil {
		t.Fatal(err)
	}
	if !inside(one, outside) || inside(two, outside) || inside(w, outside) || inside(one.View(), outside) {
		t.Error("an approval is not that of one view alone")
	}
	revoke()
	if inside(one, outside) {
		t.Error("a revoked approval stays")
	}
	// A directory that was named at start stays, however often it is approved.
	for range 3 {
		revoke, err := one.Approve(added)
		if err != nil {
			t.Fatal(err)
		}
		revoke()
	}
	if !inside(one, added) || !inside(two, added) {
		t.Error("a named directory was taken away")
	}
	if _, err := two.Approve(outside); err != nil {
		t.Fatal(err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(root, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := w.OpenFile("f"); err != nil {
		t.Errorf("the workspace after its views were closed: %v", err)
	} else {
		f.Close()
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Views approve, write and look at the same time (run with -race).
func TestViewsAtTheSameTime(t *testing.T) {
	root, outside := tree(t), tree(t)
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var wg sync.WaitGroup
	created := make(chan bool, 8) // one for each writer
	for range 8 {
		wg.Go(func() {
			v := w.View()
			defer v.Close()
			for _, dir := range []string{outside, root} {
				revoke, err := v.Approve(dir)
				if err != nil {
					t.Error(err)
					return
				}
				defer revoke()
			}
			_, err := v.Write(context.Background(), Write{Path: "new", Data: []byte("x")})
			created <- err == nil
		})
	}
	wg.Wait()
	close(created)
	n := 0
	for ok := range created {
		if ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d writers have made the same new file", n)
	}
}
