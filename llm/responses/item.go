package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"alisio/llm"
	"alisio/llm/wire"
)

const (
	// maxItems is how many items an answer may hold; no more are stored.
	maxItems = 1000
	// maxKept bounds the items of an answer and what is kept of their pieces, in
	// bytes.
	maxKept = 64 << 20
	// maxName is the longest name of a call, in bytes.
	maxName = 256
)

// What an answer can have too much of.
const (
	errItems = wire.TooMuch("more items, or larger ones, than an answer may hold")
	errParts = wire.TooMuch("more parts than an item may hold")
)

// The types of items that are more to us than their text.
const (
	message      = "message"
	reasoning    = "reasoning"
	functionCall = "function_call"
	customCall   = "custom_tool_call"
)

// item is one item of the output in the making. Its done event is the authority
// and replaces what the pieces gave (protocol, "Consuming").
type item struct {
	index int
	kind  string
	id    string
	// raw is the whole item as it came, nil until then.
	raw json.RawMessage

	// text is what a message says, or the arguments of a call. A message has span in
	// its place, which is a piece of the text that was shown and begins at from, for
	// as long as it says just that.
	text []byte
	span string
	from int
	// part is the content part of the last piece of text, which begins at partAt.
	part, partAt int

	// Of a call.
	callID, name, status string
	// whole: the arguments have ended, and nothing said that they were cut.
	whole bool
	// cut: its arguments ended too early, or it is not whole. It does not go back.
	cut bool
}

// said returns how many bytes of text a message has so far.
func (i *item) said() int { return len(i.span) + len(i.text) }

// add takes a piece of a message's text, which is the end of all that was shown.
func (i *item) add(s []byte, shown string) {
	from := len(shown) - len(s) - len(i.span)
	if len(i.text) > 0 || i.span != "" && from != i.from {
		i.text = append(i.own(), s...)
		return
	}
	i.from, i.span = from, shown[from:]
}

// own makes the text of a message its own, and returns it.
func (i *item) own() []byte {
	if i.span != "" {
		i.text, i.span = []byte(i.span), ""
	}
	return i.text
}

// saysPart reports whether what a message says from a byte on is the string raw;
// when it is not sure it says no.
func (i *item) saysPart(at int, raw json.RawMessage) bool {
	if i.span != "" {
		rest, ok := wire.CutText(i.span[at:], raw)
		return ok && rest == ""
	}
	rest, ok := wire.CutText(i.text[at:], raw)
	return ok && len(rest) == 0
}

// says reports whether a message says what a list of parts does; when it is not
// sure it says no.
func (i *item) says(parts json.RawMessage) bool {
	if i.span != "" {
		return isText(i.span, parts)
	}
	return isText(i.text, parts)
}

// begins returns what stands in s behind the text of a message, and whether s
// begins so.
func (i *item) begins(s string) (rest string, ok bool) {
	n := i.said()
	if len(s) < n || s[:n] != i.span && s[:n] != string(i.text) {
		return "", false
	}
	return s[n:], true
}

func (i *item) isCall() bool { return i.kind == functionCall || i.kind == customCall }

// arguments are those of a call as JSON text; nothing counts as no arguments.
// The free text of a custom call becomes an object.
func (i *item) arguments() string {
	s := strings.ToValidUTF8(string(i.text), "\uFFFD")
	switch {
	case i.kind == customCall:
		return string(wire.AppendString([]byte(`{"input":`), s)) + "}"
	case strings.TrimSpace(s) == "":
		return "{}"
	}
	return s
}

// cutArguments are those of a call that was cut. Nobody may take them for whole,
// although what came of them may happen to be.
func (i *item) cutArguments() string {
	if s := i.arguments(); !json.Valid([]byte(s)) {
		return s
	}
	return "{"
}

// items are those of an answer, in order of arrival.
type items struct {
	list []*item
	size int // bytes kept beside shown text
	// ended is how many items have come whole.
	ended int
}

// keep counts bytes that are kept.
func (l *items) keep(n int) error {
	if l.size += n; l.size > maxKept {
		return errItems
	}
	return nil
}

// at returns the newest item with an index, nil for none.
func (l *items) at(index int) *item {
	for _, it := range slices.Backward(l.list) {
		if it.index == index {
			return it
		}
	}
	return nil
}

