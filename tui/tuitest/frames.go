package tuitest

// frames counts what a person sees: with mode 2026 a frame is what stands between its
// beginning and its end.
type frames struct {
	shown   *Screen // what is seen while the next frame is being drawn
	spare   *Screen // the last one of these, to be used again, unless a test has it
	used    bool    // the program synchronizes
	open    bool
	touched bool // cells changed since the last frame, or the last write outside
	stats   Stats
}

// Stats are counts since the start.
type Stats struct {
	Bytes, Writes int
	// Frames are the ends of synchronized updates and, of a program that has made none,
	// the writes that changed something.
	Frames int
	// Torn are the writes of a program that synchronizes which changed cells outside of
	// an update: a person could see a part of a frame.
	Torn int
	// Largest is the longest write.
	Largest int
}

func (f *frames) begin() { f.touched = f.touched && f.open }

func (f *frames) end(size int) {
	f.stats.Bytes += size
	f.stats.Writes++
	f.stats.Largest = max(f.stats.Largest, size)
	if f.touched && !f.open {
		f.outside()
	}
}

// outside is called with cells changed and no update under way.
func (f *frames) outside() {
	f.touched = false
	if f.used {
		f.stats.Torn++
	} else {
		f.stats.Frames++
	}
}

// mode is the beginning or the end of an update. A beginning within one, and an end
// without one, do nothing.
func (f *frames) mode(t *Terminal, on bool) {
	switch {
	case on && !f.open:
		if f.touched {
			f.outside()
		}
		f.shown = t.snapshot(f.spare)
		f.spare = f.shown
		f.open, f.used = true, true
	case !on && f.open:
		f.stats.Frames++
		f.open, f.touched, f.shown = false, false, nil
	}
}

// Stats gives the counts.
func (t *Terminal) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sync.stats
}

// Frames is the number of frames that were shown.
func (t *Terminal) Frames() int { return t.Stats().Frames }

// Torn is the number of writes by which a part of a frame could be seen.
func (t *Terminal) Torn() int { return t.Stats().Torn }
