package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// Dirs are the absolute directories of one person's Alisio. None need exist.
type Dirs struct {
	Config string
	State  string
	Cache  string
}

// ErrNoHome tells that one of a person's directories, or more, can not be found
// and is left empty. A program can go on without, as services do that run without
// a home.
var ErrNoHome = errors.New("find the home directory")

// Home finds the directories: ALISIO_<KIND>_HOME, else alisio below
// XDG_<KIND>_HOME, else the usual place below the home directory. A relative
// XDG value is ignored, as its specification says; a relative ALISIO one is an
// error, since it was written for this program.
func Home(getenv func(string) string) (Dirs, error) {
	var d Dirs
	var missing error
	kinds := []struct {
		name, usual string
		into        *string
	}{
		{"CONFIG", ".config", &d.Config},
		{"STATE", filepath.Join(".local", "state"), &d.State},
		{"CACHE", ".cache", &d.Cache},
	}
	for _, k := range kinds {
		own, xdg := getenv("ALISIO_"+k.name+"_HOME"), getenv("XDG_"+k.name+"_HOME")
		switch home := userHome(getenv); {
		case own != "" && !filepath.IsAbs(own):
			return Dirs{}, fmt.Errorf("read environment ALISIO_%s_HOME: found %s, allowed: an absolute path", k.name, quote(own))
		case own != "":
			*k.into = filepath.Clean(own)
		case filepath.IsAbs(xdg):
			*k.into = filepath.Join(xdg, "alisio")
		case filepath.IsAbs(home):
			*k.into = filepath.Join(home, k.usual, "alisio")
		case missing == nil:
			missing = fmt.Errorf("%w: set HOME or ALISIO_%s_HOME to an absolute path", ErrNoHome, k.name)
		}
	}
	return d, missing
}

func userHome(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}
