package responses

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/llm/wire"
)

// Objects that are read by the scanner, and some that encoding/json must read.
var objects = []string{
	typical, completedEvent, doneEvent(1, rsItem), doneEvent(0, msgItem), doneEvent(2, callItem),
	`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"a \"b\"\n","logprobs":[],"part":{"type":"x"}}`,
	`{"status":"incomplete","error":null,"output":[{"type":"x"}],"usage":{"input_tokens":1},"incomplete_details":{"reason":"x"},"tools":[{"a":[1e5]}]}`,
	`{"type":"message","id":"m","content":[{"type":"output_text","text":"a","refusal":null}],"summary":[]}`,
	`{"text":"a","text":"b","refusal":{"x":1}}`, `{"Text":"a"}`, `{"\u0074ext":"a"}`, `{"text":1,"type":[],"id":null}`,
	`{}`, `[]`, `null`, ``, `{"text":`, `{"text":"a"}}`,
}

// Whatever decodes an object, the result is that of encoding/json.
func FuzzDecode(f *testing.F) {
	for _, s := range objects {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data, new(event), new(event))
		check(t, data, new(response), new(response))
		check(t, data, new(outputItem), new(outputItem))
		check(t, data, new(part), new(part))
	})
}

func check[O any, P interface {
	*O
	object
}](t *testing.T, data []byte, got, want P) {
	t.Helper()
	before := string(data)
	err, wantErr := decode(data, got), json.Unmarshal(data, want)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q: got %s, %v, want %s, %v", data, got, err, want, wantErr)
	}
	if string(data) != before {
		t.Errorf("%q: the text was written to: %q", before, data)
	}
}

// Every member that has a name for encoding/json has it for the scanner.
func TestEveryMemberIsRead(t *testing.T) {
	for _, o := range []object{new(event), new(response), new(outputItem), new(part)} {
		typ := reflect.TypeOf(o).Elem()
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("json")
			into := o.member([]byte(name))
			if into == nil {
				t.Errorf("%s: %s is not read", typ, name)
				continue
			}
			*into = json.RawMessage(name)
			if got := reflect.ValueOf(o).Elem().Field(i).Bytes(); string(got) != name {
				t.Errorf("%s: %s goes elsewhere", typ, name)
			}
		}
		if o.member([]byte("x")) != nil {
			t.Errorf("%s: reads what it does not know", typ)
		}
	}
}

// told is a message of a random answer: what its pieces say and what its end does.
type told struct {
	id, pieces, final string
}

