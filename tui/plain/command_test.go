package plain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
)

// toyPlugin has commands, a status, and an end hook that takes a while.
func toyPlugin(hook time.Duration, ended *[]string) plug.Plugin {
	return plug.Plugin{ID: "toy", Name: "Toy", Version: "1.0.0", APIVersion: 1, Setup: func(_ context.Context, api *plug.API) error {
		api.UI.Status("toy 12")
		_, err := api.AddSlashCommand(plug.SlashCommand{Name: "toy", Description: "play", Run: func(ctx context.Context, args, session string) (string, error) {
			switch args {
			case "open":
				return "", api.UI.Open("the-session")
			case "wait":
				<-ctx.Done()
				return "", ctx.Err()
			case "hang":
				time.Sleep(time.Hour)
			case "ask":
				n, err := api.UI.Select(ctx, session, "Which one?", []plug.Option{{Label: "A"}, {Label: "B"}})
				return strings.Repeat("B", max(n, 0)), err
			}
			return "played \x1b[2J" + args, nil
		}})
		if err != nil {
			return err
		}
		_, err = api.OnSession(plug.SessionHooks{OnEnd: func(ctx context.Context, s plug.SessionInfo) error {
			select {
			case <-time.After(hook):
				*ended = append(*ended, s.SessionID)
			case <-ctx.Done():
			}
			return ctx.Err()
		}})
		return err
	}}
}

// withToys is an application with the plugin, a template and a skill.
func withToys(t *testing.T, hook time.Duration, ended *[]string) func(*agent.Options) {
	t.Helper()
	dir, own := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"prompts/review.md":      "---\ndescription: review it\n---\nReview this: $ARGUMENTS",
		"skills/tidy/SKILL.md":   "---\nname: tidy\ndescription: tidies up\n---\nTidy.",
		"prompts/needs-write.md": "---\ndescription: x\nrequires: [write]\n---\nWrite.",
	} {
		file := filepath.Join(own, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return func(o *agent.Options) {
		o.Dir, o.Dirs = dir, config.Dirs{Config: own}
		o.Plugins = []plug.Plugin{toyPlugin(hook, ended)}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		// out is what stands on standard output, which is the answer "ok" when
		// something was sent; notes what the person is told beside.
		out, notes string
		sends      int
	}{
		{"core", "/stats", "toy       toy 12\n", "", 0},
		{"case", "/STATS", "toy       toy 12\n", "", 0},
		{"help", "/help", "/export [markdown|jsonl] FILE ", "", 0},
		{"a slash alone", "/", "/toy  ", "", 0},
		{"of a plugin", "/toy a  b", "played a  b\n", "", 0},
		{"a template", "/review main.go", "ok\n", "", 1},
		{"a template in lines", "/review\\\nmain.go\\\ntwo", "ok\n", "", 1},
		{"a skill", "/skill:tidy here", "ok\n", "", 1},
		{"an agent", "/agent:plan", "the agent is plan now", "\nplan> ", 0},
		{"an agent and a prompt", "/agent:plan think", "the agent is plan now", "", 1},
		{"ask", "/ask which colour", "ok\n", "", 1},
		{"ask nothing", "/ask", "", "error: /ask: say what to ask", 0},
		{"bad arguments", "/stats now", "", "error: /stats: it takes nothing behind the name", 0},
		{"exit with more", "/exit now", "", "error: /exit: it takes nothing behind the name", 0},
		{"unknown", "/hlep me", "", "error: unknown command /hlep; did you mean /help?\nhint:  nothing was sent; // in front", 0},
		{"unknown without a near one", "/zzzzzzzz", "", "error: unknown command /zzzzzzzz\n", 0},
		{"not to be shown", "/toy open", "", "a conversation in lines has no screen for it; alisio sessions show the-session prints it", 0},
		{"a path", "/usr/bin is missing", "ok\n", "", 1},
		{"a doubled slash", "//help", "ok\n", "", 1},
		{"a blank in front", " /help", "ok\n", "", 1},
		{"a block", "\"\"\"\n/help\n\"\"\"", "ok\n", "", 1},
		{"pasted", "\x1b[200~/help\x1b[201~", "/export", "", 0},
		{"pasted lines of a log", "\x1b[200~/dev/sda: failed\n/help\x1b[201~", "ok\n", "", 1},
		{"pasted lines, an unknown name", "\x1b[200~/etc\n/help\x1b[201~", "ok\n", "", 1},
		{"pasted comment", "\x1b[200~// help\nx\x1b[201~", "ok\n", "", 1},
		{"pasted template", "\x1b[200~/review\none\ntwo\x1b[201~", "ok\n", "", 1},
		{"pasted lines, a command of one", "\x1b[200~/export x\ny\x1b[201~", "", "error: /export takes one line, and this has several\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startWith(t, answers("ok"), &toy{}, LineOptions{}, Talk{}, withToys(t, 0, new([]string)))
				r.types(c.typed + "\n")
				r.later(time.Minute)
				out := r.out.String()
				if !strings.Contains(out, c.out) || c.out == "" && out != "" || strings.Count(out, "ok\n") != c.sends || strings.Contains(out, "\x1b") {
					t.Errorf("got %q, want %q and %d prompts", out, c.out, c.sends)
				}
				if c.notes == "" && strings.Contains(r.notes.String(), "error:") {
					t.Errorf("told:\n%s", r.notes)
				}
				r.has(c.notes)
				if e := r.leaves(); e.err != nil || e.Cancelled || (e.Session != "") != (c.sends > 0) {
					t.Errorf("got %+v", e)
				}
			})
		})
	}
}

