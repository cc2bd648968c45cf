package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"alisio/db"
)

// TakenError tells that a session of the id of an import is there.
type TakenError struct{ ID string }

func (e *TakenError) Error() string { return fmt.Sprintf("session %s exists already", e.ID) }

// AlikeError tells that the id of an import can be taken for that of a session, or
// the other way: a person names sessions by how their ids begin.
type AlikeError struct {
	ID string
	// Session is the one that is there.
	Session string
}

func (e *AlikeError) Error() string {
	return fmt.Sprintf("the id %s of the import can be taken for that of session %s: one is the beginning of the other", e.ID, e.Session)
}

// free refuses the id of a session that is there, and one that can be taken for
// that of another. Capital letters are small ones here: a name that is not found is
// looked for in these.
func free(ctx context.Context, r interface {
	Session(ctx context.Context, id string) (db.Session, error)
	SessionAlike(ctx context.Context, id string) (string, error)
}, id string) error {
	switch _, err := r.Session(ctx, id); {
	case err == nil:
		return &TakenError{id}
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	for _, name := range []string{id, strings.ToLower(id)} {
		switch other, err := r.SessionAlike(ctx, name); {
		case err == nil:
			return &AlikeError{ID: id, Session: other}
		case !errors.Is(err, db.ErrNotFound):
			return err
		}
	}
	return nil
}

// checkID accepts what every shell takes as one word, and no command as a flag:
// 1 to 200 letters, digits, dots, underscores and hyphens, a letter or digit first.
func checkID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("an id has 1 to %d characters", maxID)
	}
	for i, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return fmt.Errorf("the id %q is not made of letters, digits and, behind the first, the characters . _ -", id)
		}
	}
	return nil
}
