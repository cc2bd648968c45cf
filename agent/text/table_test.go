package text

import "testing"

func TestTable(t *testing.T) {
	tab := Table{{"a", "世界", "x"}, {"bcd", "é"}, {"a", "0123456789", "yz"}}
	if got, want := tab.String(), "a    世界        x\nbcd  é\na    0123456789  yz\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	tab.Clip(1, 15, 3)
	if got, want := tab.String(), "a    世界    x\nbcd  é\na    01234…  yz\n"; got != want {
		t.Errorf("clipped: got:\n%s\nwant:\n%s", got, want)
	}
	tab.Clip(1, 5, 3)
	if got := tab[2][1]; got != "01…" {
		t.Errorf("no room: got %q", got)
	}
}

func TestTableCleansItsCells(t *testing.T) {
	tab := Table{{"  in", "a\nb"}, {"* on", "\x1b[31mred\u202e"}, {" ", "x"}}
	if got, want := tab.String(), "  in  a b\n* on  red\n      x\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	tab.Clip(1, 8, 0)
	if got := tab[1][1]; got != "r…" {
		t.Errorf("clipped: got %q", got)
	}
}
