package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"alisio/agent/text"
	"alisio/cmdcat"
	"alisio/llm"
)

// order is what becomes of a line that may be a command.
type order struct {
	// prompt, if it says something, is sent; display is what people are shown of it.
	prompt, display string
	// said is printed before.
	said string
	// next is the session to go on with; nil: the same.
	next *string
	// leave: the person leaves.
	leave bool
}

// command carries out what was typed if that is a command of the catalog, else it is
// the prompt itself. What a command fails with is told, and the conversation goes on:
//
//	"//text", a block, " /text" ─► a prompt (see prompt)
//	one line                    ─► a command; with an unknown name nothing is sent
//	several lines               ─► a command if its first word is the name of one that
//	                               takes a text, else a prompt: logs and code begin
//	                               with a slash, too
func (l *Lines) command(ctx context.Context, p prompted) (o order, err error) {
	name, args := "", ""
	is := false
	if !p.literal && strings.HasPrefix(p.text, "/") {
		name, args, is = cmdcat.Parse(p.text)
	}
	if !p.literal && p.text == "/" {
		name, is = cmdcat.HelpName, true
	}
	if !is {
		return order{prompt: p.text}, nil
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	l.stopping = false
	in := cmdcat.Input{Args: args, SessionID: l.session, Conversation: true}
	o, failed := l.carryOut(work, stop, name, p.text, in)
	switch {
	case ctx.Err() != nil:
		return order{leave: true}, nil
	case failed != nil && l.stopping && errors.Is(failed, context.Canceled):
		l.stopped()
		return order{}, nil
	case failed != nil:
		Failure(l.out, failed)
		return order{}, nil
	}
	if l.stopping {
		o.prompt = "" // what was to come of it is not wanted any more
	}
	return o, l.say(o.said)
}

// finishing is told when the end hooks of plugins take long.
const finishing = "finishing …: plugins end the session; Ctrl+C skips that"

// carryOut finds a command and carries it out. Whole is what was typed.
func (l *Lines) carryOut(ctx context.Context, stop func(), name, whole string, in cmdcat.Input) (order, error) {
	var d cmdcat.Descriptor
	var err error
	late := "/" + name + " works; Ctrl+C stops it"
	l.beside(func() { d, err = l.catalog.Find(ctx, name) }, stop, late)
	several := strings.Contains(whole, "\n")
	var unknown *cmdcat.UnknownError
	switch {
	case errors.As(err, &unknown) && several:
		return order{prompt: whole}, nil
	case errors.As(err, &unknown):
		return order{}, llm.Errorf(llm.CauseBadRequest, "%w", err).WithHint("nothing was sent; // in front sends it as text, /" + cmdcat.HelpName + " lists the commands")
	case err != nil:
		return order{}, err
	case several && !d.TakesText:
		return order{}, llm.Errorf(llm.CauseBadRequest, "/%s takes one line, and this has several", d.Name).
			WithHint("nothing was sent; a space in front sends it as text")
	case d.Leaves:
		late = finishing
	}
	var r cmdcat.Result
	l.beside(func() { r, err = l.catalog.Execute(ctx, name, in) }, stop, late)
	if err != nil {
		return order{}, err
	}
	o := order{said: r.Text, next: r.Switch, leave: r.Exit}
	if r.Prompt != nil {
		o.prompt, o.display = r.Prompt.Text, r.Prompt.Display
	}
	return o, nil
}

// say prints what a command says, where answers go.
func (l *Lines) say(said string) error {
	if said = text.Plain(said); said == "" {
		return nil
	}
	defer l.hold()()
	if _, err := io.WriteString(l.o.Stdout, Fit(l.o.Stdout, strings.TrimRight(said, "\n")+"\n")); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}
