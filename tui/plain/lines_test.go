package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/tools"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// screen keeps what was printed.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// toy is a tool that shows a person its arguments as a shell line and counts what
// it was allowed to do.
type toy struct {
	plan plug.Plan
	mu   sync.Mutex
	done []string
}

func (y *toy) Spec() plug.ToolSpec {
	return plug.ToolSpec{Name: "toy", Description: "a toy", Schema: json.RawMessage(`{"type":"object"}`), Effect: plug.EffectProcess}
}

func (y *toy) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	p := y.plan
	if p.Shell == "" {
		p.Shell = string(c.Args)
	}
	p.Effect = plug.EffectProcess
	return p, nil
}

func (y *toy) Execute(_ context.Context, _ *plug.Call, p plug.Plan) (plug.Result, error) {
	if strings.Contains(p.Shell, "hang") {
		fmt.Println("hanging")
		select {}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.done = append(y.done, p.Shell)
	return plug.Text("played"), nil
}

func (y *toy) played() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.done)
}

type ended struct {
	Ended
	err error
}

// rig is a conversation on pipes. It lives in a synctest bubble.
type rig struct {
	t          *testing.T
	in         *io.PipeWriter
	out, notes *screen
	toy        *toy
	interrupts chan os.Signal
	stop       context.CancelFunc
	quits      int
	done       chan ended
	app        *agent.App
}

// answers is a script of texts and of calls, which are "!" and arguments.
func answers(turns ...string) string {
	var all []string
	for _, turn := range turns {
		if args, ok := strings.CutPrefix(turn, "!"); ok {
			all = append(all, fmt.Sprintf(`{"calls":[{"name":"toy","arguments":%s}]}`, args))
			continue
		}
		all = append(all, fmt.Sprintf(`{"text":%q,"chunk":1,"delayMs":1000}`, turn))
	}
	return `{"turns":[` + strings.Join(all, ",") + `]}`
}

func start(t *testing.T, scripted string, y *toy, o LineOptions, talk Talk) *rig {
	t.Helper()
	return startIn(t, t.TempDir(), perm.Policy{}, []plug.Tool{y}, scripted, y, o, talk)
}

func startIn(t *testing.T, dir string, policy perm.Policy, all []plug.Tool, scripted string, y *toy, o LineOptions, talk Talk) *rig {
	t.Helper()
	return startWith(t, scripted, y, o, talk, func(o *agent.Options) { o.Dir, o.Policy, o.Tools = dir, policy, all })
}

// startWith starts one with an application of which change says more.
func startWith(t *testing.T, scripted string, y *toy, o LineOptions, talk Talk, change func(*agent.Options)) *rig {
	t.Helper()
	r := &rig{t: t, out: &screen{}, notes: &screen{}, toy: y, interrupts: make(chan os.Signal, 2), done: make(chan ended, 1)}
	from, in := io.Pipe()
	r.in = in
	o.Stdin, o.Stderr, o.Interrupts = from, r.notes, r.interrupts
	if o.Stdout == nil {
		o.Stdout = r.out
	}
	o.Quit = func() { r.quits++ }
	l := NewLines(o)
	s, err := script.Parse([]byte(scripted))
	if err != nil {
		t.Fatal(err)
	}
	options := agent.Options{Config: config.Default(), Asker: l, Provider: s.Provider("script"), Model: llm.Model{ID: "toy-1"}}
	change(&options)
	app, err := agent.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	r.app = app
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() {
		e, err := l.Run(ctx, app, talk)
		r.done <- ended{e, err}
		app.Close(context.Background())
	}()
	synctest.Wait()
	return r
}

// types writes lines and waits until nothing happens that needs no time.
func (r *rig) types(lines string) {
	r.t.Helper()
	go r.in.Write([]byte(lines)) // the conversation may stop reading
	synctest.Wait()
}

// later lets time pass.
func (r *rig) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// has looks for something in what was printed for the person.
func (r *rig) has(want string) {
	r.t.Helper()
	if got := r.notes.String(); !strings.Contains(got, want) {
		r.t.Errorf("no %q in:\n%s", want, got)
	}
}

// asked lets the input be quiet until an answer is taken.
func (r *rig) asked() {
	r.t.Helper()
	r.later(quiet + settle + time.Millisecond)
	if got := r.notes.String(); !strings.HasSuffix(got, "all: ") {
		r.t.Fatalf("no question stands at the end of:\n%s", got)
	}
}

