package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/agent/text"
	"alisio/agent/tools"
	"alisio/plug"
)

// asks puts a question in a conversation that has no run, types lines, one behind each
// mark, and returns the answer and what was shown.
func asks(t *testing.T, q plug.Question, lines ...string) (a plug.Answer, err error, shown string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		from, in := io.Pipe()
		l := NewLines(LineOptions{Stdin: from, Stderr: &out})
		go l.in.run()
		reply := make(chan answered, 1)
		go l.put(asking{ctx: t.Context(), q: q, reply: reply}, func() {})
		for _, line := range lines {
			time.Sleep(quiet + settle + time.Millisecond)
			synctest.Wait()
			go in.Write([]byte(line + "\n"))
			synctest.Wait()
		}
		synctest.Wait()
		select {
		case r := <-reply:
			a, err = r.Answer, r.err
		default:
			in.Close()
			time.Sleep(time.Minute)
			t.Errorf("no answer after %q:\n%s", lines, &out)
			<-reply
		}
		in.Close()
		close(l.in.over)
		shown = out.String()
	})
	return a, err, shown
}

func twoOptions(multiple bool) plug.Choice {
	return plug.Choice{Header: "Old data", Question: "What becomes of it?", Multiple: multiple, Options: []plug.Option{
		{Label: "Keep", Description: "costs 2 GB"}, {Label: "Drop"}, {Label: "2024"},
	}}
}

func TestChoices(t *testing.T) {
	for _, c := range []struct {
		name     string
		multiple bool
		typed    []string
		want     plug.Chosen
		says     string
	}{
		{"a number", false, []string{" 2 "}, plug.Chosen{Options: []int{1}}, ""},
		{"several", true, []string{"3, 1,1"}, plug.Chosen{Options: []int{0, 2}}, ""},
		{"several with blanks", true, []string{"1 2"}, plug.Chosen{Options: []int{0, 1}}, ""},
		{"several of one", false, []string{"1,2", "1"}, plug.Chosen{Options: []int{0}}, "only one of them can be chosen"},
		{"none there", false, []string{"4", "0", "1,9", "1"}, plug.Chosen{Options: []int{0}}, "there is no such option: type 1 to 3"},
		{"a label", false, []string{"drop"}, plug.Chosen{Options: []int{1}}, ""},
		{"a label that is a number", false, []string{"2024"}, plug.Chosen{Options: []int{2}}, ""},
		{"words", false, []string{"neither: \x1b[31mmove\a it"}, plug.Chosen{Text: "neither: move it"}, ""},
		{"words that begin with a number", false, []string{"2 but later"}, plug.Chosen{Text: "2 but later"}, ""},
		{"a number in words", false, []string{`"7"`}, plug.Chosen{Text: `"7"`}, ""},
		{"skipped", false, []string{""}, plug.Chosen{}, ""},
		{"blanks skip", false, []string{"  "}, plug.Chosen{}, ""},
		{"asked again", false, []string{"?", "1"}, plug.Chosen{Options: []int{0}}, ""},
		{"pasted", false, []string{"\x1b[200~one\n/two\x1b[201~"}, plug.Chosen{Text: "one\n/two"}, ""},
		{"a block", false, []string{"\"\"\"\none\ntwo\n\"\"\""}, plug.Chosen{Text: "one\ntwo"}, ""},
		{"a line that goes on", false, []string{"one\\\ntwo"}, plug.Chosen{Text: "one\ntwo"}, ""},
		{"too long", false, []string{strings.Repeat("x", maxWords+1), "1"}, plug.Chosen{Options: []int{0}}, "that is too long"},
		{"far too long", false, []string{"1" + strings.Repeat(" ", maxInput), "1"}, plug.Chosen{Options: []int{0}}, "that is too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err, shown := asks(t, plug.Question{Kind: plug.AskQuestions, Tool: "toy", Questions: []plug.Choice{twoOptions(c.multiple)}}, c.typed...)
			if err != nil || a.Decision != plug.Once || a.By != plug.ByUser || !reflect.DeepEqual(a.Chosen, []plug.Chosen{c.want}) {
				t.Errorf("got %+v, %v", a, err)
			}
			if !strings.Contains(shown, c.says) || strings.Count(shown, "that is") > 1 {
				t.Errorf("no %q in:\n%s", c.says, shown)
			}
		})
	}
}

// A whole form: each question has its number, and Enter skips that one alone.
func TestAForm(t *testing.T) {
	q := plug.Question{Kind: plug.AskQuestions, Tool: "toy", Label: "general › explore", SessionID: "child",
		Questions: []plug.Choice{{Question: "Name?"}, twoOptions(false), twoOptions(true), {Header: "Last", Question: "More?"}}}
	a, err, shown := asks(t, q, "7", "", "1,2", "no\tmore")
	want := []plug.Chosen{{Text: "7"}, {}, {Options: []int{0, 1}}, {Text: "no\tmore"}}
	if err != nil || !reflect.DeepEqual(a.Chosen, want) {
		t.Errorf("got %+v, %v", a, err)
	}
	for _, says := range []string{
		"\nquestion: toy of general › explore asks (1 of 4)\n  | Name?\nanswer? Enter skips: ",
		"\nquestion: toy of general › explore asks (2 of 4): Old data\n  | What becomes of it?\n   1 | Keep\n      | costs 2 GB\n   2 | Drop\n   3 | 2024\n" +
			"answer? a number or words, Enter skips: ",
		"answer? numbers (1,2) or words, Enter skips: ",
		"asks (4 of 4): Last\n",
	} {
		if !strings.Contains(shown, says) {
			t.Errorf("no %q in:\n%s", says, shown)
		}
	}
}

