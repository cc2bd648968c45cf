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
		name, is = "help", true
	}
	if !is {
		return order{prompt: p.text}, nil
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	l.stopping = false
	done := make(chan struct{}) // closed once, nothing is sent
	var failed error
	in := cmdcat.Input{Args: args, SessionID: l.session}
	go func() {
		defer close(done)
		o, failed = ordered(work, l.catalog, name, p.text, in)
	}()
	l.attend(done, stop, late(name))
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

// late says what is waited for when a command takes long.
func late(name string) string {
	switch strings.ToLower(name) {
	case "clear", "new", "resume":
		return finishing
	}
	return "/" + name + " works; Ctrl+C stops it"
}

// finishing is told when the end hooks of plugins take long.
const finishing = "finishing …: plugins end the session; Ctrl+C skips that"

// ordered finds and carries out a command. Whole is what was typed.
func ordered(ctx context.Context, c *cmdcat.Catalog, name, whole string, in cmdcat.Input) (order, error) {
	several := strings.Contains(whole, "\n")
	d, err := c.Find(ctx, name)
	var unknown *cmdcat.UnknownError
	switch {
	case errors.As(err, &unknown) && several:
		return order{prompt: whole}, nil
	case errors.As(err, &unknown):
		return order{}, llm.Errorf(llm.CauseBadRequest, "%w", err).WithHint("nothing was sent; // in front sends it as text, /help lists the commands")
	case err != nil:
		return order{}, err
	case several && !takesText(d):
		return order{}, llm.Errorf(llm.CauseBadRequest, "/%s takes one line, and this has several", d.Name).
			WithHint("nothing was sent; a space in front sends it as text")
	case d.Source == cmdcat.BuiltIn && d.Execution == cmdcat.Surface:
		return ours(ctx, c, d.Name, in)
	}
	r, err := c.Execute(ctx, name, in)
	if err != nil {
		return order{}, err
	}
	o := order{said: r.Text, next: r.Switch}
	if r.Prompt != nil {
		o.prompt, o.display = r.Prompt.Text, r.Prompt.Display
	}
	return o, nil
}

// takesText reports whether the words behind a command's name are a text for a model
// or a plugin, which can have lines.
func takesText(d cmdcat.Descriptor) bool {
	return d.Source != cmdcat.BuiltIn || d.Name == "ask" || d.Name == "btw"
}

// ours are the commands that a surface carries out, as lines can.
func ours(ctx context.Context, c *cmdcat.Catalog, name string, in cmdcat.Input) (order, error) {
	switch name {
	case "help":
		said, err := c.Help(ctx)
		return order{said: said}, err
	case "exit":
		if in.Args != "" {
			return order{}, errors.New("/exit leaves, and takes nothing behind the name")
		}
		return order{leave: true}, nil
	case "ask":
		p, err := cmdcat.AskPrompt(in.Args)
		return order{prompt: p.Text, display: p.Display}, err
	}
	return order{}, llm.Errorf(llm.CauseBadRequest, "/%s is done on a screen, and this is a conversation in lines", name)
}

// say prints what a command says, where answers go.
func (l *Lines) say(said string) error {
	if said = text.Plain(said); said == "" {
		return nil
	}
	defer l.hold()()
	if _, err := io.WriteString(l.o.Stdout, strings.TrimRight(said, "\n")+"\n"); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}
