package llmtest

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"alisio/llm"
)

func TestExpand(t *testing.T) {
	for in, want := range map[string]string{
		"a<CR>\n":               "a\r\n",
		"a<>\nb":                "ab",
		"<LF><xE5><x8F><xB0>":   "\n台",
		"<repeat 3 ab>":         "ababab",
		"<p>plain</p> <cut off": "<p>plain</p> <cut off",
	} {
		if got := expand(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	c, err := parse("# why\n-- response --\n429 text/plain\nRetry-After: 3\n\na<cut>b\n<hold>\n-- events --\nx\n-- message --\n{}\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.status != 429 || c.header.Get("Content-Type") != "text/plain" || c.header.Get("Retry-After") != "3" {
		t.Errorf("head: got %d, %v", c.status, c.header)
	}
	if got := strings.Join(c.pieces, "|"); got != "a|b\n" || !c.hold || c.events != "x\n" || c.message != "{}" {
		t.Errorf("got %q, hold %v, events %q, message %q", got, c.hold, c.events, c.message)
	}
	for _, bad := range []string{"", "# why\n-- response --\n200\n", "-- response --\n200\n-- events --\nx\n", "# why\n-- response --\nOK\n-- events --\nx\n"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// Every file must be readable, so that no case is lost to a typing error.
func TestEveryFile(t *testing.T) {
	files, err := fs.Glob(testdata, "testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, name := range files {
		raw, err := fs.ReadFile(testdata, name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse(string(raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ends := strings.Contains(c.events, "completed\n"); ends != (c.message != "") || !ends && !strings.Contains(c.events, "error ") {
			t.Errorf("%s: a case ends with an error, or completed with a message", name)
		}
	}
}

func TestSameJSON(t *testing.T) {
	cases := []struct {
		got, want string
		same      bool
	}{
		{`{"a":[1,"x"]}`, `{"a":[1,"x"]}`, true},
		{`{"a":"AB12cd34E"}`, `{"a":"*"}`, true},
		{`{"a":"AB12cd34"}`, `{"a":"*"}`, false},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`[1]`, `[1,2]`, false},
		{`"x"`, `1`, false},
		{``, `{}`, false},
	}
	for _, c := range cases {
		if got := sameJSON(c.got, c.want); got != c.same {
			t.Errorf("%s and %s: got %v", c.got, c.want, got)
		}
	}
}

func TestPieces(t *testing.T) {
	c := &testCase{pieces: []string{"abcde", "fg"}}
	for want, k := range map[string]chunking{
		"abcde|fg":      {},
		"a|bc|d|e|fg":   {sizes: []int{1, 2, 1}},
		"a|b|c|d|e|f|g": {sizes: []int{1}},
	} {
		if got := strings.Join(k.pieces(c), "|"); got != want {
			t.Errorf("%v: got %s, want %s", k.sizes, got, want)
		}
	}
}

func TestFailure(t *testing.T) {
	for want, err := range map[string]error{
		`error server 502 "HOST answered 502: x"`:            &llm.Error{Cause: llm.CauseServer, Status: 502, Message: "127.0.0.1:4711 answered 502: x"},
		`error unreachable "connect to HOST: refused"`:       &llm.Error{Cause: llm.CauseUnreachable, Message: "connect to 127.0.0.1:4711: refused"},
		"error, not an llm.Error: plain":                     errors.New("plain"),
		`error server 503 error permanent "x"`:               &llm.Error{Cause: llm.CauseServer, Status: 503, Stream: llm.StreamFailed, Permanent: true, Message: "x"},
		`error stream lost "x"`:                              &llm.Error{Cause: llm.CauseStream, Stream: llm.StreamLost, Message: "x"},
		`error stream "empty stream from provider"`:          llm.Errorf(llm.CauseStream, "empty stream from provider"),
		`error stream "` + http.StatusText(404) + ` at 1:2"`: llm.Errorf(llm.CauseStream, "Not Found at 1:2"),
	} {
		if got := failure(err); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