// A doubled slash is taken off one line, and what a model gets of a template is not what
// people are shown.
func TestWhatIsSent(t *testing.T) {
	for typed, want := range map[string][2]string{
		"//help":                                {"/help", "/help"},
		"\x1b[200~//help\nx\x1b[201~":           {"//help\nx", "//help\nx"},
		"/review a b":                           {"Review this: a b", "/review a b"},
		"\x1b[200~/review one\ntwo\x1b[201~":    {"Review this: one\ntwo", "/review one\ntwo"},
		"\x1b[200~/etc/hosts\n/review\x1b[201~": {"/etc/hosts\n/review", "/etc/hosts\n/review"},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, err := agent.OpenStore(t.Context(), agent.StoreOptions{Path: filepath.Join(t.TempDir(), "s.db")})
			if err != nil {
				t.Fatal(err)
			}
			change := withToys(t, 0, new([]string))
			var got, shown string
			r := startWith(t, answers("ok"), &toy{}, LineOptions{}, Talk{GoOn: func(ctx context.Context, id string) string {
				messages, err := store.Messages(ctx, id)
				if err != nil || len(messages) == 0 {
					t.Errorf("%d messages, %v", len(messages), err)
					return ""
				}
				for _, m := range messages {
					if m.Role == llm.RoleUser && m.Context == "" {
						got, shown = m.Text, m.Display
					}
				}
				return ""
			}}, func(o *agent.Options) { change(o); o.Store = store })
			r.types(typed + "\n")
			r.later(time.Minute)
			r.leaves()
			if shown == "" {
				shown = got
			}
			if got != want[0] || shown != want[1] {
				t.Errorf("%q: sent %q, shown %q", typed, got, shown)
			}
		})
	}
}

