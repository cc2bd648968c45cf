package text

import "testing"

func TestAtHome(t *testing.T) {
	for _, c := range []struct{ path, home, want string }{
		{"/home/a/x", "/home/a", "~/x"}, {"/home/a", "/home/a", "~"}, {"/home/ab", "/home/a", "/home/ab"}, {"/x", "", "/x"},
	} {
		if got := AtHome(c.path, c.home); got != c.want {
			t.Errorf("%v: got %q", c, got)
		}
	}
}
