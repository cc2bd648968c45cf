package term

import "sync"

// eventQueue is how many events wait for who reads them; then the terminal is not read.
const eventQueue = 256

// outbox is where the reader and the signals put events.
type outbox struct {
	events chan Event    // bounded by eventQueue; closed by seal
	done   chan struct{} // closed when the terminal is being closed

	sending sync.RWMutex // held by who sends
	sealed  bool
}

// Events are what the terminal tells, in order. The channel is closed after Closed.
func (o *outbox) Events() <-chan Event { return o.events }

// emit hands an event over, unless the terminal is being closed.
func (o *outbox) emit(e Event) {
	o.sending.RLock()
	defer o.sending.RUnlock()
	if o.sealed {
		return
	}
	select {
	case o.events <- e:
	case <-o.done:
	}
}

// seal tells the last event. Who did not read the others so far loses one of them.
func (o *outbox) seal(last Event) {
	o.sending.Lock()
	defer o.sending.Unlock()
	o.sealed = true
	for {
		select {
		case o.events <- last:
			close(o.events)
			return
		default:
		}
		select {
		case <-o.events:
		default:
		}
	}
}
