package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"alisio/tui/tuitest"
)

func draw(t *testing.T, in string) string {
	t.Helper()
	term := tuitest.New(20, 3, tuitest.Modern())
	fmt.Fprint(term, in)
	var b bytes.Buffer
	if err := Write(&b, term.Screen(), Dark()); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ab c", `<text x="0" y="14" textLength="180" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#d8dee9">ab c`},
		{"<&>", "&lt;&amp;&gt;"},
		{"漢x", `textLength="18" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#d8dee9">漢</text>`},
		{"\x1b[1;31mx", `fill="#cd0000" font-weight="bold">x</text>`},
		{"\x1b[7mx", `<rect x="0" y="0" width="9" height="18" fill="#d8dee9"/>`},
		{"\x1b[7mx", `fill="#1c1e26">x</text>`},
		{"\x1b[48;2;1;2;3m ", `fill="#010203"/>`},
		{"\x1b[4:3;58;5;9;9mx", `style="text-decoration:underline wavy #ff0000 line-through">x`},
		{"\x1b[2;3H", `<rect x="18" y="18" width="9" height="18" fill="#88c0d0" opacity="0.6"/>`},
		{"\x1b[6 q", `<rect x="0" y="0" width="2" height="18"`},
		{"\x1b_Ga=T,f=24,s=1,v=1,c=4,r=2;AAAA\x1b\\", `width="36" height="36" fill="none"`},
	} {
		if got := draw(t, c.in); !strings.Contains(got, c.want) {
			t.Errorf("%q: no %s in\n%s", c.in, c.want, got)
		}
	}
	if got := draw(t, "\x1b[?25l\x1b[8msecret"); strings.Contains(got, "secret") || strings.Contains(got, "opacity") {
		t.Errorf("hidden things are drawn:\n%s", got)
	}
}
