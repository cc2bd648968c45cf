// Package term knows what the standard streams are: terminals or not, and
// whether they show colour. It is the one door to golang.org/x/term.
package term

import (
	"os"
	"runtime"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal. Anything that is no file
// of the operating system is none.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok || f == nil {
		return false
	}
	// Not f.Fd(), which would put the file into blocking mode for good.
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	yes := false
	err = c.Control(func(fd uintptr) { yes = term.IsTerminal(int(fd)) })
	return err == nil && yes
}

// Color reports whether colour may be written to a stream: to a terminal that
// is not dumb unless NO_COLOR is set, and anywhere when CLICOLOR_FORCE says so.
func Color(stream any, getenv func(string) string) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return true
	case getenv("TERM") == "dumb", getenv("TERM") == "" && runtime.GOOS != "windows":
		return false
	}
	return IsTerminal(stream)
}
