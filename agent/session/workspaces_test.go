package session

import (
	"context"
	"testing"
)

func TestWorkspaces(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	if got, err := s.Workspaces(ctx); err != nil || len(got) != 0 {
		t.Fatalf("of a new store: got %+v, %v", got, err)
	}
	label, on := "the\nledger", true
	must(t, s.PinWorkspace(ctx, "/a", &label, &on))
	must(t, s.OpenWorkspace(ctx, "/b"))
	got, err := s.Workspaces(ctx)
	if err != nil || len(got) != 2 || got[0].Path != "/b" || got[0].LastOpened.IsZero() || got[0].Pinned ||
		got[1] != (Workspace{Path: "/a", Label: "the ledger", Pinned: true}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
