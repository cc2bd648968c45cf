package run

import (
	"context"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// C155. Symptom: an image that the server can not read is refused with 400 for ever, also
// after a resume. Trigger: a broken image in the conversation, here the last of two, and
// then the first as well.
func TestC155ARefusedImageGivesWayToANote(t *testing.T) {
	for name, c := range map[string]struct {
		bad      []string // images that the server does not take
		requests int
		kept     int // images
	}{
		"the last one": {[]string{"second"}, 2, 1},
		"the first":    {[]string{"first"}, 3, 0},
		"both":         {[]string{"first", "second"}, 3, 0},
	} {
		images := func(r llm.Request) (all []string) {
			for _, m := range r.Messages {
				for _, a := range m.Attachments {
					all = append(all, string(a.Data))
				}
				for _, p := range m.Parts {
					if p.Type == llm.PartImage {
						all = append(all, string(p.Data))
					}
				}
			}
			return all
		}
		p := &fake{answers: []answerFunc{func(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
			for _, have := range images(r) {
				for _, bad := range c.bad {
					if have == bad {
						yield(llm.Event{}, &llm.Error{Cause: llm.CauseBadRequest, Status: 400, Message: "could not process image", Image: true})
						return
					}
				}
			}
			says("seen")(context.Background(), r, yield)
		}}}
		b := newBench(t, p, perm.Policy{}, nil)
		b.replaced = true
		b.record()
		err := b.store.Append(context.Background(), "s", "before",
			llm.Message{Role: llm.RoleUser, Text: "look", Attachments: []llm.Attachment{{MIMEType: "image/png", Data: []byte("first")}}},
			llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("c", "look", "{}")}},
			llm.Message{Role: llm.RoleTool, CallID: "c", Parts: []llm.Part{{Type: llm.PartImage, MIMEType: "image/png", Data: []byte("second")}}})
		if err != nil {
			t.Fatal(err)
		}
		out := b.run(t.Context(), "and?")
		if out.Status != Completed || len(p.requests) != c.requests || len(images(p.requests[len(p.requests)-1])) != c.kept {
			t.Errorf("%s: %s, %v after %d requests, the last with %d images", name, out.Status, out.Err, len(p.requests), len(images(p.requests[len(p.requests)-1])))
		}
		if said := texts(p.requests[len(p.requests)-1].Messages); !strings.Contains(said, "no longer shown") {
			t.Errorf("%s: nothing stands for the image in %q", name, said)
		}
		if got := told[plug.ContextReduced](b); len(got) != c.requests-1 {
			t.Errorf("%s: told %+v", name, got)
		}
		// The next run is not refused.
		asked := len(p.requests)
		if out := b.run(t.Context(), "on"); out.Status != Completed || len(p.requests) != asked+1 {
			t.Errorf("%s: the next run: %+v after %d requests", name, out, len(p.requests)-asked)
		}
	}
}

// Some servers say so as if it were their trouble: nothing is sent again as it was.
func TestC155AServerInTroubleWithAnImage(t *testing.T) {
	p := &fake{answers: []answerFunc{
		breaks("", &llm.Error{Cause: llm.CauseServer, Status: 500, Message: "image input is not supported", Image: true}), says("I see none"),
	}}
	b := newBench(t, p, perm.Policy{}, nil)
	b.replaced = true
	b.record()
	m := llm.Message{Role: llm.RoleUser, Text: "look", Attachments: []llm.Attachment{{MIMEType: "image/png", Data: []byte("x")}}}
	if err := b.store.Append(t.Context(), "s", "before", m, llm.Message{Role: llm.RoleAssistant, Text: "at what?"}); err != nil {
		t.Fatal(err)
	}
	out := b.run(t.Context(), "at this")
	if out.Status != Completed || len(p.requests) != 2 || len(told[plug.RequestRetry](b)) > 0 {
		t.Errorf("got %+v after %d requests", out, len(p.requests))
	}
}

// A server that refuses images which are none of the request fails the run.
func TestARefusalWithoutImages(t *testing.T) {
	p := &fake{answers: []answerFunc{breaks("", &llm.Error{Cause: llm.CauseBadRequest, Message: "invalid image", Image: true})}}
	b := newBench(t, p, perm.Policy{}, nil)
	if out := b.run(t.Context(), "go"); out.Status != Failed || len(p.requests) != 1 {
		t.Errorf("got %+v after %d requests", out, len(p.requests))
	}
}