// leaves ends the input and returns how the conversation ended.
func (r *rig) leaves() ended {
	r.t.Helper()
	r.in.Close()
	return r.ended()
}

func (r *rig) ended() ended {
	r.t.Helper()
	r.later(time.Minute)
	select {
	case e := <-r.done:
		r.in.Close()
		synctest.Wait()
		return e
	default:
		r.stop()
		r.in.Close()
		r.t.Fatalf("the conversation goes on:\n%s", r.notes)
		return ended{}
	}
}

func TestAConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers("Hello.", "Again."), &toy{}, LineOptions{}, Talk{Workspace: "/x\x1b[2J", Mode: "ask",
			GoOn: func(_ context.Context, id string) string { return fmt.Sprint("session of ", len(id)) }})
		r.has("alisio " + agent.Version + " · toy-1 · new session · permissions: ask\n/x<U+001B>[2J\n")
		r.types("one\n\n   \n")
		r.later(time.Minute)
		r.types("//etc\n")
		r.later(time.Minute)
		if got, want := r.out.String(), "Hello.\nAgain.\n"; got != want {
			t.Errorf("answers %q, want %q", got, want)
		}
		e := r.leaves()
		if e.err != nil || e.Cancelled || e.Session == "" {
			t.Errorf("got %+v", e)
		}
		r.has("notice: session of 36")
	})
}

// What stands first is sent at once; a session that goes on shows its end.
func TestAFirstPromptAndALastExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		history := func(context.Context, string) ([]llm.Message, error) {
			return []llm.Message{{Role: llm.RoleUser, Text: "old"}, {Role: llm.RoleUser, Text: "do\x1b[2J it"}, {Role: llm.RoleUser, Text: "told", Context: "a/b"},
				{Role: llm.RoleAssistant, Text: "I try"}, {Role: llm.RoleTool}, {Role: llm.RoleAssistant, Text: strings.Repeat("l\n", 20)}}, nil
		}
		r := start(t, answers("Fixed."), &toy{}, LineOptions{}, Talk{Prompt: "fix it\nnow"})
		r.has("> fix it\n. 1 more line\n")
		r.later(time.Minute)
		if got := r.out.String(); got != "Fixed.\n" {
			t.Errorf("got %q", got)
		}
		r.leaves()
		r = start(t, answers("x"), &toy{}, LineOptions{}, Talk{Session: "0123456789ab", History: history})
		r.has("· session 01234567\n")
		r.has("\nyou:\n  do it\n\nassistant:\n  l\n")
		r.has("  … 8 more lines\n")
		if strings.Contains(r.notes.String(), "old") {
			t.Error("more than the last exchange is shown")
		}
		r.leaves()
	})
}

// Type-ahead is no answer, whatever it says: neither lines that were there before
// the question nor those that came before it could be read.
func TestTypedAheadNeverApproves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers(`!{"x":1}`, "ok", "second"), &toy{}, LineOptions{}, Talk{})
		r.types("do it\ny\ny\n")
		r.types("y\na\n") // the question is shown, the mark is not
		r.later(quiet - time.Millisecond)
		r.types("y\n") // which begins the quiet time again
		r.later(quiet - time.Millisecond)
		if strings.Contains(r.notes.String(), "allow?") || r.toy.played() > 0 {
			t.Fatalf("played %d times:\n%s", r.toy.played(), r.notes)
		}
		r.asked()
		r.has("typed before this could be read, and dropped")
		if r.toy.played() > 0 {
			t.Fatalf("approved by type-ahead:\n%s", r.notes)
		}
		r.types("n because\n")
		r.later(time.Minute)
		if r.toy.played() > 0 {
			t.Errorf("a no was taken for a yes:\n%s", r.notes)
		}
		r.leaves()
	})
}

