package netfs

import "syscall"

func fileSystem(dir string) (name string, network bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", false
	}
	b := make([]byte, 0, len(s.Fstypename))
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	switch name = string(b); name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp":
		return name, true
	}
	return "", false
}
