//go:build unix && !linux

package db

// userOf can not be told here without another program.
func userOf(string) int { return 0 }
