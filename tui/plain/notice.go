package plain

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"alisio/agent/text"
)

// Note prints a notice on one line, which a terminal has broken between words.
func Note(w io.Writer, format string, args ...any) {
	io.WriteString(w, Fit(w, "notice: "+text.Line(fmt.Sprintf(format, args...))+"\n"))
}

// Notices is a log handler that prints warnings and errors for a person, one
// line each, and drops the rest.
type Notices struct {
	w     io.Writer
	attrs []slog.Attr
}

// NewNotices prints to w.
func NewNotices(w io.Writer) *Notices { return &Notices{w: w} }

// Enabled implements slog.Handler.
func (n *Notices) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (n *Notices) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	sep := ": "
	add := func(a slog.Attr) bool {
		fmt.Fprintf(&b, "%s%s %s", sep, a.Key, a.Value)
		sep = ", "
		return true
	}
	for _, a := range n.attrs {
		add(a)
	}
	r.Attrs(add)
	Note(n.w, "%s", b.String())
	return nil
}

// WithAttrs implements slog.Handler.
func (n *Notices) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Notices{w: n.w, attrs: append(n.attrs[:len(n.attrs):len(n.attrs)], attrs...)}
}

// WithGroup implements slog.Handler; groups are not shown.
func (n *Notices) WithGroup(string) slog.Handler { return n }
