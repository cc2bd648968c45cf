package host

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"alisio/plug"
)

// toyHost is a host with what a test needs of the engine.
func toyHost(t *testing.T, o Options) *Host {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	h := New(o)
	t.Cleanup(func() { h.Close(context.Background()) })
	return h
}

// plugin adds a plugin and returns its API, as it is after Setup.
func plugin(t *testing.T, h *Host, id string, setup func(api *plug.API) error) *plug.API {
	t.Helper()
	var kept *plug.API
	if err := h.Add(context.Background(), plug.Plugin{ID: id, APIVersion: 1,
		Setup: func(_ context.Context, api *plug.API) error {
			kept = api
			if setup == nil {
				return nil
			}
			return setup(api)
		}}); err != nil {
		t.Fatal(err)
	}
	return kept
}

// all does everything that registers something, under names of its own.
func all(api *plug.API, name string) (undo []func(), err error) {
	keep := func(u func(), e error) {
		undo, err = append(undo, u), errors.Join(err, e)
	}
	keep(api.AddTool(named("tool_" + name)))
	keep(api.AddSlashCommand(plug.SlashCommand{Name: "cmd-" + name, Run: func(context.Context, string, string) (string, error) { return "", nil }}))
	keep(api.AddAgent(plug.Agent{ID: "agent-" + name}))
	keep(api.AddProvider(plug.ProviderRegistration{ID: "provider-" + name}))
	keep(api.AddContext(plug.ContextSource{Name: "context-" + name, Text: func(context.Context, string) (string, error) { return "", nil }}))
	keep(api.AddResources(plug.ResourceDirs{Skills: []string{"/skills", ""}}))
	keep(api.Observe(plug.Observer{Event: func(context.Context, plug.Event) {}}))
	keep(api.OnSession(plug.SessionHooks{OnEnd: func(context.Context, plug.SessionInfo) error { return nil }}))
	keep(api.OnCompaction(plug.CompactionHooks{After: func(context.Context, plug.CompactionResult) (plug.CompactionReport, error) {
		return plug.CompactionReport{}, nil
	}}))
	keep(api.Extend.Mascot(plug.Mascot{ID: "m-" + name, Render: func(context.Context, plug.MascotContext) (string, error) { return "", nil }}))
	keep(api.Extend.StartupScreen(plug.StartupScreen{ID: "s-" + name, Render: func(context.Context, plug.ScreenContext) (string, error) { return "", nil }}))
	keep(api.Extend.WebSearch(plug.WebSearch{ID: "w-" + name, Search: func(context.Context, string) ([]plug.SearchHit, error) { return nil, nil }}))
	keep(api.Extend.Facts(plug.Facts{ID: "f-" + name, List: func(context.Context) ([]plug.Fact, error) { return nil, nil }}))
	return undo, err
}

// kinds is how many things all registers.
const kinds = 13
