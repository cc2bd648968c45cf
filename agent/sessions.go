package agent

import (
	"context"
	"errors"
	"io"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
)

// keeps is what a store that lasts can do.
type keeps interface {
	List(ctx context.Context, q session.Query) ([]session.Summary, error)
	Find(ctx context.Context, prefix string) (session.Session, error)
	Export(ctx context.Context, id string, w io.Writer) error
	Markdown(ctx context.Context, id string, w io.Writer) error
}

func (a *App) kept() (keeps, error) {
	k, ok := a.store.(keeps)
	if !ok {
		return nil, errors.New("sessions are not kept by this program")
	}
	return k, nil
}

// Sessions lists the last sessions of the workspace, the newest first.
func (a *App) Sessions(ctx context.Context, most int) ([]session.Summary, error) {
	k, err := a.kept()
	if err != nil {
		return nil, err
	}
	list, err := k.List(ctx, session.Query{Workspace: a.root, Limit: most})
	return list, session.Caused(err)
}

// FindSession finds a session to go on with by its id or the beginning of one. One that
// was imported is refused until a person has said where it works: whoever made the
// export chose the workspace that it names, and what was said in it.
func (a *App) FindSession(ctx context.Context, prefix string) (session.Session, error) {
	k, err := a.kept()
	if err != nil {
		return session.Session{}, err
	}
	s, err := k.Find(ctx, prefix)
	if err != nil {
		return s, session.Caused(err)
	}
	if i, ok := a.store.(interface {
		Adopted(ctx context.Context, id string) (bool, error)
	}); ok {
		ours, err := i.Adopted(ctx, s.ID)
		switch {
		case err != nil:
			return s, session.Caused(err)
		case !ours:
			return s, llm.Errorf(llm.CauseBadRequest, "session %s was imported, and nobody has said where it works", s.ID).
				WithHint("alisio resume " + s.ID + " --cwd DIR does")
		}
	}
	return s, nil
}

// FindOwn is FindSession for one that this application can go on with: it, or the
// session that started it, belongs to the workspace.
func (a *App) FindOwn(ctx context.Context, prefix string) (session.Session, error) {
	s, err := a.FindSession(ctx, prefix)
	if err != nil {
		return s, err
	}
	root := s
	if s.Parent != "" && a.children != nil {
		up, err := a.children.Ancestors(ctx, s.ID)
		if err == nil && len(up) > 0 {
			root, err = a.store.Session(ctx, up[len(up)-1].ID)
		}
		if err != nil {
			return s, session.Caused(err)
		}
	}
	if root.Workspace != a.root {
		return s, llm.Errorf(llm.CauseBadRequest, "session %s belongs to another workspace, %s", s.ID, text.QuoteName(root.Workspace)).
			WithHint("alisio resume " + s.ID + " goes on with it there")
	}
	return s, nil
}

// Enqueue adds a text for the next turn of a session's run, or for its next run.
func (a *App) Enqueue(ctx context.Context, sessionID, text string) error {
	q, ok := a.store.(session.Queue)
	if !ok {
		return llm.Errorf(llm.CauseBadRequest, "this store keeps no queue")
	}
	return session.Caused(q.Enqueue(ctx, sessionID, text))
}
