package proc

import (
	"runtime"
	"slices"
	"strings"
)

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
	within := func(part string) bool { return strings.Contains(name, part) }
	is := func(word string) bool { return slices.Contains(secretWords, word) }
	return slices.ContainsFunc(secretParts, within) || slices.ContainsFunc(strings.Split(name, "_"), is)
}
