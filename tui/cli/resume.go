package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/tui/cli/base"
)

var errNoSession = errors.New(`no session is named; use: alisio resume SESSION "what is to be done", or --last`)

// noMore complains about a task that is missing.
func (c *call) noMore() error {
	shown := "--last"
	if !c.Last {
		shown = text.ShellWord(c.Args[0])
	}
	return &llm.Error{
		Message: `no task is given; use: alisio resume SESSION "what is to be done"`,
		Hint:    c.Command("sessions show "+shown) + " prints what was said",
	}
}

// runResume gives one more task to a stored session, or on a terminal, without a
// task, goes on with the conversation.
func runResume(ctx context.Context, c *call) (int, error) {
	if c.talks() && (c.Last && len(c.Args) == 0 || !c.Last && len(c.Args) == 1 && c.Args[0] != "-") {
		return c.talk(ctx, "", c.resumes)
	}
	return c.oneTask(ctx, func(ctx context.Context, work worker) (int, error) {
		words := c.Args
		if !c.Last {
			if len(words) == 0 || words[0] == "-" {
				return base.ExitUsage, errNoSession
			}
			words = words[1:]
		}
		prompt, err := c.prompt(ctx, words, c.noMore())
		switch {
		case ctx.Err() != nil:
			return base.ExitCancelled, errCancelled
		case err != nil:
			return base.ExitUsage, err
		}
		return c.start(ctx, job{prompt: prompt, slash: c.slashOf(words, prompt), work: work, find: c.resumes(ctx)})
	})
}

// finder names the session to go on with, and the directory that it goes on in. It
// comes before the options: whose configuration counts depends on that directory.
type finder = func(store *agent.Store, here string) (s agent.Session, dir string, code int, err error)

// resumes finds the session that is named, and works in the directory that it
// worked in, whatever directory the program is called from: what was said is about
// the files there.
func (c *call) resumes(ctx context.Context) finder {
	return func(store *agent.Store, here string) (agent.Session, string, int, error) {
		s, code, err := c.resumed(ctx, store, here)
		if err != nil {
			return s, here, code, err
		}
		if code, err := c.ours(ctx, store, s); err != nil || c.Cwd != "" {
			return s, here, code, err
		}
		if err := c.workspaceIsThere(s); err != nil {
			return s, here, base.ExitUsage, err
		}
		if agent.Root(here, c.Getenv("HOME")) != s.Workspace {
			c.Notice("working in %s, where the session belongs", text.Line(s.Workspace))
		}
		return s, s.Workspace, base.ExitDone, nil
	}
}

// ours refuses a session that was imported until --cwd says where it works:
// whoever made the export chose the workspace that it names, and what was said.
func (c *call) ours(ctx context.Context, store *agent.Store, s agent.Session) (int, error) {
	adopted, err := store.Adopted(ctx, s.ID)
	switch {
	case err != nil:
		return base.ExitFailed, err
	case adopted || c.Cwd != "":
		return base.ExitDone, nil
	}
	const most = 120 // cells of the workspace's name
	names := "no workspace"
	if s.Workspace != "" {
		names = text.Clip(text.Line(s.Workspace), most) + " as its workspace"
	}
	return base.ExitUsage, &llm.Error{
		Message: "session " + text.Line(s.ID) + " was imported, and names " + names,
		Hint:    "--cwd DIR says where it works here, from now on; read it first: " + c.Command("sessions show "+text.ShellWord(s.ID)),
	}
}

// resumed finds the session that is to go on. With --last all words are the
// prompt; one in front that is how a session begins was meant as its name.
func (c *call) resumed(ctx context.Context, store *agent.Store, here string) (agent.Session, int, error) {
	if !c.Last {
		return c.Session(ctx, store, c.Args[0])
	}
	if len(c.Args) > 1 && hexadecimal(c.Args[0]) {
		var several *agent.AmbiguousError
		if _, err := store.Find(ctx, strings.ToLower(c.Args[0])); err == nil || errors.As(err, &several) {
			return agent.Session{}, base.ExitUsage, base.ErrNotBoth
		}
	}
	return c.Newest(ctx, store, here)
}

// hexadecimal reports whether a word looks like the beginning of an id.
func hexadecimal(word string) bool {
	const least = 4
	return len(word) >= least && strings.Trim(word, "0123456789abcdefABCDEF-") == ""
}

// workspaceIsThere complains about a workspace that is gone: a session goes on
// in another one only when somebody says so.
func (c *call) workspaceIsThere(s agent.Session) error {
	info, err := os.Stat(s.Workspace)
	if err == nil && info.IsDir() {
		return nil
	}
	return &llm.Error{
		Message: fmt.Sprintf("the session's workspace %s is not there any more", s.Workspace),
		Hint:    "--cwd DIR goes on in another directory, for this run; after a move: alisio help resume",
	}
}
