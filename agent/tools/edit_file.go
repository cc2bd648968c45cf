package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"alisio/plug"
)

// editFile replaces a piece of a file. It wants to know that the model has seen
// the file as it is, and that the piece is one certain place: both are refused
// with what to do next.
type editFile struct{}

type editArgs struct {
	Path         string  `json:"path"`
	OldText      string  `json:"oldText"`
	NewText      string  `json:"newText"`
	ExpectedHash *string `json:"expectedHash"`
	ReplaceAll   bool    `json:"replaceAll"`
}

func (editFile) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name: "edit_file",
		Description: "Replace oldText by newText in a file. oldText is exact (indentation too, no line numbers) " +
			"and must occur once, unless replaceAll.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},"oldText":{"type":"string"},"newText":{"type":"string"},` +
			`"expectedHash":{"type":"string","description":"the file's sha256 from read_file or the last edit"},` +
			`"replaceAll":{"type":"boolean"}},` +
			`"required":["path","oldText","newText","expectedHash"],"additionalProperties":false}`),
		Effect: plug.EffectWrite,
	}
}

// Prepare makes the whole change in memory, so that a person sees it before it is
// allowed and an edit that can not work is no question to anybody.
func (editFile) Prepare(ctx context.Context, c *plug.Call) (plug.Plan, error) {
	var a editArgs
	if err := c.Decode(&a); err != nil {
		return plug.Plan{}, err
	}
	switch {
	case a.OldText == "":
		return plug.Plan{}, errors.New("oldText is empty: give the text to replace, or use write_file")
	case len(a.NewText) > maxContent || len(a.OldText) > maxContent:
		return plug.Plan{}, fmt.Errorf("oldText and newText are limited to %s", bytesText(maxContent))
	}
	hash, err := expected(a.ExpectedHash)
	if err != nil {
		return plug.Plan{}, err
	}
	t, err := resolve(c, a.Path)
	if err != nil {
		return plug.Plan{}, err
	}
	if !t.Inside {
		return outsidePlan(t), nil
	}
	if err := regular(ctx, c, t); err != nil {
		return plug.Plan{}, err
	}
	if hash == "" {
		return plug.Plan{}, fmt.Errorf("expectedHash is missing: read %s with read_file and give its sha256", t.Name)
	}
	old, err := current(ctx, c, t.Abs, hash)
	if err != nil {
		return plug.Plan{}, err
	}
	ch, err := edit(c, old, a)
	if err != nil {
		return plug.Plan{}, fmt.Errorf("edit %s: %w", t.Name, err)
	}
	return ch.plan(t, hash)
}

// Execute makes the change again and writes it.
func (editFile) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	var a editArgs
	if err := c.Decode(&a); err != nil {
		return plug.Result{}, err
	}
	path, d, err := planned(p)
	if err != nil {
		return plug.Result{}, err
	}
	old, err := current(ctx, c, path, d.Old)
	if err != nil {
		return plug.Result{}, err
	}
	ch, err := edit(c, old, a)
	if err != nil {
		return plug.Result{}, err
	}
	return ch.write(ctx, c, path, d)
}
