package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

func exported(t *testing.T, s *SQLite, id string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(context.Background(), id, &b); err != nil {
		t.Fatalf("export: %v", err)
	}
	return b.Bytes()
}

// checkLines fails if any line is no object of valid text.
func checkLines(t *testing.T, export []byte) {
	t.Helper()
	if !utf8.Valid(export) || bytes.ContainsAny(export, "\r\u0085\u2028\u2029") {
		t.Error("the export holds what readers may take for the end of a line, or no UTF-8")
	}
	for i, l := range bytes.Split(bytes.TrimSuffix(export, []byte("\n")), []byte("\n")) {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(l, &object); err != nil {
			t.Errorf("line %d: %v: %.80s", i+1, err, l)
		}
	}
}

// whole adds the end to lines of an export.
func whole(lines string) string {
	lines = strings.TrimSuffix(lines, "\n") + "\n"
	return lines + fmt.Sprintf(`{"type":"end","lines":%d}`, strings.Count(lines, "\n")) + "\n"
}

// roundTrip imports an export into an empty store and exports it again.
func roundTrip(t *testing.T, export []byte) *SQLite {
	t.Helper()
	checkLines(t, export)
	other := openAt(t, t.TempDir(), func(text string) { t.Errorf("notice: %s", text) })
	head, err := other.Import(context.Background(), bytes.NewReader(export))
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	// What was going on there goes on for nobody here.
	export = bytes.ReplaceAll(export, []byte(`"status":"running"`), []byte(`"status":"interrupted"`))
	if again := exported(t, other, head.ID); !bytes.Equal(again, export) {
		t.Errorf("the second export differs:\n%s\nthe first was:\n%s", again, export)
	}
	return other
}

