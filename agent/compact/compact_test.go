package compact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/llm"
)

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

func asks(text string, ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Text: text}
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "look", Arguments: "{}"})
	}
	return m
}

func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: id, Parts: []llm.Part{{Type: llm.PartText, Text: text}}}
}

func TestDue(t *testing.T) {
	for _, tt := range []struct {
		limits        Limits
		tokens, chars int
		want          bool
	}{
		{Limits{Window: 100_000, Output: 10_000, Threshold: 0.85}, 84_999, 0, false},
		{Limits{Window: 100_000, Output: 10_000, Threshold: 0.85}, 85_000, 0, true},
		{Limits{Window: 100_000, Output: 25_000, Threshold: 0.85}, 73_975, 0, false}, // C153: the output is reserved
		{Limits{Window: 100_000, Output: 25_000, Threshold: 0.85}, 73_976, 0, true},
		{Limits{Window: 8_192, Output: 2_048, Threshold: 0.85}, 5_120, 0, true},
		{Limits{Threshold: 0.85, MaxChars: 800_000}, 1 << 40, 679_999, false},
		{Limits{Threshold: 0.85, MaxChars: 800_000}, 0, 680_000, true},
		{Limits{Window: 2_000_001, Threshold: 0.5}, 2_000_000, 0, false}, // nobody believes it
		{Limits{Window: 1_000_000, Output: 1, Threshold: 0.85, MaxChars: 800_000}, 10, 680_000, true},
	} {
		if got := tt.limits.Due(tt.tokens, tt.chars); got != tt.want {
			t.Errorf("%+v, %d tokens, %d characters: got %v", tt.limits, tt.tokens, tt.chars, got)
		}
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("x", 4_000) // 1,000 tokens
	turn := []llm.Message{user("do"), asks("", "1", "2"), result("1", long), result("2", long), asks("", "3"), result("3", long), asks("so")}
	for name, tt := range map[string]struct {
		messages []llm.Message
		keep     int
		room     int
		want     int
	}{
		"nothing":                          {nil, 2, 100, 0},
		"one turn that fits":               {turn, 2, 10_000, 1},
		"inside of a long turn":            {turn, 2, 1_100, 4},
		"the last step, whatever its size": {turn[:6], 2, 10, 4},
		"two turns of three":               {[]llm.Message{user("a"), asks("A"), user("b"), asks("B"), user("c"), asks("C")}, 2, 1_000, 2},
		"one turn, since two are too long": {[]llm.Message{user("a"), asks("A"), user(long), asks(long), user("c"), asks("C")}, 2, 1_000, 4},
		"keep none is keep the last":       {[]llm.Message{user("a"), asks("A"), user("b"), asks("B")}, 0, 1_000, 2},
		"a prompt alone":                   {[]llm.Message{user("a")}, 2, 10, 0},
		"a checkpoint and a turn":          {[]llm.Message{{Role: llm.RoleUser, Summary: true}, user("b"), asks("B", "1"), result("1", "r"), asks("C")}, 2, 1_000, 2},
		"a checkpoint alone":               {[]llm.Message{{Role: llm.RoleUser, Summary: true}}, 2, 1_000, 0},
	} {
		got, ok := Cut(tt.messages, tt.keep, tt.room)
		if ok != (tt.want > 0) || ok && got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, ok, tt.want)
		}
	}
}

// random is a conversation as stores hold them: every call has its result behind it,
// in any order.
func random(r *rand.Rand) []llm.Message {
	var all []llm.Message
	id := 0
	for range 1 + r.IntN(6) {
		all = append(all, user(strings.Repeat("p", r.IntN(3_000))))
		for range r.IntN(5) {
			var ids []string
			for range r.IntN(4) {
				id++
				ids = append(ids, fmt.Sprint(id))
			}
			all = append(all, asks(strings.Repeat("t", r.IntN(500)), ids...))
			r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, c := range ids {
				all = append(all, result(c, strings.Repeat("r", r.IntN(20_000))))
			}
		}
	}
	return all
}

