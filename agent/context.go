package agent

import (
	"path/filepath"

	"alisio/agent/resource"
	"alisio/llm"
)

// Explained is a file that could hold instructions and what becomes of it.
type Explained = resource.Explained

// ExplainContext tells which instruction files a run that works at a path is
// given, in their order and why, and which it passes over. A relative path counts
// from Options.Dir; it need not exist. Of the options Dir, Dirs, Config and Getenv
// count. It reads what such a run would read and contacts nobody.
func ExplainContext(o Options, path string) ([]Explained, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	// The root has its links resolved, so that the path must have.
	root, at := findRoot(o.Dir, o.Getenv("HOME")), realPath(path)
	if !contains(root, at) {
		return nil, llm.Errorf(llm.CauseBadRequest, "explain the context: %q is outside the workspace %q", path, root).
			WithHint("--cwd DIR names another workspace")
	}
	return resource.Explain(contextOptions(o, root), at)
}

// InstructionFiles reads the instruction files that a run in Options.Dir starts with,
// Options.Hermetic aside. Of the options Dir, Dirs, Config and Getenv count.
func InstructionFiles(o Options) (resource.Context, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return resource.Load(contextOptions(o, findRoot(o.Dir, o.Getenv("HOME"))))
}

// contextOptions say where the instruction files of an application are. The root
// has its links resolved, and so has the directory then.
func contextOptions(o Options, root string) resource.Options {
	return resource.Options{
		ConfigHome: o.Dirs.Config, Root: root, Dir: realPath(o.Dir),
		ClaudeMdFallback: o.Config.Context.ClaudeMdFallback, MaxBytes: o.Config.Context.MaxBytes,
	}
}
