package host

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/config"
	"alisio/plug"
)

// badError panics as it is read.
type badError struct{}

func (badError) Error() string { panic("an error that is one") }

func goexit() { runtime.Goexit() }

func dirs(t *testing.T) config.Dirs {
	d := t.TempDir()
	return config.Dirs{Config: d + "/config", State: d + "/state", Cache: d + "/cache"}
}

func TestCloseDisposesBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := providers{}
		var order []string
		h := New(Options{Register: p.register, Deactivate: func(context.Context) error {
			order = append(order, "deactivate")
			if len(p) == 0 {
				t.Error("a provider went before decisions stopped")
			}
			return errors.New("no end")
		}})
		disposed := map[string]*atomic.Int32{}
		var late *plug.API
		for id, dispose := range map[string]func(context.Context) error{
			"a-fine":   func(context.Context) error { return nil },
			"b-fails":  func(context.Context) error { return errors.New("no luck") },
			"c-hangs":  func(context.Context) error { time.Sleep(time.Hour); return nil },
			"d-panics": func(context.Context) error { panic("no luck") },
			"e-obeys":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"f-slow":   func(context.Context) error { time.Sleep(1900 * time.Millisecond); return nil },
		} {
			n := &atomic.Int32{}
			disposed[id] = n
			err := h.Add(context.Background(), plug.Plugin{ID: id, APIVersion: 1,
				Setup: func(_ context.Context, api *plug.API) error {
					late = api
					_, err := all(api, id[:1])
					return err
				},
				Dispose: func(ctx context.Context) error {
					n.Add(1)
					if len(h.Registrations()) != 0 || len(p) != 0 {
						t.Errorf("%s is disposed while %v is registered", id, h.Registrations())
					}
					return dispose(ctx)
				}})
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		err := h.Close(context.Background())
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
		for _, want := range []string{
			"no end", "dispose plugin b-fails: no luck", "dispose plugin c-hangs: it took longer than 2s",
			"dispose plugin d-panics: panic: no luck", "dispose plugin e-obeys: it took longer than 2s",
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("no %q in: %v", want, err)
			}
		}
		if strings.Count(err.Error(), "\n") != 4 || len(order) != 1 {
			t.Errorf("got %v, %v", err, order)
		}
		for id, n := range disposed {
			if n.Load() != 1 {
				t.Errorf("%s was disposed %d times", id, n.Load())
			}
		}
		refused(t, h, late)
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("the second time: %v", err)
		}
		if err := h.Add(context.Background(), plug.Plugin{ID: "x", APIVersion: 1, Setup: func(context.Context, *plug.API) error { return nil }}); err == nil {
			t.Error("a plugin was added to a closed host")
		}
		time.Sleep(time.Hour)
	})
}

func TestCloseDuringSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		added := make(chan error)
		go func() {
			added <- h.Add(context.Background(), plug.Plugin{ID: "toy", APIVersion: 1,
				Setup: func(_ context.Context, api *plug.API) error {
					if _, err := api.AddTool(named("early")); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
					if _, err := api.AddTool(named("late")); !errors.Is(err, ErrGone) {
						t.Errorf("got %v", err)
					}
					return nil
				},
				Dispose: func(context.Context) error { t.Error("it is disposed during setup"); return nil }})
		}()
		synctest.Wait()
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-added; !errors.Is(err, ErrGone) || len(h.Registrations()) != 0 {
			t.Errorf("got %v, %v", err, h.Registrations())
		}
	})
}

// A plugin whose calls never return is called no more after a while: they cost
// goroutines, each of them for ever.
func TestCallsThatNeverReturnAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &entry{}
		var running atomic.Int32
		var err error
		for range 3 * maxStuck {
			_, err = call(context.Background(), e, time.Second, func(context.Context) (int, error) {
				running.Add(1)
				time.Sleep(time.Hour)
				return 0, nil
			})
		}
		if running.Load() != maxStuck || !errors.Is(err, errStuck) {
			t.Errorf("%d run, %v", running.Load(), err)
		}
		time.Sleep(2 * time.Hour) // and they do
		if n, err := call(context.Background(), e, time.Second, func(context.Context) (int, error) { return 7, nil }); n != 7 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}
