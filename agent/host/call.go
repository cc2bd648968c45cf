package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/plug"
)

// maxStuck is how many calls of a plugin may be waiting to return, given up on,
// before it is called no more: a hook that never returns costs that many
// goroutines and not one a turn.
const maxStuck = 16

var errStuck = errors.New("earlier calls of the plugin have not returned")

// outcome is what a plugin's function gave.
type outcome[T any] struct {
	value T
	err   error
}

// call runs a function of a plugin on a goroutine of its own and waits for it
// until ctx ends or the limit is over; zero sets none. Its panic is its error. Go
// can not stop a goroutine: one that is late goes on with a context that has
// ended, and what it returns is dropped.
func call[T any](ctx context.Context, e *entry, limit time.Duration, do func(ctx context.Context) (T, error)) (T, error) {
	var none T
	if e.stuck.Load() >= maxStuck {
		return none, errStuck
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	done := make(chan outcome[T], 1) // room for a result that nobody waits for
	var ended atomic.Bool            // by whoever is first: the function or the waiting
	go func() {
		o := outcome[T]{err: errors.New("it ended its goroutine")}
		defer func() {
			done <- o
			if !ended.CompareAndSwap(false, true) {
				e.stuck.Add(-1)
			}
		}()
		o.value, o.err = guard(func() (T, error) { return do(within) })
	}()
	var o outcome[T]
	select {
	case o = <-done:
	case <-within.Done():
		if ended.CompareAndSwap(false, true) {
			e.stuck.Add(1)
			o.err = within.Err()
		} else {
			o = <-done
		}
	}
	// What came with the end of the limit is late, whichever of the two was seen first.
	late := ctx.Err() == nil && within.Err() != nil
	if o.err == nil && !late {
		return o.value, nil
	}
	if late {
		return none, fmt.Errorf("it took longer than %s: %w", limit, context.DeadlineExceeded)
	}
	return none, o.err
}

// guard makes a panic the function's error, and its error one whose text can be
// shown.
func guard[T any](do func() (T, error)) (value T, err error) {
	defer caught(&err)
	value, err = do()
	if err != nil {
		// Here, because a plugin's error may panic as it is read.
		err = &foreign{tell(err.Error()), err}
	}
	return value, err
}

// panicked is a panic of a plugin's function.
type panicked struct{ said string }

func (p *panicked) Error() string { return "panic: " + p.said }

// caught makes a panic the error of the function that defers it.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = &panicked{tell(fmt.Sprint(p))}
	}
}

// named says whose panic an error is: for errors that are shown where nothing else
// names the plugin.
func (e *entry) named(err error) error {
	if p, ok := err.(*panicked); ok {
		return fmt.Errorf("plugin %s: %w", e.id(), p)
	}
	return err
}

// foreign is an error of a plugin with its text made safe.
type foreign struct {
	text string
	err  error
}

func (f *foreign) Error() string { return f.text }
func (f *foreign) Unwrap() error { return f.err }

// maxTold bounds a plugin's words in an error or a label, in characters.
const maxTold = 1000

// tell makes one safe line of a plugin's words.
func tell(s string) string { return text.OneLine(s, maxTold) }

// maxRaw bounds, in bytes, what is looked at of a text before it is cleaned.
const maxRaw = 1 << 20

const cutMark = "\n[the rest was cut]"

// injected makes a plugin's text one that can join a conversation: valid, without
// controls, at most 24,000 characters with the mark of the cut.
func injected(s string) string {
	raw := text.Prefix(s, maxRaw)
	cut := len(raw) < len(s)
	s = strings.TrimSpace(text.Plain(raw))
	if !cut && utf8.RuneCountInString(s) <= plug.MaxText {
		return s
	}
	return text.Head(s, plug.MaxText-utf8.RuneCountInString(cutMark)) + cutMark
}
