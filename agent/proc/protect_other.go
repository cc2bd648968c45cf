//go:build !linux

package proc

// undump can do nothing: there is no such switch.
func undump() {}
