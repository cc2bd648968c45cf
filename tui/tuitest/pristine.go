package tuitest

import (
	"fmt"
	"slices"
)

// Pristine lists what a program left changed: a terminal that was given back as it was
// found has none. Text and the place of the cursor on the main screen may stay.
func (t *Terminal) Pristine() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			left = append(left, fmt.Sprintf(format, args...))
		}
	}
	add(t.on == t.alt, "the alternate screen is shown")
	for _, name := range t.modeNames() {
		add(true, "mode %s", name)
	}
	add(!t.modeSet(25), "the cursor is hidden")
	add(t.shape != 0, "the cursor's shape is %d", t.shape)
	add(t.pen.Link != "", "a link to %s is open", t.pen.Link)
	pen := t.pen
	pen.Link, pen.LinkID = "", ""
	add(pen != Style{}, "text is %s", pen)
	add(t.title.text != "", "the title is %q", t.title.text)
	add(len(t.title.stack) > 0, "%d titles are stacked", len(t.title.stack))
	add(len(t.main.keys) > 0, "the main screen has keyboard flags %v", t.main.keys)
	add(len(t.alt.keys) > 0, "the alternate screen has keyboard flags %v", t.alt.keys)
	add(t.format != 0, "formatOtherKeys is %d", t.format)
	add(t.sets != charsets{}, "a character set for drawing is chosen")
	add(t.colors.fg+t.colors.bg+t.colors.cursor != "" || len(t.colors.palette) > 0, "colours are changed")
	add(len(t.main.images)+len(t.alt.images) > 0, "%d pictures are shown", len(t.main.images)+len(t.alt.images))
	add(len(t.images.known) > 0, "%d pictures are stored", len(t.images.known))
	add(!slices.Equal(t.tabs, stops(nil, t.on.columns)), "tab stops are changed")
	add(t.parse.state != ground || t.parse.nrest > 0, "a sequence is not finished")
	add(t.journal.progress != "", "the progress %s is shown", t.journal.progress)
	return left
}
