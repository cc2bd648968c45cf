package account

import (
	"cmp"
	"context"
	"slices"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
)

// charsPerToken is the estimate for what no server counts by itself.
const charsPerToken = 4

// Tool is what the results of one tool put into the conversation: an estimate, each
// result once. Every later request sends them again, until a compaction.
type Tool struct {
	Name   string `json:"tool"`
	Calls  int    `json:"calls"`
	Tokens int    `json:"estimatedTokens"`
}

// Results reads what each tool put into a session, the largest first.
func Results(ctx context.Context, s interface {
	MessagesPage(ctx context.Context, id string, after int64, limit int) ([]session.Stored, error)
}, id string) ([]Tool, error) {
	const atOnce = 16 // a message with its images can have some ten megabytes
	tools := map[string]*Tool{}
	names := map[string]string{} // by the id of a call that has no result yet
	for after := int64(0); ; {
		page, err := s.MessagesPage(ctx, id, after, atOnce)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			after = m.Seq
			if m.Err == nil && m.CopyOf == 0 {
				count(tools, names, m.Message)
			}
		}
		if len(page) < atOnce {
			break
		}
	}
	all := make([]Tool, 0, len(tools))
	for _, t := range tools {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(x, y Tool) int {
		return cmp.Or(cmp.Compare(y.Tokens, x.Tokens), cmp.Compare(x.Name, y.Name))
	})
	return all, nil
}

func count(tools map[string]*Tool, names map[string]string, m llm.Message) {
	for _, c := range m.Calls {
		names[c.ID] = c.Name
	}
	if m.Role != llm.RoleTool {
		return
	}
	name := text.Clip(text.Line(names[m.CallID]), nameCells)
	delete(names, m.CallID)
	if name == "" {
		name = "unknown"
	}
	t := tools[name]
	if t == nil {
		t = &Tool{Name: name}
		tools[name] = t
	}
	t.Calls++
	t.Tokens += len(m.PlainText()) / charsPerToken
}