func TestFixturesComeThroughAnExport(t *testing.T) {
	ctx := context.Background()
	for _, version := range []string{"v1", "v2", "v3", "v4", "v6"} {
		t.Run(version, func(t *testing.T) {
			s := fixture(t, version, nil)
			list, err := s.List(ctx, Query{All: true, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, sum := range list {
				other := roundTrip(t, exported(t, s, sum.ID))
				want, _ := s.Messages(ctx, sum.ID)
				got, err := other.Messages(ctx, sum.ID)
				if err != nil || len(got) != len(want) {
					t.Fatalf("got %d messages, %v, want %d", len(got), err, len(want))
				}
				for i := range want {
					if !codec.Same(got[i], want[i]) {
						t.Errorf("message %d: got %+v, want %+v", i, got[i], want[i])
					}
				}
				again, err := other.Summary(ctx, sum.ID)
				sum.Messages = again.Messages // which a list does not count
				sum.Status, sum.LastRun = string(interrupted(RunStatus(sum.Status))), interrupted(sum.LastRun)
				if err != nil || again != sum || again.Messages < len(want) {
					t.Errorf("got %+v, %v\nwant %+v", again, err, sum)
				}
			}
		})
	}
}

// interrupted is where a run or a child stands in an import.
func interrupted(s RunStatus) RunStatus {
	if s.Ended() {
		return s
	}
	return RunInterrupted
}

// everything makes a session that uses every column, and odd rows too.
func everything(t *testing.T) *SQLite {
	t.Helper()
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "other"})
	s.Append(ctx, "other", "", user("so that numbers in the store are not those in the session"))
	big := bytes.Repeat([]byte("0123456789abcdef"), (1<<20)/8)
	hash, err := s.PutBlob(ctx, "", big, "text/plain", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		err := tx.CreateSession(db.Session{
			ID: "a", Workspace: "/w\u2028\n", Provider: "p", Model: "m", Parent: "gone", Depth: 2, Agent: "explore", Status: "completed", Title: "¿t? \x1b[31m",
			Usage: `{"input": 1}`, Options: `{"readOnly":true}`, CreatedMs: 5, UpdatedMs: 77, Pinned: true, ArchivedMs: 9,
		})
		errs := []error{
			err,
			tx.BeginRun(db.Run{ID: "r2", Session: "a", Status: "failed", RequestID: "q", CorrelationID: "c", Model: "m", CreatedMs: 2, StartedMs: 3, EndedMs: 4, Error: "e\n", Usage: `{"input":1}`}),
			tx.BeginRun(db.Run{ID: "r1", Session: "a", Status: "interrupted", CreatedMs: 2}),
			tx.BeginCall(db.Call{Session: "a", ID: "c1\x00", RunID: "r1", Name: "shell", Effect: "process", StartedMs: 3}),
			tx.EndCall(db.Call{Session: "a", ID: "c2", Result: "{\"content\": [\n]}", RunID: "r1", Name: "f", Effect: "read", StartedMs: 3, EndedMs: 4}),
			tx.EndCall(db.Call{Session: "a", ID: "c3", Result: `{"content":[{"type":"text","text":"x"}]}`}),
			tx.AddBlobRef("a", 0, hash),
		}
		var seq int64
		for i, body := range []string{
			`{"role":"user","text":"<é>","x":1e400,"x":"\ud800"}`, "{\"role\": \"user\",\n\"text\": \"two lines\"}", "{\"role\":\"user\",\"text\":\"a\u2028b\u0085c\"}",
			`{"role":"user","te`, "\xff\xfe", ` {} `, `null`, `{"role":"nobody"}`, strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
		} {
			m := db.Message{Session: "a", RunID: "r1", Body: body, Compacted: i%2 == 0}
			if i == 1 {
				m.CopyOf = seq
			}
			if seq, err = tx.AppendMessage(m); err != nil {
				errs = append(errs, err)
			}
		}
		for _, e := range []db.Event{
			{Session: "a", RunID: "r1", Type: "run_started", Body: `{"model": "m"}`, CreatedMs: 6, RunSeq: 1, CorrelationID: "c"},
			{Session: "a", Type: "odd\n", Body: "", RunSeq: 0}, {Session: "a", Type: "broken", Body: "{"},
		} {
			_, err := tx.AddEvent(e)
			errs = append(errs, err)
		}
		return errors.Join(append(errs, tx.TouchSession("a", 77))...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryColumnComesThroughAnExport(t *testing.T) {
	export := exported(t, everything(t), "a")
	other := roundTrip(t, export)
	for field := range strings.FieldsSeq("id workspace provider model title parent depth agent status usage options createdAt updatedAt pinned " +
		"archivedAt requestId correlationId startedAt endedAt error n runId compacted copyOf body bodyBase64 name effect result " +
		"resultBase64 event seq hash mime piece pieces data lines") {
		if want := `"` + field + `":`; !bytes.Contains(export, []byte(want)) {
			t.Errorf("no line shows the field %q", field)
		}
	}
	hash := hashOf(bytes.Repeat([]byte("0123456789abcdef"), (1<<20)/8))
	if _, err := other.OpenBlob(context.Background(), "a", hash); err != nil {
		t.Errorf("the blob is gone: %v", err)
	}
	if _, err := other.Import(context.Background(), bytes.NewReader(export)); !errors.Is(err, ErrExists) {
		t.Errorf("imported twice: got %v, want ErrExists", err)
	}
}

// C114 for exports: a raw U+2028 in a message splits a record. Trigger: the
// prompt `a\u2028b\u0085c`, exported and imported.
func TestC114ExportSplitsAtLineFeedsAlone(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	const text = "a\u2028b\u0085c"
	s.Append(ctx, "a", "", user(text))
	export := exported(t, s, "a")
	if n := bytes.Count(export, []byte("\n")); n != 3 {
		t.Errorf("got %d lines, want 3:\n%s", n, export)
	}
	roundTrip(t, export)
	// A program that escapes nothing writes the characters as they are.
	raw := whole(`{"type":"session","schemaVersion":1,"id":"b"}` + "\n" + `{"type":"message","n":1,"body":{"role":"user","text":"` + text + `"}}`)
	if _, err := s.Import(ctx, strings.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Messages(ctx, "b"); err != nil || len(got) != 1 || got[0].Text != text {
		t.Errorf("got %+v, %v, want %q", got, err, text)
	}
}

func TestImportRefusesWhatItDoesNotKnow(t *testing.T) {
	ctx := context.Background()
	const head = `{"type":"session","schemaVersion":1,"id":"a"}` + "\n"
	blob := func(data, hash string, piece, pieces int) string {
		return fmt.Sprintf(`{"type":"blob","hash":%q,"mime":"text/plain","piece":%d,"pieces":%d,"data":%q}`, hash, piece, pieces, base64.StdEncoding.EncodeToString([]byte(data))) + "\n"
	}
	tests := []struct{ name, text, want string }{
		{"no head", `{"type":"message","n":1,"body":{}}`, "not an exported session"},
		{"a text", "# A talk\n\nwith words\n", "not an exported session"},
		{"no JSON", head + "x\n", "line 2: "},
		{"empty line", head + "\n", "line 2: "},
		{"two values", head + `{"type":"event","event":"x"} {}`, "line 2: "},
		{"two heads", head + head, "line 2: an export has one line"},
		{"newer", `{"type":"session","schemaVersion":2,"id":"a","new":1}`, "line 1: schema version 2: a newer Alisio"},
		{"no version", `{"type":"session","id":"a"}`, "line 1: no schema version"},
		{"no id", `{"type":"session","schemaVersion":1}`, "line 1: an id has"},
		{"long id", `{"type":"session","schemaVersion":1,"id":"` + strings.Repeat("x", 201) + `"}`, "line 1: an id has"},
		{"id of two words", `{"type":"session","schemaVersion":1,"id":"a;id"}`, "line 1: the id \"a;id\" is not made of"},
		{"id that is a flag", `{"type":"session","schemaVersion":1,"id":"--yes"}`, "line 1: the id"},
		{"parent", `{"type":"session","schemaVersion":1,"id":"a","parent":"$(id)"}`, "line 1: parent: the id"},
		{"id of a run", head + `{"type":"run","id":"$(id)","status":"failed"}`, "line 2: the id"},
		{"options", `{"type":"session","schemaVersion":1,"id":"a","options":"[1]"}`, "line 1: the options are no JSON object"},
		{"control in id", `{"type":"session","schemaVersion":1,"id":"a\u001b"}`, "line 1: the id"},
		{"unknown type", head + `{"type":"secret"}`, `line 2: unknown type of line "secret"`},
		{"unknown field", head + `{"type":"event","event":"x","y":1}`, "line 2: "},
		{"field of another type", head + `{"type":"event","event":"x","pinned":true}`, `line 2: unknown field "pinned"`},
		{"field in another case", head + `{"type":"event","EVENT":"x"}`, `line 2: unknown field "EVENT"`},
		{"wrong number", head + `{"type":"message","n":2,"body":{}}`, "line 2: message 2 stands where 1 is due"},
		{"copy of a later one", head + `{"type":"message","n":1,"copyOf":1,"body":{}}`, "line 2: a copy of message 1"},
		{"copy of one that is sent", head + `{"type":"message","n":1,"body":{"role":"user"}}` + "\n" + `{"type":"message","n":2,"copyOf":1,"body":{"role":"user"}}`, "line 3: a copy of message 1, which is not compacted"},
		{"copy of another role", head + `{"type":"message","n":1,"compacted":true,"body":{"role":"user"}}` + "\n" + `{"type":"message","n":2,"copyOf":1,"body":{"role":"assistant"}}`, "line 3: a copy of message 1, which has another role"},
		{"many calls", head + `{"type":"message","n":1,"body":{"role":"assistant","calls":[` + strings.Repeat("{},", 2000) + `{}]}}`, "line 2: decode message: too much for one message: more than 1024 calls"},
		{"many calls in base64", head + `{"type":"message","n":1,"bodyBase64":"` + base64.StdEncoding.EncodeToString([]byte(`{"role":"assistant","calls":[`+strings.Repeat("{},", 2000)+`{}]}`)) + `"}`, "line 2: decode message: too much"},
		{"long arguments", head + `{"type":"message","n":1,"body":{"role":"assistant","calls":[{"id":"1","arguments":"` + strings.Repeat("x", 8<<20+1) + `"}]}}`, "line 2: the arguments of a call are longer"},
		{"no body", head + `{"type":"message","n":1}`, "line 2: one body"},
		{"two bodies", head + `{"type":"message","n":1,"body":{},"bodyBase64":"e30="}`, "line 2: one body"},
		{"broken body", head + `{"type":"message","n":1,"body":{]}`, "line 2: "},
		{"order", head + `{"type":"event","event":"x"}` + "\n" + `{"type":"run","id":"r","status":"failed"}`, "line 3: a line of type \"run\" stands too late"},
		{"status of a run", head + `{"type":"run","id":"r","status":"done"}`, "line 2: unknown status"},
		{"same run twice", head + strings.Repeat(`{"type":"run","id":"r","status":"failed"}`+"\n", 2), "line 3: run r"},
		{"same call twice", head + strings.Repeat(`{"type":"call","id":"c","status":"completed","result":{}}`+"\n", 2), "line 3: call \"c\" is there twice"},
		{"pending call twice", head + strings.Repeat(`{"type":"call","id":"c","status":"pending"}`+"\n", 2), "line 3: call \"c\" is there twice"},
		{"status of a call", head + `{"type":"call","id":"c","status":"x"}`, "line 2: unknown status"},
		{"pending with a result", head + `{"type":"call","id":"c","status":"pending","result":{}}`, "line 2: a pending call"},
		{"no UTF-8", head + "{\"type\":\"event\",\"event\":\"\xff\"}", "line 2: the text is no valid UTF-8"},
		{"another blob's hash", head + blob("x", hashOf([]byte("y")), 1, 1), "line 2: the bytes of blob"},
		{"hash that is a path", head + blob("x", "../../x", 1, 1), "line 2: the bytes of blob"},
		{"cut blob", head + blob("x", hashOf([]byte("x")), 1, 2), "the end of blob"},
		{"mixed pieces", head + blob("x", hashOf([]byte("xy")), 1, 2) + blob("y", hashOf([]byte("x")), 2, 2), "line 3: the pieces"},
		{"later piece first", head + blob("x", hashOf([]byte("x")), 2, 2), "line 2: the pieces"},
		{"long text", head + `{"type":"event","event":"` + strings.Repeat("x", 1<<20+1) + `"}`, "line 2: a text is longer"},
	}
	s := openAt(t, t.TempDir(), nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Import(ctx, strings.NewReader(whole(tt.text)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, err := s.Session(ctx, "a"); !errors.Is(err, ErrNotFound) {
				t.Errorf("a session is left behind: %v", err)
			}
		})
	}
	if _, err := s.Import(ctx, io.MultiReader(strings.NewReader(head+`{"type":"event","event":"`), endless{})); err == nil || !strings.Contains(err.Error(), "line 2 is longer than 64 MiB") {
		t.Errorf("endless line: got %v", err)
	}
}

// An export that lost its end anywhere, at a line or in one, is not taken in, and
// neither is one that lost or gained lines inside.
func TestImportRefusesWhatIsNotWhole(t *testing.T) {
	ctx := context.Background()
	export := exported(t, everything(t), "a")
	s := openAt(t, t.TempDir(), nil)
	lines := bytes.SplitAfter(export, []byte("\n"))
	lines = lines[:len(lines)-1]
	refuse := func(name string, text []byte, want string) {
		t.Helper()
		if _, err := s.Import(ctx, bytes.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		if _, err := s.Session(ctx, "a"); !errors.Is(err, ErrNotFound) {
			t.Fatalf("%s: a session is left behind: %v", name, err)
		}
	}
	for n := 1; n < len(lines); n++ {
		refuse(fmt.Sprintf("the first %d lines", n), bytes.Join(lines[:n], nil), "cut off: ")
	}
	head, last := lines[0], lines[len(lines)-1]
	refuse("half a head", head[:len(head)/2], "line 1: cut off: its last line is missing (")
	refuse("half an end", export[:len(export)-3], fmt.Sprintf("line %d: cut off: its last line is missing (", len(lines)))
	refuse("nothing", nil, "not an exported session: there is nothing in it")
	refuse("a line less", bytes.Join([][]byte{head, last}, nil), "lines before the end: found 1, due ")
	refuse("two ends", bytes.Join([][]byte{export, last}, nil), "nothing may stand behind")
	refuse("a line behind", append(export[:len(export):len(export)], '\n'), "nothing may stand behind")
	if got, err := s.Import(ctx, bytes.NewReader(export)); err != nil || got.ID != "a" || got.Messages == 0 || got.Events == 0 {
		t.Errorf("the whole: got %+v, %v", got, err)
	}
	_, err := s.Import(ctx, bytes.NewReader(export))
	if err == nil || err.Error() != "session a exists already" {
		t.Errorf("a second time: got %v", err)
	}
}

// endless is a reader of one letter.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Symptom: gigabytes of memory. Trigger: a message of 45 MB with 15 million calls.
func TestImportOfManyCallsIsRefusedEarly(t *testing.T) {
	s := openAt(t, t.TempDir(), nil)
	text := whole(`{"type":"session","schemaVersion":1,"id":"a"}` + "\n" + `{"type":"message","n":1,"body":{"role":"assistant","calls":[` + strings.Repeat("{},", 15_000_000) + `{}]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	_, err := s.Import(context.Background(), strings.NewReader(text))
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "line 2: ") {
		t.Errorf("got %v", err)
	}
	// What was allocated in all, which is more than was in use at any time.
	if mb := int64(after.TotalAlloc-before.TotalAlloc) >> 20; mb > 700 {
		t.Errorf("%d MiB were allocated", mb)
	} else {
		t.Logf("%v, %d MiB allocated in all", took, mb)
	}
}

// manyMessages writes an export of n messages piece by piece.
func manyMessages(n, size int) io.Reader {
	body := `{"role":"user","text":"` + strings.Repeat("x", size) + `"}`
	r, w := io.Pipe()
	go func() {
		out := bytes.NewBufferString(`{"type":"session","schemaVersion":1,"id":"a"}` + "\n")
		for i := 1; i <= n; i++ {
			fmt.Fprintf(out, `{"type":"message","n":%d,"compacted":true,"body":%s}`+"\n", i, body)
			if out.Len() > 64<<10 || i == n {
				w.Write(out.Bytes())
				out.Reset()
			}
		}
		fmt.Fprintf(w, `{"type":"end","lines":%d}`, n+1)
		w.Close()
	}()
	return r
}

// heap is what is in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// peak passes bytes on and remembers the most memory that was in use.
type peak struct {
	w    io.Writer
	n    int
	most int64
}

func (p *peak) Write(b []byte) (int, error) {
	if p.n++; p.n%32 == 0 {
		p.most = max(p.most, heap())
	}
	return p.w.Write(b)
}

func TestManyMessagesNeedNoMoreMemory(t *testing.T) {
	ctx := context.Background()
	const many = 4_000
	s := openAt(t, t.TempDir(), nil)
	before := heap()
	read := &peak{w: io.Discard}
	if _, err := s.Import(ctx, io.TeeReader(manyMessages(many, 4000), read)); err != nil {
		t.Fatal(err)
	}
	written := &peak{w: io.Discard}
	if err := s.Export(ctx, "a", written); err != nil {
		t.Fatal(err)
	}
	if most := max(read.most, written.most, heap()) - before; most > 6<<20 {
		t.Errorf("%d kB in use for %d messages", most>>10, many)
	}
	if sum, err := s.Summary(ctx, "a"); err != nil || sum.Messages != many {
		t.Errorf("got %d messages, %v", sum.Messages, err)
	}
	if got, err := s.Messages(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("got %d active messages, %v, want none", len(got), err)
	}
}

func BenchmarkImport100k(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := openAt(b, b.TempDir(), nil)
		if _, err := s.Import(context.Background(), manyMessages(100_000, 300)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestExportTellsOfAFailedWriter(t *testing.T) {
	s := everything(t)
	r, w := io.Pipe()
	r.CloseWithError(errors.New("closed pipe"))
	for _, do := range []func(context.Context, string, io.Writer) error{s.Export, s.Markdown} {
		if err := do(context.Background(), "a", w); err == nil || !strings.Contains(err.Error(), "closed pipe") {
			t.Errorf("got %v", err)
		}
		if err := do(context.Background(), "none", io.Discard); !errors.Is(err, ErrNotFound) {
			t.Errorf("unknown session: got %v, want ErrNotFound", err)
		}
	}
}

func TestMarkdownIsReadableAndHarmless(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a", Workspace: "/w", Model: "m", Title: "A\x1b]0;title\x07", Created: time.UnixMilli(1700000000000)})
	must(t, s.Append(ctx, "a", "",
		llm.Message{Role: llm.RoleUser, Text: "look\r\nhere\u202e\x9b31m", Attachments: []llm.Attachment{{MIMEType: "image/png", Data: make([]byte, 11_001)}}},
		llm.Message{Role: llm.RoleUser, Text: "remember", Context: "notes/*x\n# y"},
		llm.Message{Role: llm.RoleAssistant, Text: "I do.", Calls: []llm.ToolCall{{ID: "1", Name: "shell\n# x", Arguments: "{\"command\":\"echo ```` \"}"}}},
		llm.Message{Role: llm.RoleTool, CallID: "1", IsError: true, Parts: []llm.Part{
			{Type: llm.PartText, Text: strings.Repeat("é", 2005)}, {Type: llm.PartUI, Block: json.RawMessage(`{"kind":"code","code":"twice"}`)}, {Type: "chart"},
		}},
		llm.Message{Role: llm.RoleAssistant, Text: "cut", Truncated: true},
	))
	err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		for _, m := range []db.Message{
			{Session: "a", Body: `{"role":"user","text":"replaced"}`, Compacted: true}, {Session: "a", Body: `{"role":"user","text":"copy"}`, CopyOf: 1},
			// The first is one of a message that is sent, and hides nothing.
			{Session: "a", Body: `{"role":"user","text":"old"}`, Compacted: true}, {Session: "a", Body: `{"role": "user", "text":"old"}`, CopyOf: 8},
			{Session: "a", Body: `{"role":"user","text":"ol"}`, CopyOf: 8},
			{Session: "a", Body: `{"role":"user\u001b[2J"}`},
		} {
			if _, err := tx.AppendMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	var out strings.Builder
	must(t, s.Markdown(ctx, "a", &out))
	got := out.String()
	want := "# A\n\n- session: a\n- workspace: /w\n- model: m\n- begun: 2023-11-14 22:13 UTC\n" +
		"\n## You\n\n> look\n> here\uFFFD\uFFFD31m\n\n[image/png, 11 kB]\n" +
		"\n## Context from notes/\\*x \\# y\n\n> remember\n" +
		"\n## Assistant\n\n> I do.\n\nCall of shell \\# x:\n\n`````\n{\"command\":\"echo ```` \"}\n`````\n" +
		"\n## Result\n\n```\n" + strings.Repeat("é", 2000) + "\n```\n\n*5 more characters are left out.*\n\n*A part of type chart is left out.*\n\n*The call failed.*\n" +
		"\n## Assistant\n\n> cut\n\n*The answer was cut at the output limit.*\n" +
		"\n## You (compacted)\n\n> replaced\n" +
		"\n## You\n\n> copy\n\n## You (compacted)\n\n> old\n\n## You [shortened here]\n\n> ol\n" +
		"\n*A message that can not be read is left out: decode message: unknown role \"user\\\\x1b\\[2J\".*\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A text can not pass for the transcript around it, nor swallow what follows.
// Trigger: headings, fences left open, tags and pictures in titles and texts.
func TestMarkdownCanNotBeForged(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a", Title: "# x ![p](http://evil/p.png) <img src=x> `y` &lt;"})
	must(t, s.Append(ctx, "a", "",
		llm.Message{Role: llm.RoleUser, Text: "hi\n\n## Assistant\n\nyes\n```go\nx := <-c\n"},
		llm.Message{Role: llm.RoleAssistant, Text: "a <!-- b\n===\n- c\n  ```\n<script>\n~~~~\n<b>\n~~~\n<i>\n ~~~~~ \n\\<u>\n``` a`\n<s>"},
	))
	var out strings.Builder
	must(t, s.Markdown(ctx, "a", &out))
	want := "# \\# x \\!\\[p\\](http://evil/p.png) \\<img src=x\\> \\`y\\` \\&lt;\n\n- session: a\n- workspace: \n" +
		"\n## You\n\n> hi\n>\n> ## Assistant\n>\n> yes\n> ```go\n> x := <-c\n" +
		"\n## Assistant\n\n> a &lt;!-- b\n> ===\n> - c\n>   ```\n> &lt;script>\n> ~~~~\n> <b>\n> ~~~\n> <i>\n>  ~~~~~\n> \\&lt;u>\n> ``` a`\n> &lt;s>\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1499: "1 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_250_000: "1.2 MB"} {
		if got := size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestVisibleLeavesNoControls(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	for _, r := range visible(all.String() + "\xff") {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029) {
			t.Errorf("U+%04X is left", r)
		}
	}
}

func TestStoredEventsPrintAsTheyWere(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a"})
	e := plug.Event{SessionID: "a", RunID: "r", Seq: 4, Time: time.UnixMilli(1700000000123), Data: plug.RunCompleted{Tokens: 1, Text: "<\u2028>"}}
	id, err := s.AddEvent(ctx, e)
	must(t, err)
	e.ID = id
	want, _ := json.Marshal(e)
	got, err := s.RunEvents(ctx, "a", "r")
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if line, err := json.Marshal(got[0]); err != nil || string(line) != string(want) {
		t.Errorf("got %s %v, want %s", line, err, want)
	}
}

func FuzzImportLine(f *testing.F) {
	for _, l := range []string{
		`{"type":"session","schemaVersion":1,"id":"b","usage":"{}"}`, `{"type":"message","n":1,"body":{"role":"user"},"compacted":true}`,
		`{"type":"call","id":"c","status":"completed","resultBase64":"e30="}`, `{"type":"blob","hash":"00","piece":1,"pieces":1,"data":"eA=="}`,
		`{"type":"run","id":"r","status":"failed"}`, `{"type":"event","event":"x","body":[1]}`, `null`, `[]`, `{"TYPE":"event","type":"run"}`,
	} {
		f.Add([]byte(l))
	}
	ctx := context.Background()
	s := openAt(f, f.TempDir(), nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.IndexByte(raw, '\n') >= 0 {
			return
		}
		head := `{"type":"session","schemaVersion":1,"id":"a"}` + "\n"
		got, err := s.Import(ctx, strings.NewReader(whole(head+string(raw))))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := s.Export(ctx, got.ID, &b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(ctx, got.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Import(ctx, &b); err != nil {
			t.Fatalf("what was exported is not imported: %v\n%s", err, b.Bytes())
		}
		if _, err := s.Delete(ctx, got.ID); err != nil {
			t.Fatal(err)
		}
	})
}
