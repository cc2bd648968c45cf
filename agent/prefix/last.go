package prefix

import (
	"bytes"
	"slices"

	"alisio/plug"
)

// Last is what is known of the last request of a session's turns. One run at a time
// uses it; the zero value knows nothing.
type Last struct {
	// body is what this process sent; empty: another did, or nothing went over a wire.
	body []byte
	mark mark
	key  string
	// told are the causes that were told since it was sent, and seen counts those before
	// that, as far as they came behind the last turn.
	told []plug.PrefixCause
	seen int
	// stored is what the store has of the last turn, as far as is known.
	stored string
}

// Difference is what a request has in common with the last one.
type Difference struct {
	// Shared is how many bytes both begin with; nil: it is not known.
	Shared *int
	// About: at least as many, up to a step of the mark more.
	About bool
	// Place is where they part, if that is before the end of the last one's stored
	// messages; empty: they do not.
	Place string
}

// Compare tells how a body begins.
func (l *Last) Compare(body []byte) (d Difference) {
	n, all := 0, false
	switch {
	case len(l.body) > 0:
		n = common(l.body, body)
		all = n >= l.mark.end
	case l.mark.known():
		n, all = l.mark.same(body)
		d.About = !all
	default:
		return d
	}
	if d.Shared = &n; !all {
		d.Place = placeOf(body, n)
	}
	return d
}

// Cause says why a request with a key does not begin with the bytes of the last one, as
// far as that was not told; empty: it does, or that was told. A request of whose bytes
// nothing is known is judged by its key.
func (l *Last) Cause(d Difference, key string, wired bool) plug.PrefixCause {
	cause := changed(l.key, key)
	switch {
	case wired && d.Place == "":
		return ""
	case slices.Contains(l.told, cause):
		return ""
	case cause != "" || len(l.told) > 0 || !wired:
		return cause
	}
	switch d.Place {
	case "head":
		return plug.PrefixModel
	case "tools":
		return plug.PrefixTools
	case "instructions":
		return plug.PrefixInstructions
	}
	// Something took back what was said, and did not tell.
	return plug.PrefixUndo
}

// Sent takes a request as the last one; alone of its messages stand behind the stored
// ones. The body may be nil.
func (l *Last) Sent(body []byte, alone int, key string) {
	l.seen += len(l.told)
	l.body, l.mark, l.key, l.told = body, mark{}, key, nil
	if body != nil {
		l.mark = markOf(body, alone)
	}
}

// Told notes a cause that was told.
func (l *Last) Told(cause plug.PrefixCause) { l.told = append(l.told, cause) }

// Forget lets go of the body; its mark stays.
func (l *Last) Forget() { l.body = nil }

// Turn is what is stored of the last request when it was answered.
func (l *Last) Turn(d Difference) *plug.Sent {
	s := &plug.Sent{Bytes: len(l.body), Shared: d.Shared, About: d.About, At: d.Place, Key: l.key, Mark: l.mark.String()}
	l.stored, l.seen = s.Key+s.Mark, 0
	return s
}

// Stored takes what the store has of the session's last turn, nil for nothing, and the
// causes that were told since. Where this process stored that itself, and perhaps has
// sent more since, it knows better.
func (l *Last) Stored(s *plug.Sent, told []plug.PrefixCause) {
	stored := ""
	if s != nil {
		stored = s.Key + s.Mark
	}
	switch {
	case stored == l.stored:
		l.told = told[min(l.seen, len(told)):]
	case s == nil:
		*l = Last{}
	default:
		*l = Last{mark: parseMark(s.Mark), key: s.Key, told: told, stored: stored}
	}
}

// common is how many bytes two bodies begin with.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4 << 10
	at := 0
	for at+step <= n && bytes.Equal(a[at:at+step], b[at:at+step]) {
		at += step
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}