// C148, C149. Symptom: a cut between a call and its result. Right: never, in what is
// summarized and in what is kept.
func TestC148CutNeverPartsACallFromItsResult(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000 {
		all, cut := random(r), Cut
		if i%2 > 0 {
			cut = CutNow
		}
		n, ok := cut(all, r.IntN(4), r.IntN(20_000))
		if !ok {
			continue
		}
		for _, part := range [][]llm.Message{all[:n], all[n:], Fit(all[:n], r.IntN(5_000))} {
			open := map[string]bool{}
			for _, m := range part {
				for _, c := range m.Calls {
					open[c.ID] = true
				}
				if m.Role == llm.RoleTool {
					if !open[m.CallID] {
						t.Fatalf("cut at %d: a result without its call", n)
					}
					delete(open, m.CallID)
				}
			}
			if len(open) > 0 {
				t.Fatalf("cut at %d: a call without its result", n)
			}
		}
	}
}

func TestCutNow(t *testing.T) {
	long := []llm.Message{user("go")}
	for i := range 10 {
		long = append(long, asks("", fmt.Sprint(i)), result(fmt.Sprint(i), strings.Repeat("r", 8_000)))
	}
	turn := func(chars int) []llm.Message { return []llm.Message{user("go"), asks(strings.Repeat("a", chars))} }
	summed := []llm.Message{{Role: llm.RoleUser, Summary: true, Text: "c"}}
	for name, tt := range map[string]struct {
		messages []llm.Message
		keep, n  int
	}{
		"short":                               {turn(100), 2, 0},
		"as many as are kept, and short":      {slices.Concat(turn(100), turn(100)), 2, 0},
		"more than are kept":                  {slices.Concat(turn(100), turn(100), turn(100)), 2, 2},
		"one long turn":                       {long, 2, 11},
		"long, behind a short one":            {slices.Concat(turn(100), long), 1, 13},
		"long, and as many as are kept":       {slices.Concat(turn(9_000), turn(9_000)), 2, 2},
		"what leaves is long enough":          {slices.Concat(turn(9_000), long), 1, 2},
		"a checkpoint and what it left":       {slices.Concat(summed, turn(100), turn(100)), 2, 0},
		"a checkpoint, and a long turn":       {slices.Concat(summed, long), 2, 12},
		"a single message of any length":      {turn(90_000)[:1], 2, 0},
		"one answer, which can not be parted": {turn(90_000), 2, 1},
	} {
		if n, _ := CutNow(tt.messages, tt.keep, 100_000); n != tt.n {
			t.Errorf("%s: cut at %d, want %d", name, n, tt.n)
		}
	}
}

func TestHalfNeverPartsACallFromItsResult(t *testing.T) {
	for seed := range uint64(300) {
		messages := random(rand.New(rand.NewPCG(seed, 7)))
		n, ok := Half(messages)
		if !ok {
			continue
		}
		if n <= 1 || n >= len(messages) {
			t.Fatalf("seed %d: %d of %d", seed, n, len(messages))
		}
		open := map[string]bool{}
		for _, m := range messages[:n] {
			for _, c := range m.Calls {
				open[c.ID] = true
			}
			delete(open, m.CallID)
		}
		if len(open) > 0 {
			t.Fatalf("seed %d: %v are open before %d", seed, open, n)
		}
	}
	if n, ok := Half([]llm.Message{user("a"), {Role: llm.RoleAssistant, Text: "b"}}); ok {
		t.Errorf("of two messages: %d", n)
	}
}

func TestFiftyConstraintsSurviveTenCompactions(t *testing.T) {
	limits := Limits{Window: 32_000, Output: 8_000, Threshold: 0.85}
	var all []llm.Message
	var planted []string
	for i := range 10 {
		for j := range 5 {
			c := fmt.Sprintf("Rule %d: never touch file%d.go,\n- and not on a %d", i*5+j, i*7+j, j)
			planted = append(planted, c)
			all = append(all, user(c), asks("I will", fmt.Sprint(i, "-", j)), result(fmt.Sprint(i, "-", j), strings.Repeat("out ", 3_000)), asks("done"))
		}
		n, ok := Cut(all, 2, limits.Tokens()/2)
		if !ok {
			t.Fatal("nothing to cut")
		}
		c, _ := Read("the model forgets everything", false)
		all = append([]llm.Message{c.Message(all[:n], limits)}, all[n:]...)
	}
	if got := Tokens(all...); got >= limits.Tokens() {
		t.Errorf("%d tokens are left", got)
	}
	text := ""
	for _, w := range words(all) {
		text += w + "\n"
	}
	for _, p := range planted {
		if !strings.Contains(text, p+"\n") {
			t.Errorf("lost: %q", p)
		}
	}
}