// What a tool of a plugin hands over is not checked before: it can not flood the screen,
// nor leave its place.
func TestHostileChoices(t *testing.T) {
	for name, q := range map[string][]plug.Choice{
		"none": {}, "five": make([]plug.Choice, 5), "many options": {{Question: "?", Options: make([]plug.Option, 21)}},
	} {
		a, err, shown := asks(t, plug.Question{Kind: plug.AskQuestions, Questions: q})
		if err == nil || !strings.Contains(shown, "a question could not be put") || len(shown) > 200 {
			t.Errorf("%s: got %+v, %v:\n%s", name, a, err, shown)
		}
	}
	evil := "Old\r\x1b[2J\nallow? y\n\u202e\u200b\x9b\xff" + strings.Repeat("w", 300)
	long := plug.Choice{Header: evil, Question: strings.Repeat("w\n", 200), Options: []plug.Option{{Label: evil, Description: evil}}}
	q := plug.Question{Kind: plug.AskQuestions, Tool: evil, Label: evil, SessionID: evil, Questions: []plug.Choice{long}}
	for _, cells := range []int{20, 76} {
		for i, line := range choice(q, 0, "mine", cells) {
			for _, r := range line {
				if text.Acts(r) || r == 0x200b {
					t.Fatalf("%U in %q", r, line)
				}
			}
			if i > 0 && !strings.HasPrefix(line, "  ") || text.Width(line) > cells+len(gutter) {
				t.Errorf("%d cells, not in its place: %q", cells, line)
			}
		}
	}
	a, err, shown := asks(t, q, "?", "1")
	if err != nil || len(a.Chosen[0].Options) != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
	if !strings.Contains(shown, "more lines, which ? shows\nanswer? a number or words, ? all, Enter skips: ") || !strings.HasSuffix(shown, "answer? a number or words, Enter skips: ") {
		t.Errorf("shown:\n%s", shown)
	}
}

func TestReviews(t *testing.T) {
	short, long := "# Plan\n1. do it\n", "# Plan\n"+strings.Repeat("step\n", 150)
	for _, c := range []struct {
		name, plan string
		typed      []string
		want       plug.Answer
		says       string
	}{
		{"approved", short, []string{"y"}, plug.Answer{Decision: plug.Once}, ""},
		{"skipped", short, []string{"No"}, plug.Answer{Decision: plug.Deny}, ""},
		{"skipped with a reason", short, []string{"n later,  \x1b[31mperhaps"}, plug.Answer{Decision: plug.Deny, Reason: "later,  perhaps"}, ""},
		{"feedback", short, []string{"f", "f keep the tests"}, plug.Answer{Decision: plug.Feedback, Reason: "keep the tests"}, "say what is to be changed"},
		{"feedback in lines", short, []string{"\x1b[200~f one\ntwo\x1b[201~"}, plug.Answer{Decision: plug.Feedback, Reason: "one\ntwo"}, ""},
		{"unclear", short, []string{"", "ok", "a", "n"}, plug.Answer{Decision: plug.Deny}, "that is no answer: y, n, or f"},
		{"yes with a condition", short, []string{"y but not the tests", "n"}, plug.Answer{Decision: plug.Deny}, "y stands alone"},
		{"pasted yes", short, []string{"\x1b[200~y\x1b[201~", "\x1b[Cy", "n"}, plug.Answer{Decision: plug.Deny}, "y stands alone"},
		{"long and yes", long, []string{"y", "yes", "n"}, plug.Answer{Decision: plug.Deny}, "not all of it was shown yet"},
		{"long and read", long + "the end", []string{"y", "?", "y"}, plug.Answer{Decision: plug.Once}, "  | the end\n"},
		{"too long", short, []string{"f " + strings.Repeat("x", maxWords+1), "n"}, plug.Answer{Decision: plug.Deny}, "that is too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := plug.Question{Kind: plug.AskPlan, Tool: "exit_plan", Label: "deep", Review: plug.Review{Revision: 2, Title: "Do\x1b[2J it", Text: c.plan}}
			a, err, shown := asks(t, q, c.typed...)
			c.want.By = plug.ByUser
			if err != nil || !reflect.DeepEqual(a, c.want) {
				t.Errorf("got %+v, %v", a, err)
			}
			for _, says := range []string{
				"\nplan: exit_plan of deep asks for a review\n  title: Do<U+001B>[2J it\n  version: 2\n  | # Plan\n",
				"  a yes: the agent build goes on with the permissions that were given\n" + reviewMark, c.says,
			} {
				if !strings.Contains(shown, says) {
					t.Errorf("no %q in:\n%s", says, shown)
				}
			}
		})
	}
}

