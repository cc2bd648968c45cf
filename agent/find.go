package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"alisio/agent/search"
	"alisio/llm"
)

// Hit and Found are what a search found; a QueryError tells what is wrong with a query.
type (
	Hit        = search.Hit
	Found      = search.Found
	QueryError = search.QueryError
)

// searchFile is the index of the words of all sessions, beside their blobs.
const searchFile = "search.sqlite"

// Nobody is to wait for what is filed behind a run: nothing more is begun after
// filePatience, and what still goes on ends at fileLimit.
const filePatience, fileLimit = 20 * time.Millisecond, 150 * time.Millisecond

// OpenSearch opens the index of the words of all sessions of a store, which has to be
// open as well, and begins it if need be.
func OpenSearch(ctx context.Context, store *Store) (*search.Index, error) {
	x, err := search.Open(ctx, store, filepath.Join(store.Home(), searchFile))
	if err != nil {
		return nil, llm.Errorf(llm.CauseStore, "%w", err).WithHint("the index can be deleted: the next search makes it again")
	}
	return x, nil
}

// ForgetInSearch takes deleted sessions out of the index, if there is one.
func ForgetInSearch(ctx context.Context, store *Store) (err error) {
	if _, err := os.Stat(filepath.Join(store.Home(), searchFile)); err != nil {
		return nil
	}
	x, err := OpenSearch(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return x.Forget(ctx)
}

// fileWords files what the runs of this process said, where somebody has searched
// before. What is left out, the next search files.
func (a *App) fileWords(ctx context.Context) {
	store, ok := a.store.(*Store)
	if !ok || !a.worked() {
		return
	}
	switch _, err := os.Stat(filepath.Join(store.Home(), searchFile)); {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		a.o.Log.Warn("the search index can not be read", "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, fileLimit)
	defer cancel()
	x, err := OpenSearch(ctx, store)
	if err == nil {
		err = errors.Join(x.Fill(ctx, filePatience), x.Close())
	}
	if err != nil && ctx.Err() == nil {
		a.o.Log.Warn("the search index is behind; the next search goes on", "error", err)
	}
}

// worked reports whether a run was begun here.
func (a *App) worked() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.sessions {
		if c.id == "" {
			continue
		}
		c.mu.Lock()
		used := c.used
		c.mu.Unlock()
		if used {
			return true
		}
	}
	return false
}
