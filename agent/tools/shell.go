package tools

import (
	"context"
	"encoding/json"

	"alisio/plug"
)

// shell runs a line of the system's shell. The line is handed over as it is:
// package tools parses no shell.
type shell struct{}

type shellArgs struct {
	Command   string `json:"command"`
	CWD       string `json:"cwd"`
	TimeoutMs int64  `json:"timeoutMs"`
}

func (a shellArgs) command() command {
	return command{shell: a.Command, cwd: a.CWD, timeout: a.TimeoutMs}
}

func (shell) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "shell",
		Description: "Run a shell line (/bin/sh -c; cmd.exe on Windows). Each call starts anew: use cwd, not cd. " +
			"No terminal, no input; background processes are stopped when it ends.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string"},` +
			`"cwd":{"type":"string","description":"default: workspace"},` +
			`"timeoutMs":{"type":"integer","minimum":1,"maximum":3600000,"description":"default 120000"}},` +
			`"required":["command"],"additionalProperties":false}`),
		Effect: plug.EffectProcess,
	}
}

func (shell) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a shellArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	return a.command().plan(ctx, c, "shell")
}

func (shell) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a shellArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	return a.command().run(ctx, c, p)
}