// Symptom: a bare Enter behind the mark allowed a call. Trigger: the start of a line
// had been read before the mark, as Ctrl+D lets a terminal give it away.
func TestAHalfLineTypedAheadNeverApproves(t *testing.T) {
	for _, late := range []time.Duration{0, quiet - time.Millisecond, quiet + settle/2} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers(`!{"x":1}`, "ok"), &toy{}, LineOptions{}, Talk{})
			r.types("do it\n")
			r.later(late)
			r.types("y")
			r.asked()
			r.later(time.Hour) // however long the question is read
			r.types("\n")
			r.asked()
			r.has("1 line was typed before this could be read, and dropped")
			r.types("n\n")
			r.later(time.Minute)
			if r.toy.played() > 0 {
				t.Errorf("approved by half a line:\n%s", r.notes)
			}
			r.leaves()
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		typed  []string
		plan   plug.Plan
		played int
		says   string
	}{
		{"yes", []string{"y"}, plug.Plan{}, 1, "? all: toy\n"},
		{"yes in words", []string{" YES "}, plug.Plan{}, 1, "? all: toy\n"},
		{"no", []string{"n"}, plug.Plan{}, 0, "toy · not allowed: the person said no"},
		{"no with a reason", []string{"n use the \x1b[31mother\a file"}, plug.Plan{}, 0, "toy · not allowed: the person said no: use the other file"},
		{"unclear", []string{"", "yy", "ok", "n"}, plug.Plan{}, 0, "that is no answer"},
		{"yes with a condition", []string{"y if it is safe", "n"}, plug.Plan{}, 0, "only n takes a reason"},
		{"pasted", []string{"\x1b[200~y\x1b[201~", "\x1b[201~y", "n"}, plug.Plan{}, 0, "that is no answer"},
		{"keys and yes", []string{"\x1b[Cy", "n"}, plug.Plan{}, 0, "that is no answer"},
		{"yes and more than is read", []string{"y" + strings.Repeat(" ", maxInput) + "not", "n"}, plug.Plan{}, 0, "the line is too long"},
		{"session without a key", []string{"a", "n"}, plug.Plan{}, 0, "this is asked every time"},
		{"session", []string{"a"}, plug.Plan{Key: "k"}, 1, "runs: k\n"},
		{"details", []string{"?", "y"}, plug.Plan{Argv: []string{"ls", "-l"}, Shell: "x"}, 1, "word 1: -l"},
		{"long and yes", []string{"y", "a", "YES", "n"}, plug.Plan{Key: "k", Shell: strings.Repeat("x\n", 150)}, 0, "  . 54 more lines, which ? shows"},
		{"long and read", []string{"y", "?", "y"}, plug.Plan{Shell: strings.Repeat("x\n", 150) + "the end"}, 1, "  | the end\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, answers(`!{"x":1}`, "ok"), &toy{plan: c.plan}, LineOptions{}, Talk{})
				r.types("do it\n")
				for _, line := range c.typed {
					r.asked()
					r.types(line + "\n")
				}
				r.later(time.Minute)
				if got := r.toy.played(); got != c.played {
					t.Errorf("played %d times, want %d:\n%s", got, c.played, r.notes)
				}
				r.has(c.says)
				if e := r.leaves(); e.err != nil {
					t.Error(e.err)
				}
			})
		})
	}
}

func TestAGrantLastsAndIsForThatAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers(`!{"x":1}`, `!{"x":2}`, "ok"), &toy{plan: plug.Plan{Key: "k"}}, LineOptions{}, Talk{})
		r.types("do it\n")
		r.asked()
		r.types("a\n")
		r.later(time.Minute)
		if n := strings.Count(r.notes.String(), "question:"); n != 1 || r.toy.played() != 2 {
			t.Errorf("%d questions, played %d times", n, r.toy.played())
		}
		r.leaves()
	})
}

