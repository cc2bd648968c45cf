package main

import (
	"io"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct{ sockaddr, want string }{
		{"\x02\x00\x1f\x90\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "127.0.0.1:8080"},
		{"\x02\x00\x1f\x90\x7f\x00\x00\x01", "127.0.0.1:8080"},
		{"\x02\x00\x1f\x90\x7f", "cut off after 5 bytes"},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00", "[::1]:443"},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01", "[::ffff:127.0.0.1]:443"},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + "\xfe\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x02\x00\x00\x00", "[fe80::1%2]:443"},
		{"\x0a\x00\x01\xbb", "cut off after 4 bytes"},
		{"\x01\x00/run/x\x00rest", "unix:/run/x"},
		{"\x01\x00/run/x", "unix:/run/x"},
		{"\x01\x00\x00hidden", "unix:@hidden"},
		{"\x01\x00", "unix:"},
		{"\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "netlink"},
		{"\x00\x00", "none"},
		{"\x11\x00abc", "family 17"},
		{"\x02", "cut off after 1 bytes"},
		{"", "cut off after 0 bytes"},
	} {
		if got := address([]byte(c.sockaddr)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.sockaddr, got, c.want)
		}
	}
}

func TestAskedForHelp(t *testing.T) {
	var help strings.Builder
	if code := run([]string{"-h"}, &help); code != 0 || !strings.Contains(help.String(), "-o file") {
		t.Errorf("got %d: %s", code, help.String())
	}
	if code := run([]string{"-x"}, io.Discard); code != exitBroken {
		t.Errorf("an unknown flag: got %d, want %d", code, exitBroken)
	}
}
