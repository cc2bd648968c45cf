package agent

import (
	"context"
	"encoding/json"

	"alisio/agent/compact"
	"alisio/agent/host"
	"alisio/agent/run"
	"alisio/llm"
	"alisio/plug"
)

// compaction says how the runs of a session make room, with the hooks of plugins: each
// gets back the fields of the checkpoint that it asked for.
func (a *App) compaction(c *conversation) run.Compaction {
	o := a.o.Config.Compaction
	asked := map[string][]string{} // names of fields, by plugin
	return run.Compaction{
		Off: !o.Auto, Threshold: o.Threshold, KeepTurns: o.KeepTurns, MaxOutputTokens: o.MaxOutputTokens,
		Before: func(ctx context.Context, reason plug.CompactionReason, replaced []llm.Message) (all []compact.Wish, failures []run.HookFailure) {
			clear(asked)
			wishes, failed := a.host.BeforeCompact(ctx, plug.CompactionInput{Session: a.info(ctx, c), Reason: string(reason), Messages: replaced})
			for _, w := range wishes {
				for name := range w.Fields {
					asked[w.Source] = append(asked[w.Source], name)
				}
				all = append(all, compact.Wish{Instructions: w.Instructions, Fields: w.Fields})
			}
			return all, hookFailures(failed)
		},
		After: func(ctx context.Context, reason plug.CompactionReason, checkpoint json.RawMessage, structured bool, fields map[string]json.RawMessage,
		) (tell []run.Injected, reports map[string]string, failures []run.HookFailure) {
			own := map[string]map[string]json.RawMessage{}
			for id, names := range asked {
				own[id] = map[string]json.RawMessage{}
				for _, name := range names {
					if raw, ok := fields[name]; ok {
						own[id][name] = raw
					}
				}
			}
			said, failed := a.host.AfterCompact(ctx, plug.CompactionResult{
				Session: a.info(ctx, c), Reason: string(reason), Checkpoint: checkpoint, Structured: structured,
			}, own)
			reports = map[string]string{}
			for _, r := range said {
				if r.Report != "" {
					reports[r.Source] = r.Report
				}
				if r.Inject != "" {
					tell = append(tell, run.Injected{Source: r.Source + "/compaction", Text: r.Inject})
				}
			}
			return tell, reports, hookFailures(failed)
		},
	}
}

func hookFailures(failed []host.Failure) (all []run.HookFailure) {
	for _, f := range failed {
		all = append(all, run.HookFailure{Source: f.Source, Hook: f.Hook, Error: f.Err.Error()})
	}
	return all
}