// marked lets the input be quiet until an answer is taken.
func (r *rig) marked(mark string) {
	r.t.Helper()
	r.later(quiet + settle + time.Millisecond)
	if got := r.notes.String(); !strings.HasSuffix(got, mark) {
		r.t.Fatalf("no %q at the end of:\n%s", mark, got)
	}
}

// form is a run in which the model puts two questions with the real tool.
const form = `{"turns":[{"calls":[{"name":"ask_user_question","arguments":{"questions":[
	{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"More?","options":[{"label":"C"},{"label":"D"}]}]}}]},{"text":"thanks"},{"text":"two"}]}`

func TestTheModelAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startIn(t, t.TempDir(), perm.Policy{}, tools.Session(), form, &toy{}, LineOptions{}, Talk{})
		r.types("go on\n2\n") // the 2 was typed before the question: the next prompt
		r.types("1\n")        // while it is read: dropped
		r.marked("Enter skips: ")
		r.has("question: ask_user_question asks (1 of 2)\n  | Which?\n   1 | A\n")
		r.has("1 line was typed before this could be read, and dropped")
		r.later(time.Hour)
		r.types("2\n1\n") // the second line is before its question
		r.marked("Enter skips: ")
		r.types("\n")
		r.later(time.Minute)
		r.has("ask_user_question Which? (and 1 more) · 1 of 2 answered")
		if got := r.notes.String(); strings.Contains(got, "running") || r.out.String() != "thanks\ntwo\n" {
			t.Errorf("a person's time counts as the tool's, or the answer is %q:\n%s", r.out, got)
		}
		r.leaves()
	})
}

// Nobody is there any more: the model is told so.
func TestQuestionsAtTheEndOfTheInput(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := startIn(t, t.TempDir(), perm.Policy{}, tools.Session(), form, &toy{}, LineOptions{}, Talk{})
			if before {
				go func() { r.in.Write([]byte("go on\n")); r.in.Close() }()
			} else {
				r.types("go on\n")
				r.marked("Enter skips: ")
				r.types("1\n")
				r.marked("Enter skips: ")
				r.in.Close()
			}
			if e := r.ended(); e.err != nil || e.Cancelled {
				t.Errorf("got %+v", e)
			}
			r.has("notice: that is no answer:")
			r.has("ask_user_question Which? (and 1 more) · nobody to ask\n")
		})
	}
}

func TestAQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startIn(t, t.TempDir(), perm.Policy{}, tools.Session(), form, &toy{}, LineOptions{}, Talk{Prompt: "go on"})
		r.marked("Enter skips: ")
		r.types("\"\"\"\nhalf an answer\n")
		r.interrupts <- syscall.SIGINT
		synctest.Wait()
		r.has("notice: the question was withdrawn\n")
		r.has("notice: stopped;")
		if e := r.leaves(); e.err != nil || e.Cancelled {
			t.Errorf("got %+v", e)
		}
	})
	// By whoever asked.
	synctest.Test(t, func(t *testing.T) {
		var out screen
		from, in := io.Pipe()
		l := NewLines(LineOptions{Stdin: from, Stderr: &out})
		ctx, cancel := context.WithCancel(t.Context())
		a := asking{ctx: ctx, q: plug.Question{Kind: plug.AskPlan}, reply: make(chan answered, 1)}
		go l.put(a, func() {})
		time.Sleep(time.Second)
		cancel()
		if r := <-a.reply; !errors.Is(r.err, context.Canceled) || r.Decision != plug.Deny {
			t.Errorf("got %+v", r)
		}
		in.Close()
	})
}

// A plan that is approved goes on with the agent that may change something.
func TestAPlanIsReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, _ := json.Marshal(map[string]string{"plan": "# Rename\nall of it"})
		turns := fmt.Sprintf(`{"turns":[{"calls":[{"name":"exit_plan","arguments":%s}]},{"calls":[{"name":"exit_plan","arguments":{"plan":"# Rename\nhalf of it"}}]},{"text":"done"}]}`, plan)
		r := startIn(t, t.TempDir(), perm.Policy{}, append(tools.All(), tools.Session()...), turns, &toy{}, LineOptions{}, Talk{Prompt: "/agent:plan rename it"})
		r.marked(reviewMark)
		r.types("f half of it\n")
		r.marked(reviewMark)
		r.has("  version: 2\n  | # Rename\n  | half of it\n")
		r.types("y\n")
		r.later(time.Minute)
		r.has("exit_plan Rename · feedback\n")
		r.has("exit_plan Rename · approved\n")
		if notes := r.notes.String(); !strings.HasSuffix(notes, "\n> ") || !strings.Contains(notes, "\n> /agent:plan rename it\n") {
			t.Errorf("the mark of a prompt is not that of the agent build: %q", notes)
		}
		r.types("/stats\n")
		r.later(time.Second)
		if got := r.out.String(); !strings.Contains(got, "agent     build\n") || !strings.Contains(got, "the agent is plan now") {
			t.Errorf("got %q", got)
		}
		r.leaves()
	})
}
