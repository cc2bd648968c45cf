package cli

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// demoFiles holds the little project, and script.json: what the scripted model
// answers.
//
//go:embed demo
var demoFiles embed.FS

const demoTask = "sh check.sh fails: find out why and repair it"

// runDemo has the scripted model drive the real loop, with the real tools, in a
// temporary repository.
func runDemo(ctx context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	if runtime.GOOS == "windows" {
		return base.ExitUsage, errors.New("the demonstration needs a POSIX shell, which this system has not")
	}
	return c.oneTask(ctx, func(ctx context.Context, work worker) (int, error) {
		dir, err := demoRepository()
		if err != nil {
			return base.ExitFailed, err
		}
		if !c.keep {
			defer os.RemoveAll(dir)
		}
		app, err := c.demoApp(ctx, dir)
		if err != nil {
			return base.ExitFailed, err
		}
		defer base.CloseApp(&c.Call, app)
		c.introduce(dir)
		code, err := work(ctx, app, task{prompt: demoTask})
		if c.keep {
			plain.Note(c.Stderr, "the repository is kept in %s", dir)
		}
		return code, err
	})
}

// introduce says what is real and what is not.
func (c *call) introduce(dir string) {
	if c.Quiet {
		return
	}
	fmt.Fprintf(c.Stderr, "The model of this demonstration is a script: its words were written\n"+
		"beforehand, and no network is used. The loop, the tools, the permissions\n"+
		"and the repository are real.\n\nrepository: %s\ntask:       %s\n\n", dir, demoTask)
}

// demoApp makes an application with the scripted provider. Nothing of the
// person's configuration is read.
func (c *call) demoApp(ctx context.Context, dir string) (*agent.App, error) {
	data, err := demoFiles.ReadFile("demo/script.json")
	if err != nil {
		return nil, err
	}
	if term.IsTerminal(c.Stdout) {
		if data, err = paced(data); err != nil {
			return nil, err
		}
	}
	provider, err := c.script("script", data)
	if err != nil {
		return nil, err
	}
	return agent.New(ctx, agent.Options{
		Dir: dir, Config: config.Default(), Tools: c.tools,
		Policy:   perm.Policy{AllowWrite: true, AllowProcess: true},
		Provider: provider, Model: llm.Model{ID: "script"},
		Getenv: c.Getenv,
	})
}

// paced lets the script speak at the pace of a quick model, since somebody
// watches.
func paced(data []byte) ([]byte, error) {
	var script struct {
		Model string           `json:"model"`
		Turns []map[string]any `json:"turns"`
	}
	if err := json.Unmarshal(data, &script); err != nil {
		return nil, fmt.Errorf("read the demonstration: %w", err)
	}
	for _, t := range script.Turns {
		t["chunk"], t["delayMs"] = 6, 12
	}
	return json.Marshal(script)
}

// demoRepository writes the project into a temporary directory that git takes
// for an empty repository, whether git is there or not.
func demoRepository() (dir string, err error) {
	dir, err = os.MkdirTemp("", "alisio-demo-")
	if err != nil {
		return "", fmt.Errorf("make a temporary repository: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
			err = fmt.Errorf("make a temporary repository: %w", err)
		}
	}()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	for _, sub := range []string{".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o755); err != nil {
			return "", err
		}
	}
	for name, body := range map[string]string{
		".git/HEAD":   "ref: refs/heads/main\n",
		".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(body), 0o644); err != nil {
			return "", err
		}
	}
	files, err := demoFiles.ReadDir("demo/project")
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if err := copyDemo(f, dir); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func copyDemo(f fs.DirEntry, dir string) error {
	body, err := demoFiles.ReadFile(path.Join("demo/project", f.Name()))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.Name()), body, 0o644)
}