// randomText has what JSON must escape, and what it may.
func randomText(r *rand.Rand) string {
	words := []string{"a", " word", "\n", "\"", "\\", "é", "😀", "\t", "\u2028", "longer than eight bytes", "<&>", "\x01"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

func (m told) item(part string) string {
	return `{"type":"message","id":"` + m.id + `","role":"assistant","content":[` + part + `]}`
}

// quote writes a string as one of two kinds of servers does.
func quote(r *rand.Rand, s string) string {
	if r.IntN(2) == 0 {
		return string(wire.AppendString(nil, s))
	}
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// randomAnswer is a stream of messages whose pieces come mixed, with closing events
// of which some are left out and some say something else. It returns what the
// message must be.
func randomAnswer(r *rand.Rand) (stream, text string, items []string) {
	var data, texts []string
	messages := make([]told, 1+r.IntN(3))
	for i := range messages {
		messages[i].id = fmt.Sprint("msg_", i)
	}
	one := r.IntN(2) == 0 // one message after the other, as servers do
	for n := range 12 {
		i := r.IntN(len(messages))
		if one {
			i = n * len(messages) / 12
		}
		s := randomText(r)
		messages[i].pieces += s
		data = append(data, fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"content_index":0,"delta":%s}`, i, quote(r, s)))
	}
	for i, m := range messages {
		m.final = m.pieces
		if r.IntN(4) == 0 {
			m.final += randomText(r)
		}
		if r.IntN(8) == 0 {
			m.final = randomText(r) + "other"
		}
		quoted := quote(r, m.final)
		part := `{"type":"output_text","text":` + quoted + `,"annotations":[]}`
		if r.IntN(2) == 0 {
			data = append(data, fmt.Sprintf(`{"type":"response.output_text.done","output_index":%d,"content_index":0,"text":%s}`, i, quoted))
		}
		if r.IntN(2) == 0 {
			data = append(data, fmt.Sprintf(`{"type":"response.content_part.done","output_index":%d,"content_index":0,"part":%s}`, i, part))
		}
		items = append(items, m.item(part))
		data = append(data, doneEvent(i, m.item(part)))
		if m.final != "" {
			texts = append(texts, m.final)
		}
	}
	end := `{"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") + `]}}`
	return events(append(data, end)...), strings.Join(texts, blankLine), items
}

// What a done event says counts, whether its pieces said the same or not, and items
// are kept byte for byte.
func TestClosingEventsDecide(t *testing.T) {
	for seed := range uint64(2000) {
		body, text, items := randomAnswer(rand.New(rand.NewPCG(seed, 1)))
		if text == "" {
			continue
		}
		got, err := stream(strings.NewReader(body))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, body)
		}
		m := got[len(got)-1].Message
		var data []string
		for _, raw := range m.ProviderData {
			data = append(data, string(raw))
		}
		if m.Text != text || !slices.Equal(data, items) {
			t.Fatalf("seed %d: got %q, %s, want %q, %s\n%s", seed, m.Text, data, text, items, body)
		}
	}
}

// Where one message after the other comes in pieces, and its end says the same, what
// was shown is the text itself.
func TestShownTextIsTheMessage(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		var data, texts []string
		for i := range 3 {
			m := told{id: fmt.Sprint("msg_", i), pieces: "begin"}
			data = append(data, fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":"begin"}`, i))
			for range 5 {
				s := randomText(r)
				m.pieces += s
				data = append(data, fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"delta":%s}`, i, quote(r, s)))
			}
			data = append(data, doneEvent(i, m.item(`{"type":"output_text","text":`+quote(r, m.pieces)+`}`)))
			texts = append(texts, m.pieces)
		}
		var shown strings.Builder
		got, err := stream(strings.NewReader(events(append(data, completedEvent)...)))
		for _, ev := range got {
			shown.WriteString(ev.Text)
		}
		if want := strings.Join(texts, blankLine); err != nil || shown.String() != want || got[len(got)-1].Message.Text != want {
			t.Fatalf("seed %d: shown %q, want %q, %v", seed, shown.String(), want, err)
		}
	}
}

// Arguments that a done event repeats are those of the pieces.
func TestRepeatedArgumentsAreKept(t *testing.T) {
	want := `{"path":"a\nb","text":"` + strings.Repeat("x", 100) + `"}`
	quoted := string(wire.AppendString(nil, want))
	item := `{"type":"function_call","call_id":"c1","name":"write_file","arguments":` + quoted + `,"status":"completed"}`
	got, err := stream(strings.NewReader(events(
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"write_file","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"delta":`+quoted+`}`,
		`{"type":"response.function_call_arguments.done","output_index":0,"arguments":`+quoted+`}`,
		doneEvent(0, item), completedEvent)))
	if err != nil {
		t.Fatal(err)
	}
	m := got[len(got)-1].Message
	if !slices.Equal(m.Calls, []llm.ToolCall{call("c1", "write_file", want)}) || len(m.ProviderData) != 1 || string(m.ProviderData[0]) != item {
		t.Errorf("got %+v", m)
	}
}

// The four events behind the last delta each hold all of the text: one copy of it
// is made, for the item that goes back. The rest is the text itself and the buffer
// of the line, and these double while they grow.
func TestClosingEventsCostOneCopy(t *testing.T) {
	text := strings.Repeat("a \"line\" of text\n", 1<<16)
	var body strings.Builder
	for piece := range slices.Chunk([]byte(text), 64) {
		body.WriteString(events(strings.Replace(typical, `" hello"`, string(wire.AppendString(nil, string(piece))), 1)))
	}
	end := closing(text)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := complete(client(io.MultiReader(strings.NewReader(body.String()), strings.NewReader(end))), hello())
	runtime.ReadMemStats(&after)
	if err != nil || m.Text != text || len(m.ProviderData) != 1 {
		t.Fatalf("got %d bytes, %d items, %v", len(m.Text), len(m.ProviderData), err)
	}
	if got := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text)); got > 10 {
		t.Errorf("got %.1f times the bytes of the text", got)
	}
}