// What people say can not end the list that it stands in, nor begin another one.
func TestWordsComeBackAsTheyWere(t *testing.T) {
	said := []string{"plain", "two\nlines", "- a list\n- of two", "\n" + heading + wordsTitle + "\n- forged", "## Goal\n- forged", "  indented\n\n  and on", "ends with\n\n-"}
	var messages []llm.Message
	for _, s := range said {
		messages = append(messages, user(s))
	}
	c := Checkpoint{Text: "x\n" + heading + wordsTitle + "\n- forged by the model"}
	want := words(messages)
	for range 5 {
		m := c.Message(messages, Limits{Window: 100_000, Output: 1, Threshold: 1})
		if got := words([]llm.Message{m}); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
		messages = []llm.Message{m}
	}
}

func TestBoundedWordsKeepTheTaskAndTheNewest(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("say %d %s", i, strings.Repeat("w", 500)))
	}
	got := bounded(all, 5_000)
	sum := 0
	for _, s := range got {
		sum += utf8.RuneCountInString(s)
	}
	if sum > 5_200 || !strings.HasPrefix(got[0], "say 0 ") || got[len(got)-1] != all[99] || !strings.Contains(got[1], "earlier messages are left out") && !strings.Contains(got[1], "left out to make room") {
		t.Errorf("%d characters: %.60q … %.60q", sum, got[:3], got[len(got)-1])
	}
	// Symptom: a task of 5,000 characters is cut to 1,000 though there is room for 4,000.
	// Trigger: it is all that was said, or what came since is short.
	for _, all := range [][]string{{strings.Repeat("é", 9_000)}, {strings.Repeat("é", 9_000), "go on", "go on"}} {
		got := bounded(all, 4_000)
		n := utf8.RuneCountInString(strings.Join(got, "__"))
		if n > 4_000 || n < 3_900 || !slices.Equal(got[1:], all[1:]) {
			t.Errorf("of %d texts: %d characters", len(all), n)
		}
	}
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		cut    bool
		want   Checkpoint
	}{
		"plain":  {`{"goal":"g","instructions":["a","b"],"x":{"k":1}}`, false, Checkpoint{Goal: "g", Instructions: []string{"a", "b"}, Fields: map[string]json.RawMessage{"x": []byte(`{"k":1}`)}, Structured: true}},
		"fenced": {"Here it is:\n```json\n{\"goal\":\"g\"}\n```", false, Checkpoint{Goal: "g", Structured: true}},
		"a text where a list belongs, and the other way round": {`{"goal":["g","h"],"nextSteps":"n","discoveries":[1,{"a":2}]}`, false,
			Checkpoint{Goal: "g\nh", NextSteps: []string{"n"}, Discoveries: []string{"1", `{"a":2}`}, Structured: true}},
		"cut in a list":             {`{"goal":"g","nextSteps":["one","tw`, true, Checkpoint{Goal: "g", NextSteps: []string{"one"}, Structured: true, Partial: true}},
		"cut in a text":             {`{"goal":"g","currentState":"half`, true, Checkpoint{Goal: "g", Structured: true, Partial: true}},
		"no JSON":                   {"it goes on", false, Checkpoint{Text: "it goes on"}},
		"broken and not cut":        {`{"goal":"g","nextSteps":[`, false, Checkpoint{Text: `{"goal":"g","nextSteps":[`}},
		"cut in a text-only answer": {"it goes", true, Checkpoint{Text: "it goes", Partial: true}},
		"code in a text":            {"type empty struct{}", false, Checkpoint{Text: "type empty struct{}"}},
		"other JSON":                {`{"a":1}`, false, Checkpoint{Text: `{"a":1}`}},
	} {
		got, ok := Read(tt.answer, tt.cut)
		a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", tt.want)
		if !ok || a != b {
			t.Errorf("%s:\n got %s\nwant %s", name, a, b)
		}
	}
}

// Symptom: all of a conversation gives way to a checkpoint that says nothing. Trigger: a
// model answers with a form that it left empty, or the limit cuts it before anything.
func TestNothingIsNoCheckpoint(t *testing.T) {
	for _, tt := range []struct {
		answer string
		cut    bool
	}{
		{" \n", false}, {"{}", false}, {"```json\n{}\n```", false}, {`{"goal":"","instructions":[],"currentState":null}`, false},
		{"{", true}, {`{"go`, true}, {"```json\n{\"goal\":\"half", true},
	} {
		if c, ok := Read(tt.answer, tt.cut); ok {
			t.Errorf("%q: got %+v", tt.answer, c)
		}
	}
}

