package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/plug"
)

// runProcess runs a program without a shell: no word of args means more than it
// says.
type runProcess struct{}

type processArgs struct {
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	CWD       string   `json:"cwd"`
	TimeoutMs int64    `json:"timeoutMs"`
	Stdin     string   `json:"stdin"`
}

func (a processArgs) command() command {
	return command{argv: append([]string{a.Command}, a.Args...), stdin: a.Stdin, cwd: a.CWD, timeout: a.TimeoutMs}
}

func (runProcess) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "run_process",
		Description: "Run one program without a shell: each argument is one string in args. " +
			"No terminal; processes left running are stopped when it ends.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"program only, e.g. go"},` +
			`"args":{"type":"array","items":{"type":"string"}},` +
			`"cwd":{"type":"string"},` +
			`"timeoutMs":{"type":"integer","minimum":1,"maximum":3600000,"description":"default 120000"},` +
			`"stdin":{"type":"string"}},"required":["command"],"additionalProperties":false}`),
		Effect: plug.EffectProcess,
	}
}

// Prepare checks the words and the directory; it does not look for the program.
func (runProcess) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a processArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	return a.command().plan(ctx, c, "run_process")
}

// Execute adds a hint where a whole command line was given as the program's name,
// which weak models do.
func (runProcess) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a processArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	r, err := a.command().run(ctx, c, p)
	if err != nil && ctx.Err() == nil && len(a.Args) == 0 && strings.ContainsAny(strings.TrimSpace(a.Command), " |;&><") {
		return r, fmt.Errorf("%w (command is one program: put its arguments into args, or use shell)", err)
	}
	return r, err
}