// find returns the item that a piece of a kind belongs to, and makes it when it
// is the first piece of one: gateways leave out the events before. The index
// decides. Without one it is the id, then the item of that kind which came last.
// An item that is done takes no more of another kind: some servers give every
// item the same index.
func (l *items) find(index int, id, kind string) (*item, error) {
	var it *item
	switch {
	case index >= 0:
		it = l.at(index)
	case id != "":
		for _, other := range slices.Backward(l.list) {
			if other.id == id {
				it = other
				break
			}
		}
		fallthrough
	default:
		if last := l.last(); it == nil && last != nil && last.kind == kind && last.raw == nil {
			it = last
		}
	}
	if it != nil && (it.kind == kind || kind == "") {
		return it, nil
	}
	if it != nil && it.raw == nil && it.kind == "" {
		it.kind = kind
		return it, nil
	}
	return l.open(index, id, kind)
}

func (l *items) last() *item {
	if len(l.list) == 0 {
		return nil
	}
	return l.list[len(l.list)-1]
}

// open makes an item. One without an index comes behind all others.
func (l *items) open(index int, id, kind string) (*item, error) {
	if len(l.list) == maxItems {
		return nil, errItems
	}
	if index < 0 {
		for _, it := range l.list {
			index = max(index, it.index)
		}
		index++
	}
	it := &item{index: index, id: strings.Clone(id), kind: kind, part: -1}
	l.list = append(l.list, it)
	return it, l.keep(len(id))
}

// head is an item as it is announced, or as it is when it is done.
func head(raw json.RawMessage) (outputItem, bool) {
	var o outputItem
	return o, wire.Present(raw) && decode(raw, &o) == nil
}

// added takes an item that begins. At the index of one that is done, or of
// another kind, it is a new one.
func (l *items) added(index int, raw json.RawMessage) error {
	o, ok := head(raw)
	if !ok {
		return nil
	}
	id, kind := wire.Text(o.ID), wire.Text(o.Type)
	it := l.at(index)
	if it == nil || it.raw != nil || it.kind != kind {
		var err error
		if it, err = l.open(index, id, kind); err != nil {
			return err
		}
	}
	return l.announce(it, o)
}

// announce takes what is known of a call before its arguments. Some servers send
// all of it here.
func (l *items) announce(it *item, o outputItem) error {
	if !it.isCall() {
		return nil
	}
	it.callID, it.name = wire.Text(o.CallID), callName(wire.Text(o.Name))
	if len(it.text) == 0 {
		it.text = o.arguments(it.kind, nil)
	}
	return l.keep(len(it.callID) + len(it.name) + len(it.text))
}

// callName cuts a name. No tool has such a name.
func callName(name string) string { return strings.Clone(name[:min(len(name), maxName)]) }

// arguments are those of a call: text, or the JSON itself on some servers. Where
// pieces have given the same, it is these.
func (o *outputItem) arguments(kind string, pieces []byte) []byte {
	raw := o.Arguments
	if kind == customCall {
		raw = o.Input
	}
	switch {
	case !wire.Present(raw):
		return nil
	case raw[0] == '"':
		if rest, ok := wire.CutText(pieces, raw); ok && len(rest) == 0 {
			return pieces
		}
		return []byte(wire.Text(raw))
	}
	return bytes.Clone(raw)
}

// done takes an item that has come whole and returns it with the text that its
// pieces have not given, which is all of it when there were none.
func (l *items) done(index int, raw json.RawMessage) (it *item, rest []byte, err error) {
	o, ok := head(raw)
	if !ok {
		return nil, nil, nil
	}
	id, kind := wire.Text(o.ID), wire.Text(o.Type)
	if it = l.match(index, o); it == nil {
		if it, err = l.open(index, id, kind); err != nil {
			return nil, nil, err
		}
	}
	if err := l.keep(len(raw) - len(it.raw)); err != nil {
		return nil, nil, err
	}
	if it.raw == nil {
		l.ended++
	}
	rest, err = l.settle(it, o, raw)
	return it, rest, err
}

// match finds the item that is done: that at its index, unless it is done
// already and another one.
func (l *items) match(index int, o outputItem) *item {
	id, kind := wire.Text(o.ID), wire.Text(o.Type)
	if index < 0 {
		it, _ := l.find(index, id, kind)
		return it
	}
	it := l.at(index)
	if it == nil || it.kind != "" && it.kind != kind || it.raw != nil && (it.id != id || it.callID != wire.Text(o.CallID)) {
		return nil
	}
	return it
}

