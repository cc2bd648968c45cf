package host

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"alisio/agent/text"
	"alisio/plug"
)

// Injected is text of a plugin that joins a conversation: plain, at most 24,000
// characters. Source is the plugin's id, of context "plugin/name".
type Injected struct{ Source, Text string }

// Failure is a hook that gave nothing (plugin_hook_failed).
type Failure struct {
	Source string
	// Hook is OnStart, OnEnd, BeforeCompact or AfterCompact.
	Hook string
	Err  error
}

// Wish is what a plugin wants of a summary. A plugin with several hooks has
// several.
type Wish struct {
	Source string
	plug.CompactionWish
}

// Report is what a plugin made of a checkpoint.
type Report struct {
	Source string
	plug.CompactionReport
}

// maxReportLine is in cells.
const maxReportLine = 200

// hook calls one hook within its limit.
func hook[T any](ctx context.Context, e *entry, name string, limit time.Duration, do func(ctx context.Context) (T, error)) (T, *Failure) {
	value, err := call(ctx, e, limit, do)
	if err != nil {
		return value, &Failure{Source: e.id(), Hook: name, Err: err}
	}
	return value, nil
}

// Start calls the start hooks beside each other and returns their texts in the
// order of registration. One that fails, panics or is late costs its own text
// alone.
func (h *Host) Start(ctx context.Context, s plug.SessionInfo) (texts []Injected, failures []Failure) {
	rows := rowsOf(h, &h.r.sessions)
	got, failed := make([]string, len(rows)), make([]*Failure, len(rows))
	var all sync.WaitGroup
	for i, r := range rows {
		if r.value.OnStart == nil {
			continue
		}
		all.Go(func() {
			got[i], failed[i] = hook(ctx, r.owner, "OnStart", h.o.Limits.Hook, func(ctx context.Context) (string, error) {
				t, err := r.value.OnStart(ctx, s)
				return injected(t), err
			})
		})
	}
	all.Wait()
	for i, r := range rows {
		if got[i] != "" {
			texts = append(texts, Injected{r.owner.id(), got[i]})
		}
		if failed[i] != nil {
			failures = append(failures, *failed[i])
		}
	}
	return texts, failures
}

// End calls the end hooks one after the other, until ctx ends: a person may skip
// them.
func (h *Host) End(ctx context.Context, s plug.SessionInfo) (failures []Failure) {
	for _, r := range rowsOf(h, &h.r.sessions) {
		if r.value.OnEnd == nil || ctx.Err() != nil {
			continue
		}
		_, failed := hook(ctx, r.owner, "OnEnd", h.o.Limits.SessionEnd, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, r.value.OnEnd(ctx, s)
		})
		if failed != nil {
			failures = append(failures, *failed)
		}
	}
	return failures
}

// BeforeCompact collects what plugins want of a summary, in the order of
// registration.
func (h *Host) BeforeCompact(ctx context.Context, c plug.CompactionInput) (wishes []Wish, failures []Failure) {
	for _, r := range rowsOf(h, &h.r.compactions) {
		if r.value.Before == nil || ctx.Err() != nil {
			continue
		}
		// Each gets a list of its own: what one changes, none sees.
		in := c
		in.Messages = slices.Clone(c.Messages)
		wish, failed := hook(ctx, r.owner, "BeforeCompact", h.o.Limits.Hook, func(ctx context.Context) (plug.CompactionWish, error) {
			w, err := r.value.Before(ctx, in)
			if err != nil {
				return w, err
			}
			return checkWish(w)
		})
		if failed != nil {
			failures = append(failures, *failed)
		} else if wish.Instructions != "" || len(wish.Fields) > 0 {
			wishes = append(wishes, Wish{r.owner.id(), wish})
		}
	}
	return wishes, failures
}

// checkWish checks a wish and makes its texts safe.
func checkWish(w plug.CompactionWish) (plug.CompactionWish, error) {
	if err := w.Check(); err != nil {
		return w, err
	}
	out := plug.CompactionWish{Instructions: injected(w.Instructions)}
	if len(w.Fields) > 0 {
		out.Fields = make(map[string]string, len(w.Fields))
	}
	for name, description := range w.Fields {
		out.Fields[name] = tell(description)
	}
	return out, nil
}

// AfterCompact gives each plugin the checkpoint with its own fields, by plugin
// id, and collects what they made of it in the order of registration.
func (h *Host) AfterCompact(ctx context.Context, c plug.CompactionResult, fields map[string]map[string]json.RawMessage) (reports []Report, failures []Failure) {
	for _, r := range rowsOf(h, &h.r.compactions) {
		if r.value.After == nil || ctx.Err() != nil {
			continue
		}
		in := c
		in.Checkpoint, in.Fields = slices.Clone(c.Checkpoint), maps.Clone(fields[r.owner.id()])
		report, failed := hook(ctx, r.owner, "AfterCompact", h.o.Limits.Hook, func(ctx context.Context) (plug.CompactionReport, error) {
			rep, err := r.value.After(ctx, in)
			return plug.CompactionReport{Inject: injected(rep.Inject), Report: text.Clip(tell(rep.Report), maxReportLine)}, err
		})
		if failed != nil {
			failures = append(failures, *failed)
		} else if report != (plug.CompactionReport{}) {
			reports = append(reports, Report{r.owner.id(), report})
		}
	}
	return reports, failures
}
