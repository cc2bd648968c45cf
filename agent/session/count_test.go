package session

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestCountIsOfTheSameSessionsAsAList(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	for i, head := range []Session{
		{Workspace: "/a"}, {Workspace: "/a"}, {Workspace: "/b"}, {Workspace: "/b", Parent: "s0", Depth: 1},
		{Workspace: "/b", Archived: time.UnixMilli(1)},
	} {
		head.ID = fmt.Sprintf("s%d", i)
		must(t, s.Create(ctx, head))
	}
	must(t, s.Archive(ctx, "s4", true))
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{}, 3}, {Query{All: true}, 5}, {Query{Workspace: "/a"}, 2}, {Query{Workspace: "/b"}, 1},
		{Query{Workspace: "/b", All: true}, 3}, {Query{Workspace: "/none"}, 0},
	} {
		got, err := s.Count(ctx, c.q)
		if err != nil || got != c.want {
			t.Errorf("%+v: got %d, %v, want %d", c.q, got, err, c.want)
		}
		c.q.Limit = 10
		if list, err := s.List(ctx, c.q); err != nil || len(list) != got {
			t.Errorf("%+v: a list has %d, %v, the count is %d", c.q, len(list), err, got)
		}
	}
}
