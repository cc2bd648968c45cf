package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

// ways are all ways in which a function of a plugin can fail, with what is told.
func ways(limit string) map[string]struct {
	do   func(ctx context.Context) error
	want string
} {
	late := "it took longer than " + limit
	return map[string]struct {
		do   func(ctx context.Context) error
		want string
	}{
		"fails":     {func(context.Context) error { return errors.New("no\x1b[2J luck") }, "no luck"},
		"panics":    {func(context.Context) error { panic("no luck") }, "panic: no luck"},
		"bad error": {func(context.Context) error { return badError{} }, "panic: an error that is one"},
		"goexit":    {func(context.Context) error { goexit(); return nil }, "it ended its goroutine"},
		"obeys":     {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, late},
		"ignores":   {func(context.Context) error { time.Sleep(time.Hour); return nil }, late},
	}
}

// Every hook that fails in any way costs its own contribution, and no more time
// than its limit.
func TestEveryHookFailsInEveryWay(t *testing.T) {
	info := plug.SessionInfo{SessionID: "s", Workspace: "/w"}
	for hook, limit := range map[string]time.Duration{"OnStart": 15 * time.Second, "OnEnd": 10 * time.Second, "BeforeCompact": 15 * time.Second, "AfterCompact": 15 * time.Second} {
		for name, way := range ways(limit.String()) {
			t.Run(hook+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := toyHost(t, Options{})
					var called atomic.Int32
					hooks := func(id string, do func(ctx context.Context) error) {
						plugin(t, h, id, func(api *plug.API) error {
							_, err := api.OnSession(plug.SessionHooks{
								OnStart: func(ctx context.Context, s plug.SessionInfo) (string, error) {
									called.Add(1)
									return "text of " + id, do(ctx)
								},
								OnEnd: func(ctx context.Context, s plug.SessionInfo) error { called.Add(1); return do(ctx) },
							})
							_, err2 := api.OnCompaction(plug.CompactionHooks{
								Before: func(ctx context.Context, _ plug.CompactionInput) (plug.CompactionWish, error) {
									called.Add(1)
									return plug.CompactionWish{Instructions: "text of " + id}, do(ctx)
								},
								After: func(ctx context.Context, _ plug.CompactionResult) (plug.CompactionReport, error) {
									called.Add(1)
									return plug.CompactionReport{Report: "text of " + id}, do(ctx)
								},
							})
							return errors.Join(err, err2)
						})
					}
					fine := func(context.Context) error { return nil }
					hooks("z-first", fine)
					hooks("bad", way.do)
					hooks("a-last", fine)
					var got []string
					var failures []Failure
					begin := time.Now()
					switch hook {
					case "OnStart":
						var texts []Injected
						texts, failures = h.Start(t.Context(), info)
						for _, x := range texts {
							got = append(got, x.Source, x.Text)
						}
					case "OnEnd":
						failures = h.End(t.Context(), info)
					case "BeforeCompact":
						var wishes []Wish
						wishes, failures = h.BeforeCompact(t.Context(), plug.CompactionInput{})
						for _, w := range wishes {
							got = append(got, w.Source, w.Instructions)
						}
					case "AfterCompact":
						var reports []Report
						reports, failures = h.AfterCompact(t.Context(), plug.CompactionResult{}, nil)
						for _, r := range reports {
							got = append(got, r.Source, r.Report)
						}
					}
					want := []string{"z-first", "text of z-first", "a-last", "text of a-last"}
					if hook != "OnEnd" && !slices.Equal(got, want) {
						t.Errorf("got %q", got)
					}
					if called.Load() != 3 || time.Since(begin) > limit {
						t.Errorf("%d called in %s", called.Load(), time.Since(begin))
					}
					if len(failures) != 1 || failures[0].Source != "bad" || failures[0].Hook != hook || !strings.HasPrefix(failures[0].Err.Error(), way.want) {
						t.Errorf("failures: got %v", failures)
					}
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

func TestStartHooksRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		for i := range 5 {
			plugin(t, h, fmt.Sprint("p", i), func(api *plug.API) error {
				_, err := api.OnSession(plug.SessionHooks{OnStart: func(context.Context, plug.SessionInfo) (string, error) {
					time.Sleep(time.Duration(10-i) * time.Second)
					return fmt.Sprint(i), nil
				}})
				return err
			})
		}
		begin := time.Now()
		texts, failures := h.Start(t.Context(), plug.SessionInfo{})
		want := []Injected{{"p0", "0"}, {"p1", "1"}, {"p2", "2"}, {"p3", "3"}, {"p4", "4"}}
		if !slices.Equal(texts, want) || len(failures) != 0 || time.Since(begin) != 10*time.Second {
			t.Errorf("got %v, %v in %s", texts, failures, time.Since(begin))
		}
	})
}

// A person who does not want to wait for end hooks skips those that have not run.
func TestEndHooksAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		var called atomic.Int32
		for _, id := range []string{"a", "b"} {
			plugin(t, h, id, func(api *plug.API) error {
				_, err := api.OnSession(plug.SessionHooks{OnEnd: func(ctx context.Context, _ plug.SessionInfo) error {
					called.Add(1)
					<-ctx.Done()
					return ctx.Err()
				}})
				return err
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		failures := h.End(ctx, plug.SessionInfo{})
		if called.Load() != 1 || len(failures) != 1 || strings.Contains(failures[0].Err.Error(), "longer") {
			t.Errorf("%d called, %v", called.Load(), failures)
		}
	})
}

func TestInjectedTextIsCleanAndBounded(t *testing.T) {
	long := strings.Repeat("é", plug.MaxText)
	for _, c := range []struct{ name, in, want string }{
		{"clean", "a\n\tb", "a\n\tb"},
		{"invalid", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"controls", "a\x00\x07\x1b[31mb\u202e\x1b]0;t\x07", "ab"},
		{"blank", " \n\t ", ""},
		{"just fits", long, long},
		{"too long", long + "x", long[:2*(plug.MaxText-len(cutMark))] + cutMark},
		{"far too long", strings.Repeat("y", 3*maxRaw), strings.Repeat("y", plug.MaxText-len(cutMark)) + cutMark},
		{"controls alone", strings.Repeat("\x00", 3*maxRaw), cutMark},
		{"escapes that eat", strings.Repeat("\x1b[31m", maxRaw) + "x", cutMark},
	} {
		got := injected(c.in)
		if got != c.want {
			t.Errorf("%s: got %d bytes %.60q, want %d bytes", c.name, len(got), got, len(c.want))
		}
		if utf8.RuneCountInString(got) > plug.MaxText {
			t.Errorf("%s: %d characters", c.name, utf8.RuneCountInString(got))
		}
	}
}

func TestCompactionWishes(t *testing.T) {
	h := toyHost(t, Options{})
	messages := []llm.Message{{Role: llm.RoleUser}, {Role: llm.RoleAssistant}}
	wish := plug.CompactionWish{Instructions: "keep\x00 all", Fields: map[string]string{"memory_1": "what\nto keep"}}
	plugin(t, h, "good", func(api *plug.API) error {
		_, err := api.OnCompaction(plug.CompactionHooks{
			Before: func(_ context.Context, c plug.CompactionInput) (plug.CompactionWish, error) {
				c.Messages[0] = llm.Message{}
				return wish, nil
			},
			After: func(_ context.Context, c plug.CompactionResult) (plug.CompactionReport, error) {
				c.Checkpoint[0] = 'x'
				return plug.CompactionReport{Inject: string(c.Fields["memory_1"]), Report: fmt.Sprint(len(c.Fields)) + "\nkept"}, nil
			},
		})
		return err
	})
	for name, fields := range map[string]map[string]string{
		"a name with a space": {"a b": ""}, "no name": {"": ""}, "a long name": {strings.Repeat("a", 65): ""}, "a digit first": {"1a": ""},
		"too many": func() map[string]string {
			m := map[string]string{}
			for i := range plug.MaxFields + 1 {
				m[fmt.Sprint("f", i)] = ""
			}
			return m
		}(),
	} {
		plugin(t, h, strings.ReplaceAll(name, " ", "-"), func(api *plug.API) error {
			_, err := api.OnCompaction(plug.CompactionHooks{Before: func(context.Context, plug.CompactionInput) (plug.CompactionWish, error) {
				return plug.CompactionWish{Instructions: "x", Fields: fields}, nil
			}})
			return err
		})
	}
	wishes, failures := h.BeforeCompact(t.Context(), plug.CompactionInput{Messages: messages})
	if len(wishes) != 1 || wishes[0].Source != "good" || wishes[0].Instructions != "keep all" || wishes[0].Fields["memory_1"] != "what to keep" {
		t.Errorf("got %+v", wishes)
	}
	if len(failures) != 5 {
		t.Errorf("got %v", failures)
	}
	if messages[0].Role != llm.RoleUser {
		t.Error("a plugin changed the caller's messages")
	}
	checkpoint := json.RawMessage(`{"a":1}`)
	reports, failures := h.AfterCompact(t.Context(), plug.CompactionResult{Checkpoint: checkpoint}, map[string]map[string]json.RawMessage{
		"good": {"memory_1": json.RawMessage(`"m"`)}, "other": {"x": nil, "y": nil},
	})
	if len(failures) != 0 || len(reports) != 1 || reports[0] != (Report{"good", plug.CompactionReport{Inject: `"m"`, Report: "1 kept"}}) {
		t.Errorf("got %+v, %v", reports, failures)
	}
	if checkpoint[0] != '{' {
		t.Error("a plugin changed the caller's checkpoint")
	}
}

func TestContextSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		var mu sync.Mutex // calls that were given up on still read it
		say := map[string]func(ctx context.Context, session string) (string, error){}
		set := func(name string, do func(ctx context.Context, session string) (string, error)) {
			mu.Lock()
			defer mu.Unlock()
			say[name] = do
		}
		for _, name := range []string{"z/notes", "a/two", "a/one"} {
			set(name, func(_ context.Context, session string) (string, error) { return name + " in " + session, nil })
		}
		source := func(api *plug.API, id, name string) error {
			_, err := api.AddContext(plug.ContextSource{Name: name, Text: func(ctx context.Context, s string) (string, error) {
				mu.Lock()
				do := say[id+"/"+name]
				mu.Unlock()
				return do(ctx, s)
			}})
			return err
		}
		plugin(t, h, "z", func(api *plug.API) error { return source(api, "z", "notes") })
		plugin(t, h, "a", func(api *plug.API) error { return errors.Join(source(api, "a", "two"), source(api, "a", "one")) })
		texts := func(session string) string {
			var b strings.Builder
			for _, x := range h.Context(t.Context(), session) {
				fmt.Fprintf(&b, "%s=%s;", x.Source, x.Text)
			}
			return b.String()
		}
		if got, want := texts("s"), "a/one=a/one in s;a/two=a/two in s;z/notes=z/notes in s;"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for name, way := range ways("1s") {
			set("a/two", func(ctx context.Context, _ string) (string, error) { return "half", way.do(ctx) })
			begin := time.Now()
			if got, want := texts("s"), "a/one=a/one in s;a/two=a/two in s;z/notes=z/notes in s;"; got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			// In a session in which it has never said anything, nothing is known of it.
			if got, want := texts("new"), "a/one=a/one in new;z/notes=z/notes in new;"; got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
		}
		if d := h.Diagnostics(); len(d) != 1 || d[0].Code != ContextFailed || d[0].Plugin != "a" || !strings.HasPrefix(d[0].Err.Error(), "context a/two: ") {
			t.Errorf("diagnostics: got %v", d)
		}
		set("a/two", func(context.Context, string) (string, error) { return "\x00", nil })
		if got := texts("s"); !strings.Contains(got, "a/two=;") {
			t.Errorf("empty: got %q", got)
		}
		time.Sleep(time.Hour)
	})
}