// The engine's own questions, with the real tools: a directory outside, a protected
// file in the widest mode, a change that is shown as it will be.
func TestTheQuestionsOfTheRealTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, outside := t.TempDir(), t.TempDir()
		for name, content := range map[string]string{dir + "/.git/config": "old\n", outside + "/note": "out there\n"} {
			os.MkdirAll(filepath.Dir(name), 0o755)
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		turns := fmt.Sprintf(`{"turns":[
			{"calls":[{"name":"read_file","arguments":{"path":%q}}]},
			{"calls":[{"name":"read_file","arguments":{"path":".git/config"}}]},
			{"capture":{"H":"sha256: ([0-9a-f]{64})"},"calls":[{"name":"edit_file","arguments":{"path":".git/config","oldText":"old","newText":"new","expectedHash":"${H}"}}]},
			{"text":"done"}]}`, outside+"/note")
		r := startIn(t, dir, perm.Policy{Mode: perm.ModeFull}, tools.All(), turns, &toy{}, LineOptions{}, Talk{Prompt: "do it"})
		r.asked()
		r.has("question: read_file wants to use a directory outside the workspace:\n  | ")
		r.types("a\n")
		r.asked()
		r.has("protected: .git/config")
		r.has("  | -old\n  | +new\n")
		r.types("a\n")
		r.has("this is asked every time")
		r.asked()
		r.types("y\n")
		r.later(time.Minute)
		if got, err := os.ReadFile(dir + "/.git/config"); err != nil || string(got) != "new\n" || r.out.String() != "done\n" {
			t.Errorf("the file holds %q, %v; answer %q", got, err, r.out)
		}
		if n := strings.Count(r.notes.String(), "+new"); n != 1 {
			t.Errorf("the change is shown %d times:\n%s", n, r.notes)
		}
		r.leaves()
	})
}

// The end of the input is a no, also when it came before the question.
func TestTheEndOfTheInputIsANo(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers(`!{"x":1}`, "ok"), &toy{}, LineOptions{}, Talk{})
			if before {
				go func() { r.in.Write([]byte("do it\n")); r.in.Close() }()
			} else {
				r.types("do it\n")
				r.asked()
				r.in.Close()
			}
			e := r.ended()
			if r.toy.played() > 0 || e.err != nil || e.Cancelled {
				t.Errorf("before %v: played %d times, %+v", before, r.toy.played(), e)
			}
			r.has("the input has ended")
			if got := r.out.String(); got != "ok\n" {
				t.Errorf("answer %q", got)
			}
		})
	}
}

// An input that never stops can not answer, and does not hold the run up for ever.
func TestAFloodIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers(`!{"x":1}`, "ok"), &toy{}, LineOptions{}, Talk{Prompt: "do it"})
		flood := t.Context()
		go func() {
			for flood.Err() == nil {
				if _, err := r.in.Write([]byte("y\n")); err != nil {
					return
				}
				time.Sleep(quiet / 2)
			}
		}()
		r.later(unquiet + time.Second)
		r.has("the input does not stop")
		if r.toy.played() > 0 {
			t.Errorf("approved:\n%s", r.notes)
		}
		r.stop()
		if e := r.ended(); !e.Cancelled || e.err != nil {
			t.Errorf("got %+v", e)
		}
	})
}

func TestInterrupts(t *testing.T) {
	interrupt := func(r *rig) { r.interrupts <- syscall.SIGINT; synctest.Wait() }
	t.Run("a run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers("a long answer", "another", "short"), &toy{}, LineOptions{}, Talk{})
			for _, prompt := range []string{"one\n", "two\n"} {
				r.types(prompt)
				r.later(3 * time.Second)
				interrupt(r)
			}
			r.has("notice: stopped; what was done so far is kept")
			r.types("three\n")
			r.later(time.Minute)
			if got, want := r.out.String(), "a lo\nanot\nshort\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if e := r.leaves(); e.Cancelled || e.err != nil || r.quits != 0 {
				t.Errorf("got %+v, %d quits", e, r.quits)
			}
		})
	})
	t.Run("a question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers(`!{"x":1}`, "ok"), &toy{}, LineOptions{}, Talk{Prompt: "do it"})
			r.asked()
			interrupt(r)
			r.has("notice: the question was withdrawn")
			r.has("notice: stopped")
			if e := r.leaves(); e.Cancelled || e.err != nil || r.toy.played() > 0 {
				t.Errorf("got %+v, played %d times", e, r.toy.played())
			}
		})
	})
	t.Run("at the prompt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers("x", "y"), &toy{}, LineOptions{}, Talk{})
			interrupt(r)
			r.has(howOut)
			r.later(moment)
			interrupt(r) // not within a moment
			r.types("\"\"\"\nhalf\n")
			interrupt(r) // takes the block back
			interrupt(r) // says how to leave
			r.types("say x\n")
			r.later(time.Minute)
			if got := r.out.String(); got != "x\n" {
				t.Fatalf("got %q:\n%s", got, r.notes)
			}
			interrupt(r)
			interrupt(r)
			if e := r.ended(); !e.Cancelled || e.err != nil {
				t.Errorf("got %+v", e)
			}
		})
	})
	t.Run("the end of the program", func(t *testing.T) {
		for _, prompt := range []string{"", "one"} {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, answers("a long answer"), &toy{}, LineOptions{}, Talk{Prompt: prompt})
				r.stop()
				if e := r.ended(); !e.Cancelled || e.err != nil {
					t.Errorf("%q: got %+v", prompt, e)
				}
			})
		}
	})
}

