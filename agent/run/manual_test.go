package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// byHand is a session of some runs, with what a person's compaction needs.
func byHand(t *testing.T, m *model, runs int) *bench {
	t.Helper()
	m.answer = func(n int, _ llm.Request) llm.Message {
		return llm.Message{Text: fmt.Sprint("answer ", n, strings.Repeat(" word", 400))}
	}
	b := compactBench(t, m, 0)
	for i := range runs {
		b.run(t.Context(), fmt.Sprint("prompt ", i))
	}
	b.events = nil
	return b
}

func (b *bench) compact(ctx context.Context, wish string) (Compacted, error) {
	b.replaced = true // what was sent before is no longer what is stored
	return Compact(ctx, b.o, Input{SessionID: "s", OnEvent: func(e plug.Event) { b.events = append(b.events, e) }}, wish)
}

func TestAPersonCompacts(t *testing.T) {
	m := &model{summary: wrote("to go on")}
	b := byHand(t, m, 6)
	out, err := b.compact(t.Context(), "keep the names")
	if err != nil || out.Done == nil || out.Done.Reason != plug.CompactManual || out.Done.Replaced != 8 || out.Usage.Output == 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	if len(m.summaries) != 1 || !strings.Contains(texts(m.summaries[0].Messages), "keep the names") {
		t.Errorf("the model was asked %+v", m.summaries)
	}
	for i, e := range b.events {
		if e.Seq != int64(i+1) || e.RunID == "" || e.RunID != b.events[0].RunID || e.ID == 0 {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if got := told[plug.PrefixChanged](b); len(got) != 1 || got[0].Cause != plug.PrefixCompaction {
		t.Errorf("got %+v", got)
	}
	b.run(t.Context(), "and now?")
	if r := m.requests[len(m.requests)-1]; !r.Messages[0].Summary || !strings.Contains(r.Messages[0].Text, "- to go on") {
		t.Errorf("the next request begins with %+v", r.Messages[0])
	}
}

func TestNothingToCompactByHand(t *testing.T) {
	m := &model{summary: wrote("x")}
	b := byHand(t, m, 1)
	out, err := b.compact(t.Context(), "")
	if err != nil || out.Done != nil || out.Why == "" || len(m.summaries) > 0 || len(told[plug.CompactionSkipped](b)) != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// C148, C152. Symptom: what a person compacts is one long turn; all of it is the last
// turn, so that nothing leaves but its prompt. Right: a cut at a safe boundary.
func TestC148ALongTurnIsCompactedByHand(t *testing.T) {
	m := &model{summary: wrote("to look")}
	m.answer = func(n int, _ llm.Request) llm.Message {
		if n > 12 {
			return llm.Message{Text: "all seen"}
		}
		return llm.Message{Calls: []llm.ToolCall{call(fmt.Sprint("a", n), "look", fmt.Sprintf(`{"n":%d}`, n)), call(fmt.Sprint("b", n), "look", fmt.Sprintf(`{"n":%d}`, -n))}}
	}
	b := compactBench(t, m, 0)
	b.run(t.Context(), "look twelve times, never say banana")
	b.events = nil
	out, err := b.compact(t.Context(), "")
	if err != nil || out.Done == nil || out.Done.Replaced < 12 || out.Done.After > out.Done.Before*2/3 {
		t.Fatalf("got %+v, %v", out, err)
	}
	b.run(t.Context(), "and now?")
	last := m.requests[len(m.requests)-1].Messages
	for _, sent := range [][]llm.Message{m.summaries[0].Messages, last} {
		if err := valid(sent); err != nil {
			t.Error(err)
		}
	}
	if got := texts(last); !strings.Contains(got, "never say banana") || !strings.Contains(got, "all seen") {
		t.Errorf("the next request says %.300s", got)
	}
}

// C151 by hand: again and again is refused as soon as it is of no use.
func TestC151CompactingByHandAgainAndAgainEnds(t *testing.T) {
	m := &model{summary: wrote("x")}
	b := byHand(t, m, 8)
	for n := 0; ; n++ {
		out, err := b.compact(t.Context(), "")
		if err != nil || n > 3 {
			t.Fatalf("after %d: %+v, %v", n, out, err)
		}
		if out.Done == nil {
			return
		}
	}
}

func TestACompactionByHandHasTheTimeOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{}
		b := byHand(t, m, 6)
		b.o.Limits.Timeout = time.Minute
		b.o.Provider = &fake{answers: []answerFunc{steps(silence(forever))}}
		_, err := b.compact(t.Context(), "")
		failed := told[plug.CompactionFailed](b)
		if llm.CauseOf(err) != llm.CauseTimeout || len(failed) != 1 || !strings.Contains(failed[0].Error, "used up its 60 s") {
			t.Errorf("got %v, told %+v", err, failed)
		}
	})
}

// What would make the conversation longer is not done, and costs what it cost.
func TestACompactionByHandThatWouldGrowIsSkipped(t *testing.T) {
	m := &model{summary: wrote("to go on")}
	b := byHand(t, m, 6)
	m.summary = func(int) llm.Message { return llm.Message{Text: strings.Repeat("long ", 8_000)} }
	out, err := b.compact(t.Context(), "")
	if err != nil || out.Done != nil || !strings.Contains(out.Why, "longer") || out.Usage.Output == 0 || len(told[plug.PrefixChanged](b)) > 0 {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestACompactionByHandThatFailsSaysSo(t *testing.T) {
	m := &model{summary: func(int) llm.Message { return llm.Message{Truncated: true} }}
	b := byHand(t, m, 6)
	_, err := b.compact(t.Context(), "")
	if llm.CauseOf(err) != llm.CauseOutputTruncated || len(told[plug.CompactionFailed](b)) != 1 {
		t.Errorf("got %v", err)
	}
	before, _ := b.store.Messages(t.Context(), "s")

	ctx, cancel := context.WithCancel(t.Context())
	m.summary = func(int) llm.Message { cancel(); return llm.Message{Text: `{"goal":"late"}`} }
	b.events = nil
	if _, err := b.compact(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if got := told[plug.CompactionFailed](b); len(got) != 1 || got[0].Error != Stopped {
		t.Errorf("cancelled: told %+v", got)
	}
	if now, _ := b.store.Messages(t.Context(), "s"); len(now) != len(before) {
		t.Errorf("%d messages became %d", len(before), len(now))
	}
}

// foreign is a store whose conversation is not the one in memory.
type foreign struct{ *session.Memory }

func (f foreign) Compact(context.Context, string, session.Compaction) error {
	return session.ErrNotActive
}

// A store that refuses a compaction since another program wrote in between keeps what
// there is: the run goes on without.
func TestACompactionThatIsRefusedEndsNoRun(t *testing.T) {
	m := &model{summary: wrote("x")}
	m.answer = func(n int, _ llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("a", 4_000)} }
	b := compactBench(t, m, 0)
	for range 3 {
		b.run(t.Context(), "go")
	}
	b.o.Store, b.o.Limits.MaxContextChars = foreign{b.store}, 15_000
	out := b.run(t.Context(), strings.Repeat("p", 1_000))
	if out.Status != Completed || len(told[plug.CompactionFailed](b)) != 1 || len(told[plug.CompactionCompleted](b)) > 0 {
		t.Errorf("got %+v, %+v", out, told[plug.CompactionFailed](b))
	}
}
