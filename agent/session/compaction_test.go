package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"alisio/llm"
)

// talk is a conversation of so many turns, of each a prompt, a call, its result and an
// answer.
func talk(from, turns int) []llm.Message {
	var all []llm.Message
	for i := range turns {
		id := fmt.Sprint(from + i)
		all = append(all,
			llm.Message{Role: llm.RoleUser, Text: "prompt " + id},
			llm.Message{Role: llm.RoleAssistant, Text: "look", Calls: []llm.ToolCall{{ID: id, Name: "look", Arguments: "{}"}}},
			llm.Message{Role: llm.RoleTool, CallID: id, Parts: []llm.Part{{Type: llm.PartText, Text: "result " + id}}},
			llm.Message{Role: llm.RoleAssistant, Text: "answer " + id})
	}
	return all
}

func texts(messages []llm.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, m.PlainText())
	}
	return all
}

func compacting(t *testing.T) (*SQLite, func() []llm.Message) {
	t.Helper()
	s := openAt(t, t.TempDir(), nil)
	if err := s.Create(t.Context(), Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	return s, func() []llm.Message {
		t.Helper()
		all, err := s.Messages(context.Background(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

func checkpoint(text string) *llm.Message {
	return &llm.Message{Role: llm.RoleUser, Summary: true, Text: text}
}

func TestCompactAndUndo(t *testing.T) {
	s, now := compacting(t)
	ctx := t.Context()
	before := talk(0, 3)
	if err := s.Append(ctx, "s", "r", before...); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx, "s", Compaction{RunID: "r2", Checkpoint: checkpoint("sum"), Kept: before[8:]}); err != nil {
		t.Fatal(err)
	}
	if got, want := texts(now()), []string{"sum", "prompt 2", "look", "result 2", "answer 2"}; !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	head, gone, err := s.LastCompaction(ctx, "s")
	if err != nil || head.Text != "sum" || !slices.Equal(texts(gone), texts(before[:8])) {
		t.Errorf("%q gave way to %q, %v", texts(gone), head.Text, err)
	}
	// What comes after stays, whatever is undone.
	if err := s.Append(ctx, "s", "r3", talk(9, 1)...); err != nil {
		t.Fatal(err)
	}
	if n, err := s.UndoCompaction(ctx, "s"); err != nil || n != 12 {
		t.Fatalf("restored %d, %v", n, err)
	}
	if got, want := texts(now()), texts(append(before, talk(9, 1)...)); !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	if _, err := s.UndoCompaction(ctx, "s"); !errors.Is(err, ErrNoCompaction) {
		t.Errorf("one more to undo: %v", err)
	}
	if _, _, err := s.LastCompaction(ctx, "s"); !errors.Is(err, ErrNoCompaction) {
		t.Errorf("of one that was undone: %v", err)
	}
	// People see each message once, the checkpoint that was undone not at all.
	page, err := s.MessagesPage(ctx, "s", 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var copies Copies
	shown := 0
	for _, m := range page {
		if again, _ := copies.Repeats(m); !again {
			shown++
		}
	}
	if shown != 16 {
		t.Errorf("%d messages are shown", shown)
	}
}

func TestCompactKeepsWhatIsThereAlone(t *testing.T) {
	s, now := compacting(t)
	if err := s.Append(t.Context(), "s", "r", talk(0, 1)...); err != nil {
		t.Fatal(err)
	}
	want := texts(now())
	for _, kept := range [][]llm.Message{talk(7, 1), append(talk(0, 1), talk(0, 1)...)} {
		if err := s.Compact(t.Context(), "s", Compaction{Checkpoint: checkpoint("sum"), Kept: kept}); !errors.Is(err, ErrNotActive) {
			t.Errorf("kept what is not there: %v", err)
		}
	}
	if got := texts(now()); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Whatever is compacted, shortened, appended and undone, in any order: the store's
// active messages are those of a plain list.
func TestRandomCompactions(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 20 {
		s, now := compacting(t)
		ctx := t.Context()
		type state struct {
			active []llm.Message
			since  int // messages appended behind the compaction
		}
		var stack []state // before each compaction, unshortened
		var active []llm.Message
		for step := range 25 {
			switch r.IntN(4) {
			case 0, 1:
				more := talk(1_000*round+10*step, 1)
				if err := s.Append(ctx, "s", "r", more...); err != nil {
					t.Fatal(err)
				}
				active = append(slices.Clone(active), more...)
				for i := range stack {
					stack[i].active = append(slices.Clone(stack[i].active), more...)
				}
			case 2:
				if len(active) < 5 {
					continue
				}
				c := checkpoint(fmt.Sprint("sum ", step))
				kept := active[len(active)-4*(1+r.IntN(len(active)/8+1)):]
				if kept[0].Role != llm.RoleUser {
					continue
				}
				if err := s.Compact(ctx, "s", Compaction{Checkpoint: c, Kept: kept}); err != nil {
					t.Fatal(err)
				}
				stack = append(stack, state{active: active})
				active = append([]llm.Message{*c}, kept...)
			case 3:
				n, err := s.UndoCompaction(ctx, "s")
				if (err == nil) != (len(stack) > 0) {
					t.Fatalf("round %d step %d: undo of %d: %d, %v", round, step, len(stack), n, err)
				}
				if err == nil {
					active = stack[len(stack)-1].active
					stack = stack[:len(stack)-1]
				}
			}
			if got, want := texts(now()), texts(active); !slices.Equal(got, want) {
				t.Fatalf("round %d step %d:\n got %q\nwant %q", round, step, got, want)
			}
		}
	}
}

func TestShorteningKeepsOrderAndIsUndoneWithTheCompaction(t *testing.T) {
	s, now := compacting(t)
	ctx := t.Context()
	all := talk(0, 4)
	if err := s.Append(ctx, "s", "r", all...); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx, "s", Compaction{Checkpoint: checkpoint("sum"), Kept: all[8:]}); err != nil {
		t.Fatal(err)
	}
	short := now()
	short[3].Parts = []llm.Part{{Type: llm.PartText, Text: "short"}}
	for range 2 { // the second one changes nothing
		if err := s.Compact(ctx, "s", Compaction{Kept: short}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := texts(now()), texts(short); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	rows, err := s.MessagesPage(ctx, "s", 0, 1000)
	if err != nil || len(rows) != 16+1+8+6 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := s.UndoCompaction(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if got, want := texts(now()), texts(all); !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// A session that was compacted and undone is the same one behind an export and an
// import, and can be undone there.
func TestCompactionsAreExported(t *testing.T) {
	s, now := compacting(t)
	ctx := t.Context()
	all := talk(0, 3)
	if err := s.Append(ctx, "s", "r", all...); err != nil {
		t.Fatal(err)
	}
	for i, undo := range []bool{true, false} {
		if err := s.Compact(ctx, "s", Compaction{Checkpoint: checkpoint(fmt.Sprint("sum ", i)), Kept: all[8:]}); err != nil {
			t.Fatal(err)
		}
		if !undo {
			break
		}
		if _, err := s.UndoCompaction(ctx, "s"); err != nil {
			t.Fatal(err)
		}
	}
	want := texts(now())
	var first, second bytes.Buffer
	if err := s.Export(ctx, "s", &first); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, t.TempDir(), nil)
	if _, err := other.Import(ctx, bytes.NewReader(first.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := other.Export(ctx, "s", &second); err != nil {
		t.Fatal(err)
	}
	got, err := other.Messages(ctx, "s")
	if err != nil || !slices.Equal(texts(got), want) {
		t.Errorf("got %q, %v\nwant %q", texts(got), err, want)
	}
	if first.String() != second.String() {
		t.Errorf("the second export differs:\n%s\n%s", first.String(), second.String())
	}
	if _, err := other.UndoCompaction(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if got, _ := other.Messages(ctx, "s"); !slices.Equal(texts(got), texts(all)) {
		t.Errorf("undone: got %q", texts(got))
	}
}