// A run that does not end when it is told to does not keep the person.
func TestASecondInterruptQuits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quits := 0
		interrupts := make(chan os.Signal, 2)
		l := NewLines(LineOptions{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Interrupts: interrupts, Quit: func() { quits++ }})
		done := make(chan struct{})
		stops := 0
		go func() {
			interrupts <- syscall.SIGINT
			synctest.Wait()
			interrupts <- syscall.SIGINT
			synctest.Wait()
			close(done)
		}()
		l.attend(done, func() { stops++ }, "")
		if quits != 1 || stops != 1 {
			t.Errorf("%d quits, %d stops", quits, stops)
		}
	})
}

// What is typed while a run works is the next prompts.
func TestTypedAheadWaitsForThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, answers("aaaa", "b", "c"), &toy{}, LineOptions{}, Talk{})
		r.types("one\n")
		r.types("two\\\nlines\n")
		r.types("three\n")
		r.later(time.Minute)
		if got, want := r.out.String(), "aaaa\nb\nc\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		r.has("> two\\\n")
		r.has("> three\n")
		r.leaves()
	})
}

// More than is kept stays with who writes it, and nothing is lost.
func TestWhatWaitsIsBounded(t *testing.T) {
	l := NewLines(LineOptions{Stdin: strings.NewReader(""), Stderr: io.Discard})
	for !l.full() {
		l.wait(typed{text: strings.Repeat("x", 1000)})
	}
	if l.size > maxMessage+1001 {
		t.Errorf("%d bytes are kept", l.size)
	}
	l.wait(typed{err: io.EOF})
	n := len(l.waiting)
	for i := range n {
		if _, ok := l.next(); !ok {
			t.Fatalf("%d of %d lines", i, n)
		}
	}
	if got, ok := l.next(); !ok || got.err != io.EOF || l.size != 0 {
		t.Errorf("got %+v, %d bytes are left", got, l.size)
	}
	if !l.full() {
		t.Error("the end of the input is asked for again and again")
	}
}

// A paste that a question came into: what came before it does not wait for an end
// that was dropped, and take in all that is typed later.
func TestAPasteAcrossAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, `{"turns":[{"text":"abcd","delayMs":1000,"chunk":1,"calls":[{"name":"toy"}]},{"text":"ok"},{"text":"whole"},{"text":"later"}]}`,
			&toy{}, LineOptions{}, Talk{Prompt: "do it"})
		r.types("a whole one\n\x1b[200~first\ny\n")
		for !strings.Contains(r.notes.String(), "question:") {
			r.later(quiet / 3)
		}
		r.types("y\n\x1b[201~y\n")
		r.later(time.Minute)
		r.has("notice: 4 lines were typed before this could be read, and dropped")
		r.types("n\n")
		r.later(time.Minute)
		r.types("after\n")
		r.later(time.Minute)
		if got, want := r.out.String(), "abcd\nok\nwhole\nlater\n"; got != want || r.toy.played() > 0 || strings.Contains(r.notes.String(), "error:") {
			t.Errorf("got %q, want %q; played %d times:\n%s", got, want, r.toy.played(), r.notes)
		}
		r.leaves()
	})
}

func TestFailuresAreToldAndTheConversationGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, `{"turns":[{"error":{"cause":"auth","message":"no\u001b[2J key"}},{"text":"fine"}]}`, &toy{}, LineOptions{},
			Talk{Advise: func(err error) error { return llm.Errorf(llm.CauseOf(err), "%w", err).WithHint("a hint") }})
		r.types("one\ntwo\n")
		r.later(time.Minute)
		r.has("no key\nhint:  a hint\n")
		if got := r.out.String(); got != "fine\n" {
			t.Errorf("got %q", got)
		}
		if e := r.leaves(); e.err != nil || e.Cancelled {
			t.Errorf("got %+v", e)
		}
	})
}

