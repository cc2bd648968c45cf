package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Values that a scanner passes over, and some that it must not.
var raws = []string{
	`null`, `true`, `false`, `0`, `-0`, `10`, `-1.50e+3`, `1E9`, `1e-2`, `""`, `"a"`, `"a\"\\\/\b\f\n\r\t\u00e9\ud800"`, "\"\xff\"",
	`{}`, `[]`, ` { } `, ` [ ] `, `[1, "]" ,{"a":[{}]}]`, `{"a":1,"a":2,"":{"B":null}}`, `{"a":"\u0061","b_1" : [ ] , "c":-1}`,
	`{"\u0061":1}`, `{"A":1}`, `{"é":1}`,

	``, ` `, `nul`, `nulll`, `tru`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, "\"\n\"", "\"\x00\"",
	`{`, `[`, `{]`, `[}`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`, `1 2`, `{}{}`, `[]]`,
}

// Whatever is passed over is valid, and what is valid is passed over unless it
// lies too deep.
func FuzzRaw(f *testing.F) {
	for _, s := range append(raws, deep(maxRaw), deep(maxRaw+1)) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Scanner
		s.Reset(data)
		got, ok := s.Raw()
		ok = ok && s.End()
		valid := json.Valid(data)
		if ok != valid && (ok || bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) <= maxRaw) {
			t.Fatalf("%q: got %v, want %v", data, ok, valid)
		}
		if ok && string(got) != string(bytes.TrimSpace(data)) {
			t.Errorf("%q: got %q", data, got)
		}
	})
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestRawIsBounded(t *testing.T) {
	for depth, want := range map[int]bool{maxRaw: true, maxRaw + 1: true, maxRaw + 2: false, 1 << 20: false} {
		var s Scanner
		s.Reset([]byte(deep(depth)))
		if _, got := s.Raw(); got != want {
			t.Errorf("depth %d: got %v, want %v", depth, got, want)
		}
	}
}

// The members are those that encoding/json finds, in its order.
func FuzzMembers(f *testing.F) {
	for _, s := range raws {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]json.RawMessage{}
		var s Scanner
		s.Reset(data)
		if !s.Members(func(key, value []byte) bool { got[string(key)] = value; return true }) {
			return
		}
		var want map[string]json.RawMessage
		err := json.Unmarshal(data, &want)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: got %s, want %s, %v", data, got, want, err)
		}
		for key, value := range want {
			if string(got[key]) != string(value) || strings.ToLower(key) != key {
				t.Errorf("%q: %q: got %s, want %s", data, key, got[key], value)
			}
		}
	})
}

func TestMembersRefuses(t *testing.T) {
	for in, want := range map[string]bool{
		`{"a":1,"b_2":[]}`: true, ` {} `: true, `{"no":1}`: false,
		`{"A":1}`: false, `{"\u0061":1}`: false, `{"":1}`: false, `{"é":1}`: false, `[]`: false, `{"a":1}x`: false, `{"a":1`: false,
	} {
		var s Scanner
		s.Reset([]byte(in))
		if got := s.Members(func(key, _ []byte) bool { return string(key) != "no" }); got != want {
			t.Errorf("%s: got %v, want %v", in, got, want)
		}
	}
}

// A text is cut exactly where the decoded string ends.
func FuzzCutText(f *testing.F) {
	for _, text := range []string{"", "a", "a\nb", "long enough for eight bytes at once \"\\ \u00e9😀 and more", "\u2028<&>", "\x7f\x01"} {
		quoted, err := json.Marshal(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text+" and more", quoted)
		f.Add(text, quoted)
		f.Add(text, AppendString(nil, text))
		f.Add("x"+text, quoted)
	}
	f.Add("\ufffd", []byte(`"\ud800"`))
	f.Add("😀", []byte(`"\ud83d\ude00"`))
	f.Add("é", []byte(`"\u00E9"`))
	f.Add("null", []byte(`null`))
	f.Add("", []byte(`""x`))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		rest, ok := CutText(text, raw)
		own, okOwn := CutText([]byte(text), raw)
		if ok != okOwn || rest != string(own) {
			t.Fatalf("%q, %s: a string gives %q, %v, bytes %q, %v", text, raw, rest, ok, own, okOwn)
		}
		var want string
		if json.Unmarshal(raw, &want) != nil || raw[0] != '"' || raw[len(raw)-1] != '"' {
			return // not what it is for
		}
		wantRest, wantOK := strings.CutPrefix(text, want)
		// Invalid bytes and halves of pairs become U+FFFD in what is decoded: of
		// these nothing is sure.
		if unsure := strings.Contains(want, "\ufffd"); ok && (!wantOK || rest != wantRest) && !unsure || !ok && wantOK && !unsure {
			t.Errorf("%q, %s: got %q, %v, want %q, %v", text, raw, rest, ok, wantRest, wantOK)
		}
	})
}

// But for the room for one character.
func TestCutTextDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("a \"line\"\n\u00e9😀", 100)
	own, raw := []byte(text), AppendString(nil, text)
	got := testing.AllocsPerRun(100, func() {
		rest, ok := CutText(text, raw)
		left, okOwn := CutText(own, raw)
		if !ok || !okOwn || rest != "" || len(left) > 0 {
			t.Error("the text was not found")
		}
	})
	if got > 2 {
		t.Errorf("got %v allocations, want one each", got)
	}
}

// Eight bytes at once find what one at a time does, wherever it stands.
func TestSpecial(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte{'a'}, 20)
			b[at] = byte(c)
			want := len(b)
			if c < ' ' || c == '"' || c == '\\' {
				want = at
			}
			if got := special(b, 0); got != want {
				t.Errorf("%#x at %d: got %d, want %d", c, at, got, want)
			}
			b[19] = '"'
			if want = min(want, 19); special(b, 0) != want {
				t.Errorf("%#x at %d before a quote: got %d, want %d", c, at, special(b, 0), want)
			}
		}
	}
}

func TestPastString(t *testing.T) {
	for in, want := range map[string]int{`""`: 2, `"a"x`: 3, `"\""x`: 4, `"\\"x`: 4, `"12345678\"9" "`: 13, `"`: 1, `"\`: 2, `"a\"`: 4} {
		if got := PastString([]byte(in), 0); got != want {
			t.Errorf("%s: got %d, want %d", in, got, want)
		}
	}
}
