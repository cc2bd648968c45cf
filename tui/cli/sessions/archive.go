package sessions

import (
	"context"

	"alisio/agent"
)

// Archive hides a session from lists, or shows it again.
func Archive(ctx context.Context, c *Call) (int, error) {
	return c.WithSession(ctx, func(store *agent.Store, s agent.Session) error {
		if err := store.Archive(ctx, s.ID, !c.Off); err != nil {
			return err
		}
		if c.Off {
			c.Notice("session %s is listed again", s.ID)
		} else {
			c.Notice("session %s is archived: %s lists it", s.ID, c.Command("sessions list --all"))
		}
		return nil
	})
}