func TestWhatIsFatal(t *testing.T) {
	uncertain := llm.Errorf(llm.CauseUncertain, "%w", &agent.UncertainError{})
	store := llm.Errorf(llm.CauseStore, "disk full")
	for _, c := range []struct {
		name string
		f    finished
		want error
	}{
		{"nothing", finished{}, nil},
		{"uncertain", finished{err: uncertain}, uncertain},
		{"store", finished{err: store}, store},
		{"store within a run", finished{out: failed(store)}, store},
		{"busy", finished{err: llm.Errorf(llm.CauseStore, "%w", &agent.BusyError{})}, nil},
		{"server", finished{err: llm.Errorf(llm.CauseServer, "x")}, nil},
		{"cancelled by itself", finished{err: context.Canceled}, nil},
	} {
		l := NewLines(LineOptions{Stdin: strings.NewReader(""), Stderr: io.Discard})
		if got := l.outcome(c.f, nil); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestOutputAndInputThatAreGone(t *testing.T) {
	for _, c := range []struct {
		name      string
		out       io.Writer
		in        error
		cancelled bool
		want      string
	}{
		{"reader gone", &broken{}, nil, true, ""},
		{"disk full", failing{syscall.ENOSPC}, nil, false, "write the answer: no space left on device; the run was stopped"},
		{"input broken", nil, syscall.EIO, false, "read standard input: input/output error"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers("x"), &toy{}, LineOptions{Stdout: c.out}, Talk{})
			r.types("one\n")
			if c.in != nil {
				r.in.CloseWithError(c.in)
			}
			e := r.ended()
			if got := fmt.Sprint(e.err); e.Cancelled != c.cancelled || (e.err != nil || c.want != "") && got != c.want {
				t.Errorf("%s: got %+v", c.name, e)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Nothing comes between a question and its answer: notices of the engine wait, and
// so do the lines about other calls.
func TestNoticesWaitForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out screen
		l := NewLines(LineOptions{Stdin: strings.NewReader(""), Stderr: &out})
		a := asking{ctx: t.Context(), q: plug.Question{Tool: "toy"}, reply: make(chan answered, 1)}
		go func() { l.in.lines <- typed{text: "y"} }() // before the question: a prompt
		synctest.Wait()
		go l.put(a, func() {})
		synctest.Wait()
		if len(l.waiting) != 1 {
			t.Error("a line that came before the question is gone")
		}
		go Note(heldWriter{l}, "later")
		time.Sleep(time.Minute)
		if got := out.String(); !strings.HasSuffix(got, "all: ") {
			t.Errorf("got %q while a question stood", got)
		}
		l.in.lines <- typed{text: "y", began: time.Now()}
		synctest.Wait()
		if got := out.String(); !strings.HasSuffix(got, "all: notice: later\n") {
			t.Errorf("got %q", got)
		}
		if r := <-a.reply; r.Decision != plug.Once || r.err != nil {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAskOutsideOfAConversation(t *testing.T) {
	l := NewLines(LineOptions{Stdin: strings.NewReader("")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := l.Ask(ctx, plug.Question{}); a.Decision != plug.Deny || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %+v, %v", a, err)
	}
	close(l.in.over)
	if a, err := l.Ask(t.Context(), plug.Question{}); a.Decision != plug.Deny || !errors.Is(err, errOver) {
		t.Errorf("over: got %+v, %v", a, err)
	}
}

func failed(err *llm.Error) (out agent.Outcome) {
	out.Status, out.Err = agent.Failed, err
	return out
}

// Symptom: exit went to the model, which said that it can not leave. Trigger: a habit
// of other programs.
func TestExitLeaves(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{{"exit", true}, {"Quit  ", true}, {"/exit", true}, {" exit", false}, {"exit now", false}, {`"""` + "\nexit\n" + `"""`, false}} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, answers("Hello."), &toy{}, LineOptions{}, Talk{})
			r.types(c.line + "\n")
			r.later(time.Minute)
			left := false
			select {
			case e := <-r.done:
				left = true
				if e.err != nil || e.Cancelled {
					t.Errorf("%q: got %+v", c.line, e)
				}
			default:
				r.leaves()
			}
			if r.in.Close(); left != c.want || (r.out.String() == "") != c.want {
				t.Errorf("%q: left %v, the model said %q", c.line, left, r.out)
			}
		})
	}
}
