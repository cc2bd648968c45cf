package chatapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"alisio/llm/wire"
)

// assemble feeds fragments, one chunk a string of entries, and returns the
// calls as "id name arguments".
func assemble(t *testing.T, chunks ...string) []string {
	t.Helper()
	var a assembly
	for _, c := range chunks {
		var list []json.RawMessage
		if err := json.Unmarshal([]byte("["+c+"]"), &list); err != nil {
			t.Fatal(err)
		}
		for i, raw := range list {
			f, ok := readFragment(raw)
			if !ok {
				t.Fatalf("fragment %s is not readable", raw)
			}
			f.later = i > 0
			if _, err := a.add(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out []string
	for _, c := range a.calls(false) {
		out = append(out, c.ID+" "+c.Name+" "+c.Arguments)
	}
	return out
}

func TestAssembly(t *testing.T) {
	cases := []struct {
		name   string
		chunks []string
		want   string // calls, separated by |; # for an id that was made
	}{
		{"index as a string", []string{`{"index":"0","id":"a","function":{"name":"x","arguments":"{"}}`, `{"index":"0","function":{"arguments":"}"}}`}, "a x {}"},
		{"head without index, then index", []string{`{"id":"a","function":{"name":"x","arguments":""}}`, `{"index":0,"function":{"arguments":"{}"}}`}, "a x {}"},
		{"id behind the name", []string{`{"index":0,"function":{"name":"x"}}`, `{"index":0,"id":"a","function":{"arguments":"{}"}}`}, "a x {}"},
		{"fresh id for each fragment", []string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`, `{"index":0,"id":"b","function":{"arguments":"}"}}`}, "a x {}"},
		{"index reused without ids", []string{`{"index":0,"function":{"name":"x","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"x","arguments":"{\"a\":2}"}}`}, `# x {"a":1}|# x {"a":2}`},
		{"other name without id and index", []string{`{"function":{"name":"x"}}`, `{"function":{"name":"y"}}`}, "# x {}|# y {}"},
		{"continuation without id and index", []string{`{"id":"a","function":{"name":"x","arguments":"{"}}`, `{"function":{"arguments":"}"}}`}, "a x {}"},
		{"one id, no index, two calls", []string{`{"id":"a","function":{"name":"x","arguments":"{\"a\":1}"}}`, `{"id":"a","function":{"name":"x","arguments":"{\"a\":2}"}}`}, `a x {"a":1}|# x {"a":2}`},
		{"a whole call repeated", []string{`{"id":"a","function":{"name":"x","arguments":"{\"a\":1}"}}`, `{"id":"a","function":{"name":"x","arguments":"{\"a\":1}"}}`}, `a x {"a":1}`},
		{"name in pieces", []string{`{"index":0,"id":"a","function":{"name":"read_"}}`, `{"index":0,"function":{"name":"file"}}`, `{"index":0,"function":{"arguments":"{}"}}`}, "a read_file {}"},
		{"name growing", []string{`{"index":0,"id":"a","function":{"name":"read_"}}`, `{"index":0,"function":{"name":"read_file"}}`}, "a read_file {}"},
		{"brackets inside strings", []string{`{"index":0,"function":{"name":"x","arguments":"{\"a\":\"}\\\"{\""}}`, `{"index":0,"function":{"name":"x","arguments":"}"}}`}, `# x {"a":"}\"{"}`},
		{"flat call", []string{`{"id":"a","name":"x","arguments":{"b":[1]}}`}, `a x {"b":[1]}`},
		{"ids that can not be shown", []string{`{"index":0,"id":"a b","function":{"name":"x"}}`, `{"index":1,"id":"\u001b[2J","function":{"name":"y"}}`}, "# x {}|# y {}"},
		{"empty entry", []string{`{}`, `{"index":0,"type":"function","function":{"name":null,"arguments":""}}`}, ""},
		{"arguments of blanks", []string{`{"id":"a","function":{"name":"x","arguments":" \n"}}`}, "a x {}"},
	}
	for _, c := range cases {
		got := assemble(t, c.chunks...)
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "|")
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
			continue
		}
		for i := range want {
			g := got[i]
			if rest, made := strings.CutPrefix(want[i], "# "); made {
				id, after, _ := strings.Cut(g, " ")
				if len(id) != 9 || after != rest {
					t.Errorf("%s: got %q, want an id of %d and %q", c.name, g, 9, rest)
				}
			} else if g != want[i] {
				t.Errorf("%s: got %q, want %q", c.name, g, want[i])
			}
		}
	}
}

func TestAssemblyIsBounded(t *testing.T) {
	var a assembly
	var err error
	for i := 0; err == nil && i <= maxCalls; i++ {
		_, err = a.add(fragment{index: &i, name: "x"})
	}
	if !errors.Is(err, wire.ErrCalls) || len(a.slots) != maxCalls {
		t.Errorf("many calls: got %v with %d", err, len(a.slots))
	}
	big := fragment{args: make([]byte, maxArguments/4)}
	a, err = assembly{}, nil
	for i := 0; err == nil && i < 10; i++ {
		_, err = a.add(big)
	}
	if !errors.Is(err, wire.ErrCalls) || len(a.slots[0].args) > maxArguments {
		t.Errorf("large arguments: got %v with %d bytes", err, len(a.slots[0].args))
	}
	a, err = assembly{}, nil
	key := strings.Repeat("k", 1<<20)
	for i := 0; err == nil && i < 100; i++ {
		_, err = a.add(fragment{name: "x", extra: map[string]json.RawMessage{key + string(rune('a'+i)): nil}})
	}
	if !errors.Is(err, wire.ErrCalls) {
		t.Errorf("unknown keys: got %v", err)
	}
}

// Ids and names are copied into memory too: a long id counts as none, a long
// name is cut, and both count.
func TestIDsAndNamesAreBounded(t *testing.T) {
	var a assembly
	long := strings.Repeat("n", 1<<20)
	held := 0
	for i := range 20 {
		if _, err := a.add(fragment{index: &i, id: long, name: long}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.add(fragment{index: &i, id: string(rune('a' + i)), name: long + "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range a.slots {
		held += len(s.id) + len(s.name)
		if len(s.id) != 1 || len(s.name) != maxName {
			t.Errorf("got an id of %d and a name of %d bytes", len(s.id), len(s.name))
		}
	}
	if len(a.slots) != 20 || a.size != held {
		t.Errorf("got %d calls of %d bytes, counted as %d", len(a.slots), held, a.size)
	}
	name := strings.Repeat("a", 200)
	a = assembly{}
	for _, piece := range []string{name, "b" + name} {
		if _, err := a.add(fragment{id: "id", name: piece}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := a.slots[0].name, (name + "b" + name)[:maxName]; got != want || a.size != len(want)+2 {
		t.Errorf("name in pieces: got %q, counted as %d", got, a.size)
	}
}

func TestKeysOfACallAreBounded(t *testing.T) {
	var a assembly
	for i := range 2 * wire.MaxKeys {
		if _, err := a.add(fragment{name: "x", extra: map[string]json.RawMessage{string(rune('A' + i)): []byte("1")}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(a.slots[0].extra); got != wire.MaxKeys {
		t.Errorf("got %d keys, want %d", got, wire.MaxKeys)
	}
}
