package session

import (
	"errors"

	"alisio/llm"
)

// Caused gives an error of a store its cause: what is not there was asked for
// wrongly. None stays none.
func Caused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return llm.Errorf(llm.CauseBadRequest, "%w", err)
	}
	return llm.Errorf(llm.CauseStore, "%w", err)
}
