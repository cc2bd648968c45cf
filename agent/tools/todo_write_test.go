package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/plug"
)

func item(content, status string) args { return args{"content": content, "status": status} }

func TestTodoWrite(t *testing.T) {
	k := newTalk(t)
	list := args{"items": []args{item("read\x1b[31m it\nall", "completed"), item("do it", "in_progress"), item("check", "pending")}}
	r, err := k.do(todoWrite{}, "c", list)
	if err != nil || r.PlainText() != "1 of 3 done\n[x] read it all\n[>] do it\n[ ] check" || r.Summary != "1 of 3 done" {
		t.Errorf("got %q, %q, %v", r.PlainText(), r.Summary, err)
	}
	if want := `[{"content":"read it all","status":"completed"},{"content":"do it","status":"in_progress"},{"content":"check","status":"pending"}]`; k.state["todo"] != want {
		t.Errorf("kept %s", k.state["todo"])
	}
	var b plug.Block
	if last := r.Parts[len(r.Parts)-1]; last.Type != llm.PartUI || json.Unmarshal(last.Block, &b) != nil || b.Caption != "1 of 3 done" || b.Code != "[x] read it all\n[>] do it\n[ ] check" {
		t.Errorf("block %+v", b)
	}
	k.none = true
	if again, err := k.do(todoWrite{}, "c", list); err != nil || again.PlainText() != r.PlainText() {
		t.Errorf("without a store: got %q, %v", again.PlainText(), err)
	}
	k.none = false
	if r, err := k.do(todoWrite{}, "c", args{"items": []args{}}); err != nil || r.PlainText() != "the list is empty" || k.state["todo"] != "[]" {
		t.Errorf("got %q, %s, %v", r.PlainText(), k.state["todo"], err)
	}
}

func TestTodoWriteIsBounded(t *testing.T) {
	k := newTalk(t)
	var most []args
	for range maxTodos {
		most = append(most, item(strings.Repeat("<", 500), "in_progress"))
	}
	if _, err := k.do(todoWrite{}, "c", args{"items": most}); err != nil || len(k.state["todo"]) > 64<<10 || len(k.state["todo"]) < 50<<10 {
		t.Errorf("got %d bytes, %v", len(k.state["todo"]), err)
	}
	kept := k.state["todo"]
	for want, items := range map[string][]args{
		"got 51 items, want at most 50: join small steps": append(most, item("x", "pending")),
		"item 2 is empty": {item("x", "pending"), item(" \u202e", "pending")},
		`item 1: found status "done", allowed: pending, in_progress, completed`:                  {item("x", "done")},
		fmt.Sprintf("item 1: found status %q, allowed: pending, in_progress, completed", "\x1b"): {item("x", "\x1b")},
	} {
		if _, err := k.do(todoWrite{}, "c", args{"items": items}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if k.state["todo"] != kept {
		t.Error("a refused list was kept")
	}
	broken := errors.New("disk full")
	c := k.call("c", args{"items": []args{item("x", "pending")}})
	c.State.Set = func(context.Context, string, json.RawMessage) error { return broken }
	if _, err := (todoWrite{}).Execute(t.Context(), c, plug.Plan{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
