//go:build !linux && !darwin && !windows

package term

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// device is a terminal of a system on which nobody has tried a screen: there is line mode.
type device struct{}

func newDevice(in, out *os.File, own []*os.File) (device, error) {
	return device{}, errors.New("there is no screen for this system yet")
}

func controlling(write bool) (*os.File, error) { return nil, errors.ErrUnsupported }

func (d *device) raw() error                                     { return errors.ErrUnsupported }
func (d *device) restore()                                       {}
func (d *device) read(p []byte, wait time.Duration) (int, error) { return 0, errors.ErrUnsupported }
func (d *device) wake()                                          {}
func (d *device) drop()                                          {}
func (d *device) size() (columns, rows int)                      { return 0, 0 }
func (d *device) erase() byte                                    { return 0 }
func (d *device) foreground() bool                               { return true }
func (d *device) close()                                         {}

const (
	resizeSignal = syscall.Signal(-1)
	stopSignal   = syscall.Signal(-2)
	contSignal   = syscall.Signal(-3)
	quitSignal   = syscall.Signal(-4)
)

func watched() []os.Signal { return []os.Signal{os.Interrupt} }

func stopGroup() {}
