package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = time.Hour
	// maxBlock bounds the output in the display block, which is stored beside
	// the text for the model.
	maxBlock = 16_000
	// maxCommand bounds the command line in the same block, in characters.
	maxCommand = 4000
)

// command is what both process tools make of their arguments.
type command struct {
	argv    []string
	shell   string
	stdin   string
	cwd     string
	timeout int64
}

// line is the command as a person would type it.
func (m command) line() string {
	if m.shell != "" {
		return m.shell
	}
	words := make([]string, len(m.argv))
	for i, w := range m.argv {
		words[i] = quoteWord(w)
	}
	return strings.Join(words, " ")
}

// quoteWord quotes a word for a POSIX shell where that is needed.
func quoteWord(w string) string {
	plain := w != ""
	for _, r := range w {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case strings.ContainsRune("-_./:=@%+,", r), r > 0x9F && !hidden(r):
		default:
			plain = false
		}
	}
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// title is the command on one line in which nothing can hide: a second line shows
// as a mark, what is invisible by its number.
func (m command) title() string {
	s := strings.ReplaceAll(strings.TrimSpace(m.line()), "\n", " ⏎ ")
	return text.Short(text.Visible(strings.ReplaceAll(s, "\t", " ")), maxTitle)
}

// check refuses what can not be run as it stands. It judges nothing else: what may
// run is the gate's decision.
func (m command) check() error {
	if strings.TrimSpace(m.shell) == "" && (len(m.argv) == 0 || strings.TrimSpace(m.argv[0]) == "") {
		return errors.New("command is empty")
	}
	for _, s := range append([]string{m.shell}, m.argv...) {
		if strings.IndexByte(s, 0) >= 0 {
			return errors.New("command holds a NUL byte, which no program can be given")
		}
	}
	return nil
}

// plan is the plan of a command. Its key is the exact command in its directory: a
// grant for the session covers that and nothing wider.
func (m command) plan(ctx context.Context, c *plug.Call, tool string) (plug.Plan, error) {
	if err := m.check(); err != nil {
		return plug.Plan{}, err
	}
	dir, err := directory(ctx, c, m.cwd)
	if err != nil {
		return plug.Plan{}, fmt.Errorf("cwd: %w", err)
	}
	key := tool + " " + m.line() + " in " + dir.Abs
	if m.stdin != "" {
		// Other input makes another command of it: a grant does not cover that.
		key = ""
	}
	return plug.Plan{
		Effect: plug.EffectProcess, Title: m.title(), Argv: m.argv, Shell: m.shell, Dir: dir.Abs, Stdin: m.stdin,
		Paths: []plug.PlanPath{{Path: dir.Abs, Access: plug.AccessRead}}, Key: key,
	}, nil
}

// run carries a plan out: the words, directory and input of the plan, and from the
// arguments only how long it may take. A program that failed is a result that is
// marked as an error, so that no model takes it for a success.
func (m command) run(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	timeout := defaultTimeout
	if m.timeout > 0 {
		timeout = time.Duration(min(m.timeout, maxTimeout.Milliseconds())) * time.Millisecond
	}
	e, err := c.Exec.Run(ctx, plug.Command{
		Argv: p.Argv, Shell: p.Shell, Dir: p.Dir, Stdin: p.Stdin, Timeout: timeout,
	}, c.Progress)
	if err != nil {
		return plug.Result{}, err
	}
	output, cut := middleCut(text.Plain(e.Output), maxPage)
	r := plug.Text(exitText(output, e, timeout))
	r.IsError = e.Code != 0 || e.Signal != "" || e.TimedOut
	short, _ := middleCut(output, maxBlock)
	code := e.Code
	cwd := p.Dir
	if t, err := c.Files.Resolve(p.Dir); err == nil {
		cwd = t.Name
	}
	return r.WithSummary("%s", text.Short(ended(e, timeout), 60)).WithBlock(plug.Block{
		Kind: plug.BlockTerminal, Command: text.Short(text.Visible(m.line()), maxCommand), CWD: cwd, Output: short, ExitCode: &code,
		DurationMs: e.Duration.Milliseconds(), Truncated: cut || e.Dropped > 0 || len(short) < len(output),
	}), nil
}

// exitText is the output with a last line that tells how it ended.
func exitText(output string, e plug.Exit, timeout time.Duration) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(output, "\n"))
	if b.Len() == 0 {
		b.WriteString("(no output)")
	}
	if e.Dropped > 0 {
		fmt.Fprintf(&b, "\n(%s of output were left out)", bytesText(e.Dropped))
	}
	switch {
	case e.Survived:
		b.WriteString("\n(it left processes running in the background; at least one could not be stopped and still runs)")
	case e.LeftRunning:
		b.WriteString("\n(it left processes running in the background; they were stopped)")
	}
	if e.TimedOut {
		b.WriteString("\n(it did not end in time: timeoutMs gives it more, at most 3600000)")
	}
	fmt.Fprintf(&b, "\n%s · %s", ended(e, timeout), seconds(e.Duration))
	return b.String()
}

// ended is how a program ended: "exit 1", "killed", "timed out after 2.0 s".
func ended(e plug.Exit, timeout time.Duration) string {
	switch {
	case e.TimedOut:
		return "timed out after " + seconds(timeout)
	case e.Signal != "":
		return "ended by signal: " + text.Line(e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// seconds is a duration for people: "2.1 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// middleCut bounds s to n bytes: a third of them from its head and the rest
// from its tail, where programs say what went wrong.
func middleCut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	const room = 80 // for the mark
	head, _ := headLines(s, (n-room)/3)
	tail := s[len(s)-(n-room-len(head)):]
	tail = tail[runeTail([]byte(tail[:4])):]
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	left := len(s) - len(head) - len(tail)
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.TrimRight(head, "\n"), left, tail), true
}
