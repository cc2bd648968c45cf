package cli

import (
	"context"

	"alisio/agent"
)

// runArchive hides a session from lists, or shows it again.
func runArchive(ctx context.Context, c *call) (int, error) {
	return c.withSession(ctx, func(store *agent.Store, s agent.Session) error {
		if err := store.Archive(ctx, s.ID, !c.sessions.off); err != nil {
			return err
		}
		if c.sessions.off {
			c.notice("session %s is listed again", s.ID)
		} else {
			c.notice("session %s is archived: %s lists it", s.ID, c.command("sessions list --all"))
		}
		return nil
	})
}
