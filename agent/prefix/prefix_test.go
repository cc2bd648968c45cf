package prefix

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/plug"
)

// body is one of the chat protocol, with a tool and n messages; each of them says text.
func body(model, tool, system string, text ...string) []byte {
	b := fmt.Sprintf(`{"model":%q,"stream":true,"extra":{"a":[1,"]}"]},"tools":[{"function":{"name":%q}}],"messages":[{"role":"system","content":%q}`, model, tool, system)
	for _, s := range text {
		raw, _ := json.Marshal(s)
		b += `,{"role":"user","content":` + string(raw) + `}`
	}
	return []byte(b + `],"max_tokens":` + fmt.Sprint(len(text)) + `}`)
}

func TestPlace(t *testing.T) {
	chat := string(body("m", "read", "be brief", `a "quoted\" one`, "two"))
	flat := `{"model":"m","tools":[],"instructions":"be [brief]","input":[{"role":"user","content":"one"},{"x":[1,{"y":"two"}]}],"include":["z"]}`
	for _, tt := range []struct{ body, at, want string }{
		{chat, `{"model`, "head"}, {chat, `"stream"`, "head"}, {chat, `]}"]`, "head"}, {chat, "read", "tools"}, {chat, "brief", "instructions"},
		{chat, "quoted", "message 1"}, {chat, ` one"`, "message 1"}, {chat, "two", "message 2"}, {chat, `],"max`, "end"}, {chat, `"max`, "end"},
		{flat, `"m"`, "head"}, {flat, "brief", "instructions"}, {flat, "one", "message 1"}, {flat, `,{"x"`, "message 2"}, {flat, "two", "message 2"}, {flat, `"z"`, "end"},
		{`{"model":"m"}`, "m", "head"}, {`no JSON "at all`, "JSON", "head"}, {`{"messages":[{"b`, "b", "message 1"},
	} {
		at := strings.Index(tt.body, tt.at)
		if got := placeOf([]byte(tt.body), at); at < 0 || got != tt.want {
			t.Errorf("at %q of %s: got %s, want %s", tt.at, tt.body, got, tt.want)
		}
	}
}

func TestEnd(t *testing.T) {
	b := body("m", "t", "s", "one", "two")
	for alone, want := range []string{`"two"}`, `"one"}`, `"s"}`} {
		if _, got := layout(b, alone); !strings.HasSuffix(string(b[:got]), want) {
			t.Errorf("without %d: it ends with %.20s", alone, b[max(0, got-20):got])
		}
	}
	for _, s := range []string{"", "{", "[]", `{"model":"m"}`, `{"messages":[]}`, `{"messages":[`, `{"messages":"x"}`} {
		if _, got := layout([]byte(s), 0); got != 0 {
			t.Errorf("%s: got %d", s, got)
		}
	}
}

// Nothing that stands in the place of a body or of a mark is more than not known.
func FuzzBody(f *testing.F) {
	f.Add(body("m", "t", "s", "one"), "", 3, 1)
	f.Add([]byte(`{"messages":[{"a\\`), markOf(body("m", "t", "s", "one"), 0).String(), 9, 0)
	f.Fuzz(func(t *testing.T, b []byte, mark string, at, alone int) {
		placeOf(b, max(0, at))
		m := markOf(b, min(max(0, alone), 3))
		if m.end > len(b) {
			t.Errorf("messages end at %d of %d bytes", m.end, len(b))
		}
		if back := parseMark(m.String()); back.String() != m.String() {
			t.Errorf("got %+v back for %+v", back, m)
		}
		if n, _ := parseMark(mark).same(b); n > len(b) {
			t.Errorf("%d bytes of %d are the same", n, len(b))
		}
	})
}

func TestMarks(t *testing.T) {
	long := strings.Repeat("word ", 40_000)
	was := body("m", "t", "s", "one", long, "a note")
	m := parseMark(markOf(was, 1).String())
	if n := len(m.sums); n == 0 || n > mostSums+mostParts {
		t.Fatalf("%d sums", n)
	}
	if n, all := m.same(body("m", "t", "s", "one", long, "more", "and more")); !all || n != m.end {
		t.Errorf("with more behind it: %d of %d, %v", n, m.end, all)
	}
	if n, all := m.same(body("m", "t", "s", "one", long[:90_000]+"!"+long[90_000:])); all || n > 90_200 || n < 90_000-m.step {
		t.Errorf("with another byte at 90,000: %d, %v", n, all)
	}
	if n, all := m.same(body("m", "t", "s", "one")); all || n > 200 {
		t.Errorf("of a short one: %d, %v", n, all)
	}
	for _, s := range []string{"", "!", "AAAA", "gAE", strings.Repeat("A", 600), markOf(was, 1).String() + "AAAA"} {
		if parseMark(s).known() {
			t.Errorf("%q is taken for a mark", s)
		}
	}
}