// settle makes an item what its whole text says.
func (l *items) settle(it *item, o outputItem, raw json.RawMessage) (rest []byte, err error) {
	it.raw, it.kind = wire.Kept(raw), wire.Text(o.Type)
	if it.id = wire.Text(o.ID); it.isCall() {
		it.callID, it.name = wire.Text(o.CallID), callName(wire.Text(o.Name))
		it.text = o.arguments(it.kind, it.text)
		it.status = wire.Text(o.Status)
		it.whole = it.status != "incomplete"
		return nil, l.keep(len(it.text))
	}
	if it.kind != message {
		return nil, nil
	}
	if it.says(o.Content) {
		return nil, l.keep(it.said())
	}
	final, err := texts(o.Content, "")
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(final, it.own()) {
		rest = final[len(it.text):]
	}
	it.text = final
	return rest, l.keep(len(final))
}

// replace makes the output of a terminal event the items. It is the whole list,
// so it counts where the stream told less. In an answer that was cut a call is
// whole only when its item, or the stream before, says so.
func (l *items) replace(output []json.RawMessage, cut bool) error {
	fresh := items{}
	for i, raw := range output {
		it, _, err := fresh.done(i, raw)
		if err != nil {
			return err
		}
		if it != nil && cut && it.status != "completed" && !l.hasWhole(it.callID) {
			it.whole = false
		}
	}
	for _, it := range l.list {
		if it.isCall() && it.raw != nil && !fresh.has(it.callID) {
			return nil // It is not the whole list.
		}
	}
	*l = fresh
	return nil
}

// has reports whether there is a call with an id.
func (l *items) has(callID string) bool {
	return slices.ContainsFunc(l.list, func(it *item) bool { return it.isCall() && it.callID == callID })
}

// hasWhole reports whether a call has come whole.
func (l *items) hasWhole(callID string) bool {
	return slices.ContainsFunc(l.list, func(it *item) bool { return it.whole && it.callID == callID })
}

// told reports whether the stream told of every item that a terminal event
// lists.
func (l *items) told(output int) bool {
	return len(l.list) >= output && !slices.ContainsFunc(l.list, func(it *item) bool { return it.raw == nil })
}

// sort puts the items into the order of the output.
func (l *items) sort() {
	slices.SortStableFunc(l.list, func(a, b *item) int { return a.index - b.index })
}

// text is what all messages say, with a blank line between two: shown itself, when
// that is the same, which saves a copy of it.
func (l *items) text(shown string) string {
	if l.says(shown) {
		return strings.ToValidUTF8(shown, "\uFFFD")
	}
	var b strings.Builder
	for _, it := range l.list {
		if it.kind != message || it.said() == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(blankLine)
		}
		b.WriteString(it.span)
		b.Write(it.text)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// says reports whether s is what all messages say.
func (l *items) says(s string) bool {
	between := ""
	for _, it := range l.list {
		if it.kind != message || it.said() == 0 {
			continue
		}
		var ok bool
		if s, ok = strings.CutPrefix(s, between); ok {
			s, ok = it.begins(s)
		}
		if !ok {
			return false
		}
		between = blankLine
	}
	return s == ""
}

const blankLine = "\n\n"

// calls returns the calls, each with an id that is its own within the answer, and
// finds which are cut; in an answer that is not completed also those without
// arguments, of which none may have come yet. It reports false when an id had to be made, which the item
// then lacks; that of a cut call is of no use.
func (l *items) calls(completed bool) (calls []llm.ToolCall, own bool) {
	used := map[string]bool{}
	own = true
	for _, it := range l.list {
		if !it.isCall() {
			continue
		}
		id, arguments := it.callID, it.arguments()
		switch {
		case !it.whole:
			arguments = it.cutArguments()
		case !completed && len(bytes.TrimSpace(it.text)) == 0:
			arguments = ""
		}
		it.cut = wire.CutOff(arguments, !completed)
		for used[id] || !wire.FitID(id) {
			id, own = wire.NewID(), own && it.cut
		}
		used[id] = true
		calls = append(calls, llm.ToolCall{ID: id, Name: strings.ToValidUTF8(it.name, "\uFFFD"), Arguments: arguments})
	}
	return calls, own
}