// A session that goes on is shown as at the start, a new one begins empty, and what goes
// with the first prompt waits for it.
func TestCommandsChangeTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := agent.OpenStore(t.Context(), agent.StoreOptions{Path: filepath.Join(t.TempDir(), "s.db")})
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		change := withToys(t, 0, &left)
		r := startWith(t, answers("first answer", "second answer", "third"), &toy{}, LineOptions{}, Talk{
			Mode: "ask", History: store.Messages, GoOn: func(_ context.Context, id string) string { return "kept " + id },
		}, func(o *agent.Options) { change(o); o.Store = store })
		r.types("one\n")
		r.later(time.Minute)
		r.types("/clear\n")
		r.later(time.Minute)
		if got := r.out.String(); !strings.Contains(got, "a new session; the one before is kept as ") || len(left) != 1 {
			t.Errorf("got %q, end hooks %q", got, left)
		}
		r.types("/review two\n")
		r.later(time.Minute)
		r.types("/resume " + left[0][:8] + "\n")
		r.later(time.Minute)
		r.has("\ntoy-1 · permissions: ask\n\nyou:\n  one\n\nassistant:\n  first answer\n")
		if len(left) != 2 || left[1] == left[0] {
			t.Errorf("end hooks %q", left)
		}
		r.types("/resume " + left[1][:8] + "\n") // nothing was said in between
		r.later(time.Minute)
		r.has("you:\n  /review two\n")
		if got, want := r.out.String(), "\nsession "+left[1][:8]+": /review two\n"; !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q at its end", got, want)
		}
		r.types("/resume nowhere\n")
		r.later(time.Minute)
		r.has("error: /resume: ")
		r.types("three\n")
		r.later(time.Minute)
		if e := r.leaves(); e.err != nil || e.Session != left[1] || len(left) != 3 || left[2] != left[1] {
			t.Errorf("got %+v, end hooks %q", e, left)
		}
		r.has("notice: kept " + left[1])
	})
}

// The words of the command line are a command too, and images wait for a prompt.
func TestAFirstCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, answers("ok"), &toy{}, LineOptions{}, Talk{Prompt: "/help", Images: []llm.Attachment{{MIMEType: "image/png", Data: []byte("x")}}},
			withToys(t, 0, new([]string)))
		if got := r.out.String(); !strings.Contains(got, "/stats") {
			t.Errorf("got %q", got)
		}
		r.types("look\n")
		r.later(time.Minute)
		if !strings.HasSuffix(r.out.String(), "ok\n") {
			t.Errorf("got %q:\n%s", r.out, r.notes)
		}
		r.leaves()
	})
}

func TestATemplateThatNeedsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change := withToys(t, 0, new([]string))
		r := startWith(t, answers("x"), &toy{}, LineOptions{}, Talk{}, func(o *agent.Options) { change(o); o.Policy.ReadOnly = true })
		r.types("/needs-write\n")
		r.later(time.Second)
		r.has("error: /needs-write: template needs-write requires write: the run is --read-only")
		if e := r.leaves(); e.Session != "" {
			t.Errorf("something was sent: %q", r.out)
		}
	})
}

// A command waits as a prompt does while a run works.
func TestACommandWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers("aaaa"), &toy{}, LineOptions{}, Talk{Prompt: "one"})
		r.types("/stats\n")
		r.later(time.Minute)
		if got := r.out.String(); !strings.HasPrefix(got, "aaaa\nmodel ") || !strings.Contains(got, "messages  2\n") {
			t.Errorf("got %q", got)
		}
		r.leaves()
	})
}

func TestACommandIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, answers("ok"), &toy{}, LineOptions{}, Talk{Prompt: "one"}, withToys(t, 0, new([]string)))
		r.later(time.Minute)
		for _, args := range []string{"wait", "hang"} {
			before := len(r.notes.String())
			r.types("/toy " + args + "\n")
			r.later(patience + time.Millisecond)
			r.interrupts <- syscall.SIGINT
			synctest.Wait()
			if got, want := r.notes.String()[before:], "/toy "+args+"\nnotice: /toy works; Ctrl+C stops it\nnotice: stopped; what was done so far is kept\n> "; got != want {
				t.Errorf("%s: got %q, want %q", args, got, want)
			}
		}
		r.types("/toy ask\n")
		r.marked("Enter skips: ")
		r.has("question: a plugin asks: toy\n  | Which one?\n")
		r.types("2\n")
		r.later(time.Second)
		r.types("/toy ask\n")
		r.marked("Enter skips: ")
		r.interrupts <- syscall.SIGINT
		synctest.Wait()
		r.has("the question was withdrawn")
		if e := r.leaves(); e.err != nil || r.out.String() != "ok\nB\n" || r.quits != 0 {
			t.Errorf("got %+v, %q", e, r.out)
		}
		time.Sleep(time.Hour) // what hangs ends with the test
	})
}

func TestTheOutputOfACommandIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers("x"), &toy{}, LineOptions{Stdout: failing{syscall.EPIPE}}, Talk{})
		r.types("/help\n")
		if e := r.ended(); !e.Cancelled || e.err != nil {
			t.Errorf("got %+v", e)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers("x"), &toy{}, LineOptions{Stdout: failing{syscall.ENOSPC}}, Talk{})
		r.types("/help\n")
		if e := r.ended(); e.err == nil || e.err.Error() != "write the text: no space left on device" {
			t.Errorf("got %+v", e)
		}
	})
}

// However a person leaves, plugins end the session first: with a word when that takes
// long, and not when the person does not want to wait.
func TestLeavingEndsTheSession(t *testing.T) {
	interrupt := func(r *rig) { r.interrupts <- syscall.SIGINT; synctest.Wait() }
	for _, c := range []struct {
		name  string
		hook  time.Duration
		leave func(r *rig)
		ended int
		told  bool
		after time.Duration
	}{
		{"end of input", 0, func(r *rig) { r.in.Close() }, 1, false, 0},
		{"a word", 100 * time.Millisecond, func(r *rig) { r.types("exit\n") }, 1, false, 100 * time.Millisecond},
		{"slow", 3 * time.Second, func(r *rig) { r.types("/exit\n") }, 1, true, 3 * time.Second},
		{"two interrupts", 3 * time.Second, func(r *rig) { interrupt(r); interrupt(r) }, 1, true, 3 * time.Second},
		{"skipped", time.Hour, func(r *rig) {
			r.types("/quit\n")
			r.later(2 * time.Second)
			interrupt(r)
		}, 0, true, 2 * time.Second},
		{"told to end", time.Hour, func(r *rig) {
			r.types("/quit\n")
			r.later(2 * time.Second)
			r.stop()
		}, 0, true, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended []string
				r := startWith(t, answers("ok"), &toy{}, LineOptions{}, Talk{Prompt: "one"}, withToys(t, c.hook, &ended))
				r.later(time.Minute)
				before := time.Now()
				c.leave(r)
				e := <-r.done
				took := time.Since(before)
				r.in.Close()
				if len(ended) != c.ended || took != c.after || e.err != nil || r.quits != 0 || e.Cancelled != (c.name == "two interrupts") {
					t.Errorf("ended %q after %s, %+v", ended, took, e)
				}
				if told := strings.Contains(r.notes.String(), "notice: "+finishing+"\n"); told != c.told {
					t.Errorf("told %v:\n%s", told, r.notes)
				}
				synctest.Wait()
			})
		})
	}
}

// /clear ends a session too, and Ctrl+C skips the wait, not the command.
func TestClearIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		r := startWith(t, answers("ok", "again"), &toy{}, LineOptions{}, Talk{Prompt: "one"}, withToys(t, time.Hour, &ended))
		r.later(time.Minute)
		r.types("/new\n")
		r.later(2 * time.Second)
		r.has("notice: " + finishing)
		r.interrupts <- syscall.SIGINT
		synctest.Wait()
		r.types("/stats\n")
		r.later(time.Second)
		if got := r.out.String(); !strings.Contains(got, "a new session; the one") || !strings.Contains(got, "runs      0\n") || len(ended) != 0 {
			t.Errorf("got %q, ended %q", got, ended)
		}
		r.leaves()
	})
}
