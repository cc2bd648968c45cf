package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Address families of Linux (socket.h), wherever this is compiled.
const (
	familyNone    = 0
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

// maxAddress is the size of struct sockaddr_storage, in bytes.
const maxAddress = 128

// address writes a struct sockaddr for people: "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "unix:@abstract", "netlink" (the kernel itself), "none" (a
// socket is let go), "family 17" for others.
func address(b []byte) string {
	if len(b) < 2 {
		return fmt.Sprintf("cut off after %d bytes", len(b))
	}
	family := binary.LittleEndian.Uint16(b) // amd64 and arm64 alike
	switch {
	case family == familyInet && len(b) >= 8:
		ip := netip.AddrFrom4([4]byte(b[4:8]))
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[2:])).String()
	case family == familyInet6 && len(b) >= 24:
		ip := netip.AddrFrom16([16]byte(b[8:24]))
		if len(b) >= 28 {
			if scope := binary.LittleEndian.Uint32(b[24:]); scope != 0 {
				ip = ip.WithZone(strconv.Itoa(int(scope)))
			}
		}
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[2:])).String()
	case family == familyUnix && len(b) > 2 && b[2] == 0:
		return "unix:@" + string(b[3:])
	case family == familyUnix:
		name, _, _ := strings.Cut(string(b[2:]), "\x00")
		return "unix:" + name
	case family == familyNetlink:
		return "netlink"
	case family == familyNone:
		return "none"
	case family == familyInet, family == familyInet6:
		return fmt.Sprintf("cut off after %d bytes", len(b))
	}
	return fmt.Sprintf("family %d", family)
}