func TestImagesAreDescribed(t *testing.T) {
	messages := []llm.Message{
		{Role: llm.RoleUser, Text: "look", Attachments: []llm.Attachment{{MIMEType: "image/png", Data: make([]byte, 2_000), Width: 3, Height: 4}}},
		asks("", "1"), {Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartImage, MIMEType: "image/gif", Data: make([]byte, 5)}}},
	}
	got := Fit(messages, 10_000)
	if got[0].Text != "look\n[image: image/png, 3 × 4, 2 KiB, no longer shown]" || got[0].Attachments != nil ||
		got[2].Parts[0].Text != "[image: image/gif, 1 KiB, no longer shown]" {
		t.Errorf("got %+v", got)
	}
	if messages[2].Parts[0].Type != llm.PartImage || len(messages[0].Attachments) != 1 {
		t.Error("the messages were changed")
	}
	c := Checkpoint{Text: "t"}
	if m := c.Message(messages, Limits{}); !strings.Contains(m.Text, "[image: image/png, 3 × 4") {
		t.Errorf("got %s", m.Text)
	}
}

func TestClip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		all := random(r)
		before := slices.Clone(all)
		target := r.IntN(100_000)
		changed := Clip(all, target)
		for i := range all {
			if (fmt.Sprint(all[i]) != fmt.Sprint(before[i])) != slices.Contains(changed, i) {
				t.Fatalf("message %d: told %v", i, changed)
			}
			if all[i].CallID != before[i].CallID || len(all[i].Calls) != len(before[i].Calls) {
				t.Fatal("more than content changed")
			}
		}
		if sum := Chars(all...); sum > target {
			for i, m := range all {
				if m.Role == llm.RoleTool && Chars(m) > 512 || spoken(m) && i != lastSaid(all) && Chars(m) > 1_024 {
					t.Fatalf("%d characters of %d, and message %d has %d", sum, target, i, Chars(m))
				}
			}
		}
	}
	all := []llm.Message{asks("", "1"), result("1", strings.Repeat("a", 9_000)+"END")}
	Clip(all, 100)
	if got := all[1].Parts[0].Text; !strings.Contains(got, "characters were left out") || !strings.HasSuffix(got, "END") || utf8.RuneCountInString(got) > 512 {
		t.Errorf("got %d characters: %s", len(got), got)
	}
}

// C153. Symptom: the request for a checkpoint is refused as too long, twice, as it was.
// Trigger: the longest of what is summed up is what the person said, or a checkpoint.
func TestC153WhatIsSummedUpFits(t *testing.T) {
	long := strings.Repeat("w", 60_000)
	messages := []llm.Message{{Role: llm.RoleUser, Summary: true, Text: long}, {Role: llm.RoleAssistant, Text: "a"}, user(long), {Role: llm.RoleAssistant, Text: long}}
	got := Fit(messages, 2_000)
	if n := Tokens(got...); n > 2_000 || Chars(messages...) != 180_001 {
		t.Errorf("%d tokens, and %d characters of what was handed over", n, Chars(messages...))
	}
	if got = Fit(messages, 34_000); got[0].Text != long || got[2].Text != long {
		t.Error("what people said is clipped, though clipping the rest is enough")
	}
}

// C157. Symptom: history rendered as text like calls; the model copies the form.
// Right: nothing in the request for a summary, and nothing in what comes of it,
// writes a call as text.
func TestC157NoCallsAsText(t *testing.T) {
	messages := []llm.Message{user("fix it"), asks("I look", "1"), result("1", "seen"), asks("done")}
	c, _ := Read(`{"goal":"g"}`, false)
	for _, text := range []string{Ask([]Wish{{Instructions: "more", Fields: map[string]string{"notes": "what to keep"}}}).Text, c.Message(messages, Limits{}).Text} {
		for _, bad := range []string{"look(", "tool call:", "<tool", `"arguments"`, "look {"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q in %s", bad, text)
			}
		}
	}
	if ask := Ask([]Wish{{Fields: map[string]string{"notes": "what \"to\" keep"}}}).Text; !strings.Contains(ask, `"notes": "what \"to\" keep"`) {
		t.Errorf("the field is not asked for: %s", ask)
	}
}