// A run that is cancelled while sources are asked is no failure of theirs.
func TestCancelledContextIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		plugin(t, h, "p", func(api *plug.API) error {
			_, err := api.AddContext(plug.ContextSource{Name: "c", Text: func(ctx context.Context, _ string) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}})
			_, err2 := api.Extend.Mascot(plug.Mascot{ID: "m", Render: func(ctx context.Context, _ plug.MascotContext) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}})
			return errors.Join(err, err2)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if got := h.Context(ctx, "s"); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		if got := h.Startup(ctx, plug.ScreenContext{}); !strings.Contains(got, greeting) {
			t.Errorf("got %q", got)
		}
		if d := h.Diagnostics(); len(d) != 0 {
			t.Errorf("got %v", d)
		}
	})
}

func TestLastTextsAreBounded(t *testing.T) {
	h := toyHost(t, Options{})
	fail := false
	plugin(t, h, "p", func(api *plug.API) error {
		_, err := api.AddContext(plug.ContextSource{Name: "c", Text: func(_ context.Context, s string) (string, error) {
			if fail {
				return "", errors.New("no")
			}
			return s, nil
		}})
		return err
	})
	for i := range maxTexts + 1 {
		h.Context(t.Context(), fmt.Sprint(i))
	}
	fail = true
	if len(h.lastText) != maxTexts || len(h.textKeys) != maxTexts {
		t.Errorf("kept %d, %d", len(h.lastText), len(h.textKeys))
	}
	if got := h.Context(t.Context(), "0"); len(got) != 0 {
		t.Errorf("the oldest: got %v", got)
	}
	if got := h.Context(t.Context(), fmt.Sprint(maxTexts)); len(got) != 1 {
		t.Errorf("the newest: got %v", got)
	}
}

// A hook that answers at the very moment at which its time is over is late, always:
// whichever of the two is seen first, which the scheduler decides.
func TestAnAnswerAtTheLimitIsLate(t *testing.T) {
	h := toyHost(t, Options{Limits: Limits{Hook: time.Millisecond}})
	plugin(t, h, "late", func(api *plug.API) error {
		_, err := api.OnSession(plug.SessionHooks{OnStart: func(ctx context.Context, _ plug.SessionInfo) (string, error) {
			<-ctx.Done()
			return "late", nil
		}})
		return err
	})
	for range 500 {
		if texts, failures := h.Start(context.Background(), plug.SessionInfo{}); len(texts) != 0 || len(failures) != 1 {
			t.Fatalf("got %v, %v", texts, failures)
		}
	}
}
