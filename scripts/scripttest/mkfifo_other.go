//go:build !unix

package scripttest

import "errors"

func mkfifo(string) error {
	return errors.New("this platform has no FIFOs; put [unix] before the command")
}