// What is told: nothing without a difference, the root of it with one, nothing twice.
func TestCause(t *testing.T) {
	tools := []llm.Tool{{Name: "t"}}
	key := func(model, agent, instructions string) string {
		return Key([]string{model}, []string{agent}, []string{instructions}, tools)
	}
	usual := key("m", "build", "s")
	for _, tt := range []struct {
		name string
		body []byte
		key  string
		told []plug.PrefixCause
		want plug.PrefixCause
	}{
		{"more messages", body("m", "t", "s", "one", "two"), usual, nil, ""},
		{"another agent in the same words", body("m", "t", "s", "one", "two"), key("m", "plan", "s"), nil, ""},
		{"another agent", body("m", "t", "S", "one"), key("m", "plan", "S"), nil, plug.PrefixAgent},
		{"another model of another agent", body("M", "t", "S", "one"), key("M", "plan", "S"), nil, plug.PrefixModel},
		{"other instructions", body("m", "t", "S", "one"), key("m", "build", "S"), nil, plug.PrefixInstructions},
		{"told before", body("M", "t", "s", "one"), key("M", "build", "s"), []plug.PrefixCause{plug.PrefixModel}, ""},
		{"an undo that was told", body("m", "t", "s", "two"), usual, []plug.PrefixCause{plug.PrefixUndo}, ""},
		{"another tool", body("m", "T", "s", "one"), Key([]string{"m"}, []string{"build"}, []string{"s"}, nil), nil, plug.PrefixTools},
		{"a history that somebody changed", body("m", "t", "s", "two"), usual, nil, plug.PrefixUndo},
		{"a history that is shorter", body("m", "t", "s"), usual, nil, plug.PrefixUndo},
		{"other fields", []byte(strings.Replace(string(body("m", "t", "s", "one")), "extra", "more", 1)), usual, nil, plug.PrefixModel},
		{"a compaction, and another model", body("M", "t", "s", "two"), key("M", "build", "s"), []plug.PrefixCause{plug.PrefixCompaction}, plug.PrefixModel},
	} {
		was := body("m", "t", "s", "one")
		for _, process := range []string{"this", "another"} {
			var l Last
			l.Sent(was, 0, usual)
			if stored := l.Turn(Difference{}); process == "another" {
				l = Last{}
				l.Stored(stored, nil)
			}
			for _, c := range tt.told {
				l.Told(c)
			}
			d := l.Compare(tt.body)
			if got := l.Cause(d, tt.key, true); got != tt.want || d.Shared == nil {
				t.Errorf("%s, sent by %s process: got %q, want %q, of %+v", tt.name, process, got, tt.want, d)
			}
			if place := map[plug.PrefixCause]string{plug.PrefixTools: "tools", plug.PrefixInstructions: "instructions", plug.PrefixModel: "head"}[tt.want]; place != "" && d.Place != place {
				t.Errorf("%s, sent by %s process: it differs in %s", tt.name, process, d.Place)
			}
			if process == "this" && d.Place != "" && (d.About || tt.body[*d.Shared] == was[*d.Shared]) {
				t.Errorf("%s: %d is not the first byte that differs", tt.name, *d.Shared)
			}
		}
	}
	var unknown Last
	if d := unknown.Compare(body("m", "t", "s")); d != (Difference{}) || unknown.Cause(d, usual, true) != "" || unknown.Cause(d, usual, false) != "" {
		t.Errorf("of nothing known: %+v", d)
	}
}

// A request that failed is the last one for this process alone; what was told before it
// stays told, what came behind it does not.
func TestWhatIsStoredAndWhatIsSent(t *testing.T) {
	var l Last
	l.Sent(body("m", "t", "s", "one"), 0, "a b c d")
	stored := l.Turn(Difference{})
	l.Told(plug.PrefixModel)
	l.Sent(body("M", "t", "s", "one"), 0, "A b c d") // fails
	l.Stored(stored, []plug.PrefixCause{plug.PrefixModel})
	back := body("m", "t", "s", "one")
	if got := l.Cause(l.Compare(back), "a b c d", true); got != plug.PrefixModel {
		t.Errorf("the first model again: got %q", got)
	}
	l.Stored(stored, []plug.PrefixCause{plug.PrefixModel, plug.PrefixUndo})
	if !slices.Equal(l.told, []plug.PrefixCause{plug.PrefixUndo}) {
		t.Errorf("told since: %v", l.told)
	}
	l.Forget()
	if d := l.Compare(body("M", "t", "s", "one", "two")); d.Place != "" || d.About || *d.Shared != l.mark.end {
		t.Errorf("by its mark: %+v", d)
	}
	l.Stored(nil, nil)
	if l.key != "" || l.mark.known() {
		t.Errorf("of a session without turns: %+v", l)
	}
}

func BenchmarkRequestOfAMegabyte(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for n := 0; n < 1<<20; {
		s := strings.Repeat("if err != nil {\n\treturn \"a\"\n}\n", 1+r.IntN(200))
		texts, n = append(texts, s), n+len(s)
	}
	was := body("m", "t", "s", texts...)
	now := body("m", "t", "s", append(texts, "more")...)
	mark := markOf(was, 0)
	b.SetBytes(int64(len(now)))
	b.ReportAllocs()
	for b.Loop() {
		var l Last
		l.body, l.mark = was, mark
		if d := l.Compare(now); d.Place != "" {
			b.Fatal(d)
		}
		l.Sent(now, 0, "")
	}
}
