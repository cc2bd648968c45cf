package clock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func want(t *testing.T, a *Active, d time.Duration) {
	t.Helper()
	if got := a.Elapsed(); got != d {
		t.Errorf("elapsed %v, want %v", got, d)
	}
}

func TestActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		time.Sleep(time.Second)
		want(t, &a, 0)
		a.Start()
		time.Sleep(time.Second)
		a.Start()
		want(t, &a, time.Second)
		a.Pause()
		time.Sleep(time.Second)
		a.Pause()
		time.Sleep(time.Second)
		a.Resume()
		time.Sleep(time.Second)
		if want(t, &a, time.Second); !a.Paused() {
			t.Error("runs although one pause is left")
		}
		a.Resume()
		a.Resume()
		time.Sleep(time.Second)
		if want(t, &a, 2*time.Second); a.Paused() {
			t.Error("paused")
		}
		a.Pause()
		time.Sleep(time.Second)
		want(t, &a, 2*time.Second)
	})
}

func TestActivePausedBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		a.Pause()
		a.Start()
		time.Sleep(time.Second)
		want(t, &a, 0)
		a.Resume()
		time.Sleep(time.Second)
		want(t, &a, time.Second)
	})
}

func TestActiveConcurrentPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		a.Start()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				a.Pause()
				time.Sleep(2 * time.Second)
				a.Resume()
			})
		}
		wg.Wait()
		want(t, &a, 0) // pauses of 2 s that begin every second leave no gap
		time.Sleep(time.Second)
		want(t, &a, time.Second)
	})
}

func TestLimitCountsActiveTimeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		ctx, cancel := a.Limit(t.Context(), 3*time.Second)
		defer cancel()
		time.Sleep(time.Hour) // not started
		a.Start()
		time.Sleep(2 * time.Second)
		a.Pause()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("ended while a person was asked")
		}
		a.Resume()
		begin := time.Now()
		<-ctx.Done()
		if got := time.Since(begin); got != time.Second {
			t.Errorf("ended %v after the wait, want 1s", got)
		}
		if !errors.Is(context.Cause(ctx), ErrLimit) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		a.Pause()
		a.Resume() // a limit that has fired stays harmless
		synctest.Wait()
	})
}

func TestLimitPausedAtTheVeryEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		a.Start()
		a.Pause()
		ctx, cancel := a.Limit(t.Context(), time.Second)
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Fatal("ended although no active time has passed")
		}
		cancel()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("cause %v, want canceled", context.Cause(ctx))
		}
		a.Resume()
		time.Sleep(time.Minute)
		if len(a.limits) != 0 || errors.Is(context.Cause(ctx), ErrLimit) {
			t.Error("a cancelled limit is still watched")
		}
	})
}

func TestLimitAlreadyReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Active
		a.Start()
		time.Sleep(2 * time.Second)
		ctx, cancel := a.Limit(t.Context(), time.Second)
		defer cancel()
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), ErrLimit) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}
