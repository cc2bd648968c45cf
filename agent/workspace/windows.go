package workspace

import (
	"errors"
	"fmt"
	"strings"
)

// checkWindows refuses paths that mean something else than a file on Windows:
// alternate data streams, device names, names that lose their end, and other
// name spaces. It is compiled everywhere so that it is tested everywhere.
//
// Source: "Naming Files, Paths, and Namespaces", Microsoft Learn.
func checkWindows(path string) error {
	path = strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(path, `\`) {
		return errors.New("a path on Windows starts with a drive or is relative to the workspace")
	}
	if len(path) > 1 && path[1] == ':' {
		if len(path) == 2 || path[2] != '\\' {
			return errors.New("a path with a drive must be absolute")
		}
		path = path[3:]
	}
	for name := range strings.SplitSeq(path, `\`) {
		if err := checkWindowsName(name); err != nil {
			return err
		}
	}
	return nil
}

func checkWindowsName(name string) error {
	if name == "" || name == "." || name == ".." {
		return nil
	}
	if strings.ContainsAny(name, `:<>"|?*`) {
		return fmt.Errorf("name %s: has a character that Windows reserves", show(name))
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return fmt.Errorf("name %s: Windows would drop its last character", show(name))
	}
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	if port := strings.TrimRight(stem, "0123456789¹²³"); len([]rune(stem)) == 4 && (port == "COM" || port == "LPT") {
		stem = port + "1"
	}
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM1", "LPT1":
		return fmt.Errorf("name %s: is a device on Windows", show(name))
	}
	return nil
}
