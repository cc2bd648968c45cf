package compact

// Density is how many tokens a server counts for one that is estimated: text in other
// scripts, numbers and minified code take two to four times what English does. It is
// learned from what the server reports; the zero value knows nothing and corrects
// nothing. It never makes an estimate smaller.
type Density struct {
	// whole is that of whole requests, fresh that of what came last: a file in another
	// script changes the one at once and the other slowly.
	whole, fresh float64
}

const (
	// mostDensity bounds what is believed of a server that reports nonsense.
	mostDensity = 8
	// leastFresh is how many estimated tokens tell something: what stands around
	// messages counts for too much in less.
	leastFresh = 256
	// refusedMore is by how much a request that was refused was too long at least, as
	// far as anyone can say.
	refusedMore = 1.25
)

// Whole is what a server counts for a request of so many estimated tokens.
func (d Density) Whole(estimated int) int { return int(float64(estimated) * max(1, d.whole)) }

// Fresh is what it counts for messages that it has not counted yet.
func (d Density) Fresh(estimated int) int { return int(float64(estimated) * max(1, d.whole, d.fresh)) }

// Estimated is the estimate for which a server counts so many tokens: Whole backwards.
func (d Density) Estimated(tokens int) int { return int(float64(tokens) / max(1, d.whole)) }

// Counted learns from a request for which the server counted so many tokens.
func (d *Density) Counted(tokens, estimated int) {
	if tokens > 0 && estimated > 0 {
		d.whole = believed(tokens, estimated)
	}
}

// Grew learns from the messages by which a request was longer than the one before.
func (d *Density) Grew(tokens, estimated int) {
	if estimated >= leastFresh {
		d.fresh = believed(tokens, estimated)
	}
}

// Refused learns that a request of so many estimated tokens was more than there is room.
func (d *Density) Refused(room, estimated int) {
	if room > 0 && estimated > 0 {
		d.whole = min(mostDensity, max(1, d.whole, believed(room, estimated))*refusedMore)
	}
}

func believed(tokens, estimated int) float64 {
	return min(mostDensity, max(1, float64(tokens)/float64(estimated)))
}
