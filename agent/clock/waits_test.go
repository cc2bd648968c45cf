package clock

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// tree binds root <- child <- leaf, and an aunt beside child, all started.
func tree(h *HumanWaits) (root, child, leaf, aunt *Active) {
	root, child, leaf, aunt = new(Active), new(Active), new(Active), new(Active)
	for _, b := range []struct {
		session, parent string
		clock           *Active
	}{{"root", "", root}, {"child", "root", child}, {"leaf", "child", leaf}, {"aunt", "root", aunt}} {
		h.Bind(b.session, b.parent, b.clock)
		b.clock.Start()
	}
	return root, child, leaf, aunt
}

func TestWaitPausesSessionAndAncestors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		root, child, leaf, aunt := tree(&h)
		end := h.Begin("child")
		time.Sleep(time.Second)
		want(t, root, 0)
		want(t, child, 0)
		want(t, leaf, time.Second)
		want(t, aunt, time.Second)
		end()
		end()
		time.Sleep(time.Second)
		want(t, root, time.Second)
		want(t, child, time.Second)
		want(t, leaf, 2*time.Second)
	})
}

func TestWaitsNestAndOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		root, child, _, aunt := tree(&h)
		first := h.Begin("leaf")
		time.Sleep(time.Second)
		second := h.Begin("aunt")
		third := h.Begin("leaf")
		time.Sleep(time.Second)
		first()
		time.Sleep(time.Second)
		want(t, root, 0)
		want(t, child, 0)
		want(t, aunt, time.Second)
		third()
		time.Sleep(time.Second)
		want(t, root, 0)
		want(t, child, time.Second)
		second()
		time.Sleep(time.Second)
		want(t, root, time.Second)
		want(t, child, 2*time.Second)
		want(t, aunt, 2*time.Second)
		if len(h.waits) != 0 {
			t.Errorf("%d waits left", len(h.waits))
		}
	})
}

func TestBindDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		var root, child Active
		root.Start()
		child.Start()
		end := h.Begin("child") // nobody is bound yet
		h.Bind("root", "", &root)
		time.Sleep(time.Second)
		want(t, &root, time.Second)
		h.Bind("child", "root", &child) // joins the wait to root
		time.Sleep(time.Second)
		want(t, &root, time.Second)
		want(t, &child, time.Second)
		end()
		time.Sleep(time.Second)
		want(t, &root, 2*time.Second)
		want(t, &child, 2*time.Second)
	})
}

func TestUnbindDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		var root, child Active
		root.Start()
		child.Start()
		h.Bind("root", "", &root)
		unbind := h.Bind("child", "root", &child)
		end := h.Begin("child")
		unbind()
		unbind()
		time.Sleep(time.Second)
		want(t, &child, time.Second)
		want(t, &root, 0) // the person is still being asked
		end()
		time.Sleep(time.Second)
		want(t, &root, time.Second)
		if child.Paused() || len(h.bindings) != 1 {
			t.Errorf("child paused %v, %d bindings", child.Paused(), len(h.bindings))
		}
	})
}

func TestTwoRunsOfOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		var old, fresh Active
		old.Start()
		unbind := h.Bind("s", "", &old)
		end := h.Begin("s")
		unbind()
		fresh.Start()
		h.Bind("s", "", &fresh)
		time.Sleep(time.Second)
		want(t, &fresh, 0)
		end()
		time.Sleep(time.Second)
		want(t, &fresh, time.Second)
	})
}

func TestCircleOfParentsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		var a, b Active
		a.Start()
		b.Start()
		h.Bind("a", "b", &a)
		h.Bind("b", "a", &b)
		end := h.Begin("a")
		time.Sleep(time.Second)
		want(t, &a, 0)
		want(t, &b, 0)
		end()
		time.Sleep(time.Second)
		want(t, &a, time.Second)
		want(t, &b, time.Second)
	})
}

func TestConcurrentWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h HumanWaits
		root, child, _, _ := tree(&h)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				var own Active
				defer h.Bind("own", "child", &own)()
				end := h.Begin([]string{"leaf", "aunt", "own"}[i%3])
				time.Sleep(time.Second)
				end()
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		want(t, root, time.Second)
		want(t, child, time.Second)
		if len(h.waits) != 0 || len(h.bindings) != 4 {
			t.Errorf("%d waits, %d bindings left", len(h.waits), len(h.bindings))
		}
	})
}
