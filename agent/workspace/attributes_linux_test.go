package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A list of five entries: a tag, rights and an id each (linux/posix_acl_xattr.h).
// User 4242 may read.
const accessList = "\x02\x00\x00\x00" +
	"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x92\x10\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" +
	"\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x04\x00\xff\xff\xff\xff"

func TestAttributesAreKept(t *testing.T) {
	for name, value := range map[string]string{"user.origin": "scanner 7", "system.posix_acl_access": accessList, "": ""} {
		t.Run(name, func(t *testing.T) { attributeIsKept(t, name, value) })
	}
}

// attributeIsKept writes a file that has the attribute; without a name it has none.
func attributeIsKept(t *testing.T, name, value string) {
	dir := tree(t, "f")
	path := filepath.Join(dir, "f")
	if name != "" {
		switch err := syscall.Setxattr(path, name, []byte(value), 0); {
		case errors.Is(err, errors.ErrUnsupported):
			t.Skipf("the file system of %s has no attributes like %s", dir, name)
		case err != nil:
			t.Fatal(err)
		}
	}
	was, _ := os.Stat(path)
	if _, err := open(t, dir).Write(t.Context(), Write{Path: "f", Data: []byte("longer"), ExpectedSHA256: sum("f")}); err != nil {
		t.Error(err)
	}
	now, err := os.Stat(path)
	if err != nil || content(t, path) != "longer" || os.SameFile(was, now) != (name != "") {
		t.Errorf("in place %v, holds %q, %v", os.SameFile(was, now), content(t, path), err)
	}
	got := make([]byte, 100)
	if n, err := syscall.Getxattr(path, name, got); name != "" && (err != nil || string(got[:n]) != value) {
		t.Errorf("got %q, %v", got[:max(n, 0)], err)
	}
	clean(t, dir, "f")
}
