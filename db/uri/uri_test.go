package uri

import "testing"

func TestFile(t *testing.T) {
	for _, tt := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/home/a/x.sqlite", false, "file:///home/a/x.sqlite"},
		{"/a b?c#d%41&e=f/x", false, "file:///a%20b%3Fc%23d%2541%26e%3Df/x"},
		{"/é/\n\x7f\"", false, "file:///%C3%A9/%0A%7F%22"},
		{`/a\b`, false, "file:///a%5Cb"},
		{`C:\Users\a b\x.sqlite`, true, "file:///C:/Users/a%20b/x.sqlite"},
		{`\\server\share\x`, true, "file:////server/share/x"},
	} {
		if got := File(tt.path, tt.windows); got != tt.want {
			t.Errorf("File(%q, %v) = %q, want %q", tt.path, tt.windows, got, tt.want)
		}
	}
}
