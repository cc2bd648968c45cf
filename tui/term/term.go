// Package term knows what the standard streams are: terminals or not, how wide,
// and whether they show colour and Unicode; and which signals end a program there. It is the one
// door to golang.org/x/term.
package term

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal. Anything that is no file
// of the operating system is none.
func IsTerminal(stream any) bool {
	yes := false
	control(stream, func(fd uintptr) { yes = term.IsTerminal(int(fd)) })
	return yes
}

// control calls do with the descriptor of a stream that is a file.
func control(stream any, do func(fd uintptr)) {
	f, ok := stream.(*os.File)
	if !ok || f == nil {
		return
	}
	// Not f.Fd(), which would put the file into blocking mode for good.
	if c, err := f.SyscallConn(); err == nil {
		c.Control(do) // an error means that do was not called
	}
}

// Discard drops what was typed into a terminal and not read yet, a line that is
// not finished too. It does nothing to what is no terminal.
func Discard(stream any) {
	if IsTerminal(stream) {
		control(stream, discard)
	}
}

// Foreground reports whether a terminal is this process's to use now, and not that
// of a shell that continued it in the background. Where nothing tells, it is.
func Foreground(stream any) bool {
	yes := false
	control(stream, func(fd uintptr) { yes = term.IsTerminal(int(fd)) && foreground(fd) })
	return yes
}

// Continuable reports whether a shell started this process as a job of its own, and
// so sees it stop and can continue it.
func Continuable() bool { return continuable() }

// Size returns the columns and lines of a terminal, zero when a stream is none or
// does not tell.
func Size(stream any) (columns, lines int) {
	control(stream, func(fd uintptr) {
		if w, h, err := term.GetSize(int(fd)); err == nil {
			columns, lines = w, h
		}
	})
	return columns, lines
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

// Unicode reports whether a terminal shows characters beyond ASCII: the locale says so
// (POSIX: of LC_ALL, LC_CTYPE and LANG the first that is set), or the system needs none.
func Unicode(getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if locale == "" {
		return runtime.GOOS == "windows"
	}
	_, charset, _ := strings.Cut(strings.ToLower(locale), ".")
	charset, _, _ = strings.Cut(charset, "@")
	return charset == "utf-8" || charset == "utf8"
}
