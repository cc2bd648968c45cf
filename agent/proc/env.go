package proc

import (
	"runtime"
	"slices"
	"strings"
)

// passed are the variables of our environment that every program gets: where
// things are, what language they speak, and where tools keep their caches.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN",
	"npm_config_cache", "NPM_CONFIG_CACHE", "CARGO_HOME", "RUSTUP_HOME",
	"PIP_CACHE_DIR", "GRADLE_USER_HOME", "JAVA_HOME", "VIRTUAL_ENV",
}

// passedWindows are what programs on Windows can not start without.
var passedWindows = []string{
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "SYSTEMDRIVE",
	"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// fixed are set for every program: no pager, no prompt, no colour. CI is not
// set, since it changes what programs do and not only how they look.
var fixed = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
}

// environ chooses from ours ("NAME=value") what a program gets: the usual
// variables and the allowed ones, never one whose name looks like a key's.
func environ(ours, allow []string) []string {
	var out []string
	for _, kv := range ours {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" && (usual(name) || slices.ContainsFunc(allow, same(name))) && !secret(name) {
			out = append(out, kv)
		}
	}
	return append(out, fixed...)
}

func usual(name string) bool {
	return strings.HasPrefix(name, "LC_") || slices.ContainsFunc(passed, same(name)) ||
		runtime.GOOS == "windows" && slices.ContainsFunc(passedWindows, same(name))
}

// same compares names as the system does.
func same(name string) func(string) bool {
	if runtime.GOOS == "windows" {
		return func(s string) bool { return strings.EqualFold(s, name) }
	}
	return func(s string) bool { return s == name }
}

// secret reports whether a variable's name says that its value is a key.
func secret(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "KEY", "KEYS", "TOKEN", "TOKENS", "PAT":
			return true
		}
	}
	return false
}
