package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var splits = []string{
	`[]`, `[ ]`, `{}`, `[1]`, ` [ 1 , "a,]\"\\" , [2,{"b":[3]}] , null ]`, `{"a":1,"b,:\"":[{},"}"],"\\":"\\","c":{"d":{}}}`,
	`[[],[[]],{}]`, `{"a":1,"a":2}`, `{"\u0061" : "x" }`, `{"\ud800":"\ud800"}`, `{"":[","]}`, `"a"`, `null`, `7`,
}

// The pieces are those that encoding/json finds.
func FuzzSplit(f *testing.F) {
	for _, s := range splits {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := []byte(strings.TrimSpace(s))
		if !json.Valid(raw) {
			return
		}
		var want []json.RawMessage
		_ = json.Unmarshal(raw, &want)
		equal := func(a, b json.RawMessage) bool { return string(a) == string(b) }
		if got, ok := Elements(raw, len(raw)); !ok || !slices.EqualFunc(got, want, equal) {
			t.Errorf("%s: got %s, %v, want %s", raw, got, ok, want)
		}
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(raw, &object) == nil && object != nil
		got, ok := Fields(raw)
		few := len(raw) < 4*MaxKeys
		if !ok && isObject && few || ok && (!isObject || !maps.EqualFunc(got, object, equal)) {
			t.Errorf("%s: got %s, %v, want %s", raw, got, ok, object)
		}
	})
}

func TestSplitIsBounded(t *testing.T) {
	three := []byte(`[1,2,3]`)
	if got, ok := Elements(three, 3); !ok || len(got) != 3 {
		t.Errorf("as many as may be: got %s, %v", got, ok)
	}
	if got, ok := Elements(three, 2); ok || len(got) != 2 {
		t.Errorf("one more: got %s, %v", got, ok)
	}
	object := func(n int) []byte {
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprintf(`"%d":0`, i))
		}
		return []byte("{" + strings.Join(keys, ",") + "}")
	}
	if got, ok := Fields(object(MaxKeys)); !ok || len(got) != MaxKeys {
		t.Errorf("keys: got %d, %v", len(got), ok)
	}
	if _, ok := Fields(object(MaxKeys + 1)); ok {
		t.Error("one key more was taken")
	}
}

func TestKept(t *testing.T) {
	for in, want := range map[string]string{
		`{"a" : "\ud83d\ude00\uD83D\uDE00"}`: `{"a" : "\ud83d\ude00\uD83D\uDE00"}`,
		`"\ud800"`:                           `"\ufffd"`,
		`"\uDC00\uD800x"`:                    `"\ufffd\ufffdx"`,
		`"\ud800\u0041"`:                     `"\ufffd\u0041"`,
		`"\ud800\ud83d\ude00"`:               `"\ufffd\ud83d\ude00"`,
		`"\\ud800 \\\ud800"`:                 `"\\ud800 \\\ufffd"`,
		`{"\ud800":[1.0, "\/"]}`:             `{"\ufffd":[1.0, "\/"]}`,
		`"\ud800\n"`:                         `"\ufffd\n"`,
	} {
		raw := json.RawMessage(in)
		got := Kept(raw)
		if string(got) != want || string(raw) != in {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
