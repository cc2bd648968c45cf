package netfs

import "testing"

func TestNetworkMagic(t *testing.T) {
	tests := []struct {
		magic uint32
		name  string
		yes   bool
	}{
		{0x6969, "nfs", true},
		{0xFF534D42, "cifs", true},
		{0x01021997, "9p", true},
		{0xEF53, "", false},     // ext4
		{0x65735546, "", false}, // FUSE: anything may be behind it
	}
	for _, tt := range tests {
		if name, yes := networkMagic(tt.magic); name != tt.name || yes != tt.yes {
			t.Errorf("%#x: got %q, %v; want %q, %v", tt.magic, name, yes, tt.name, tt.yes)
		}
	}
}
