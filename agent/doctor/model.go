package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/perm"
	"alisio/agent/profile"
	"alisio/agent/transport"
)

func (v *visit) model() {
	cfg := v.app.Config
	if cfg.Provider.Model == "" {
		v.add("model", agent.Problem, "name one with --model NAME, ALISIO_MODEL or provider.model in the configuration; alisio models lists those of the server",
			"no model is chosen")
		return
	}
	m, kept := profile.Known(v.app.Selection())
	name := fmt.Sprintf("%s (%s)", m.ID, cfg.Origin("provider.model"))
	if m.ContextWindow == 0 {
		v.add("model", agent.Note, "alisio models asks the server, which may not tell it; else set provider.contextWindow", "%s: its context window is not known", name)
		return
	}
	by := ""
	if !kept.IsZero() && cfg.Provider.ContextWindow == 0 && cfg.Models[m.ID].ContextWindow == 0 {
		by = ", as the server said on " + kept.Format(time.DateOnly)
	}
	v.add("model", agent.Good, "", "%s: a context window of %d tokens%s", name, m.ContextWindow, by)
}

// endpoint judges the address alone: Network tells whether somebody is there.
func (v *visit) endpoint() {
	p := v.app.Config.Provider
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		v.add("endpoint", agent.Problem, "check provider.baseURL", "the base URL is not valid")
		return
	}
	name := fmt.Sprintf("%s (%s)", p.BaseURL, v.app.Config.Origin("provider.baseURL"))
	switch {
	case transport.IsLoopback(u.Hostname()):
		v.add("endpoint", agent.Good, "", "%s, which is this machine", name)
	case u.Scheme == "http":
		v.add("endpoint", agent.Note, "use https where the server has it", "%s: prompts and answers can be read on the way", name)
	default:
		v.add("endpoint", agent.Good, "", "%s", name)
	}
}

func (v *visit) key() {
	p, k := v.app.Config.Provider, v.auth
	switch {
	case k.Err != nil:
		v.fail("key", k.Err, "set it again")
	case p.Auth == "none":
		v.add("key", agent.Good, "", "none is sent: provider.auth is \"none\"")
	case !k.Sent:
		v.add("key", agent.Good, "", "%s is not set: a server of this machine is asked without a key", p.APIKeyEnv)
	case k.Odd != "":
		v.add("key", agent.Note, "set it again", "%s is set, but %s", p.APIKeyEnv, k.Odd)
	default:
		v.add("key", agent.Good, "", "%s is set", p.APIKeyEnv)
	}
}

// permissions tells what a run may do where nobody can be asked.
func (v *visit) permissions() {
	policy := v.app.Policy
	var may, not []string
	for _, effect := range []string{perm.EffectRead, perm.EffectWrite, perm.EffectProcess, perm.EffectExternal} {
		if policy.Offers(effect, false) {
			may = append(may, effect)
		} else {
			not = append(not, fmt.Sprintf("%s (%s)", effect, policy.Remedy(effect)))
		}
	}
	line := fmt.Sprintf("mode %s (%s); a headless run may %s", policy.Mode, v.app.Config.Origin("permissions.mode"), strings.Join(may, ", "))
	if len(not) == 0 {
		v.add("permissions", agent.Note, "permissions.mode \"ask\" or \"auto\" has the rest asked for", "%s: everything, without a question", line)
		return
	}
	v.add("permissions", agent.Good, "", "%s, and not %s", line, strings.Join(not, ", "))
}

// store opens the session database to look and closes it again; what is in it is
// checked by CheckStore.
func (v *visit) store(ctx context.Context) {
	o := agent.StoreOptions{
		Dirs: v.app.Dirs, Path: v.o.StorePath, ReadOnly: true, Ends: true,
		Notice: func(line string) {
			v.add("session database", agent.Note, "alisio doctor --store tells more", "%s", line)
		},
	}
	file, home, err := o.Place()
	switch {
	case err != nil:
		v.fail("session database", err, "set ALISIO_STATE_HOME, or use --db FILE")
		return
	case directoryAbove(file) != "":
		v.add("session database", agent.Problem, "set ALISIO_STATE_HOME, or use --db FILE", "%s can not be made: %s is no directory", file, directoryAbove(file))
		return
	case !v.lockable(home):
		return
	case !exists(file):
		v.add("session database", agent.Good, "", "%s is not there yet: no session is stored", file)
		return
	}
	n, err := count(ctx, o)
	var older *agent.OlderError
	switch {
	case errors.As(err, &older):
		v.add("session database", agent.Note, "nothing needs to be done: the next run does it", "%v", older)
	case err != nil:
		v.fail("session database", err, storeRemedy(err))
	default:
		v.add("session database", agent.Good, "", "%s opens, with %d sessions", file, n)
	}
}

// storeRemedy sends nobody to a repair whose database is not known to be damaged.
func storeRemedy(err error) string {
	var damaged *agent.DamagedError
	if errors.As(err, &damaged) {
		return "alisio doctor --store --fix"
	}
	return "alisio doctor --store tells more"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func count(ctx context.Context, o agent.StoreOptions) (int, error) {
	s, err := agent.OpenStore(ctx, o)
	if err != nil {
		return 0, err
	}
	n, err := s.Count(ctx, agent.Query{All: true})
	return n, errors.Join(err, s.Close())
}

func (v *visit) instructions() {
	c, err := agent.InstructionFiles(v.app)
	if err != nil {
		v.add("instructions", agent.Problem, "check --cwd", "%v", err)
		return
	}
	var names []string
	for _, s := range c.Sources {
		names = append(names, s.Name)
	}
	line := "no AGENTS.md applies"
	if len(names) > 0 {
		line = strings.Join(names, ", ")
	}
	v.add("instructions", agent.Good, "", "%s: %d of %d bytes (context.maxBytes)", line, len(c.Text), v.app.Config.Context.MaxBytes)
	for _, n := range c.Notices {
		remedy := "alisio context explain . tells more"
		if strings.Contains(n, "context.maxBytes") {
			remedy = "shorten the files, or raise context.maxBytes"
		}
		v.add("instructions", agent.Note, remedy, "%s", n)
	}
}

// plugins sets the plugins up as a run would, and takes them down again.
func (v *visit) plugins(ctx context.Context) {
	app, err := agent.New(ctx, v.app)
	if err != nil {
		v.fail("application", err, "correct what it names")
		return
	}
	why := make(map[string]error)
	for _, f := range app.Diagnostics() {
		if f.Code != agent.PluginFailed {
			continue
		}
		why[f.Plugin] = f.Err
	}
	for _, p := range v.app.Plugins {
		enabled := "builtinPlugins." + p.ID + ".enabled"
		switch {
		case !v.app.Config.Plugin(p.ID).Enabled:
			v.add("plugin "+p.ID, agent.Good, "", "is switched off (%s)", v.app.Config.Origin(enabled))
		case why[p.ID] != nil:
			v.add("plugin "+p.ID, agent.Problem, "correct it, or leave it out: "+enabled+": false", "%v", why[p.ID])
		default:
			v.add("plugin "+p.ID, agent.Good, "", "is set up")
		}
	}
	v.agent(app)
	app.FoundSkills(ctx)
	skills, templates := app.ResourceProblems()
	v.resources("skills", skills)
	v.resources("templates", templates)
	if err := app.Close(ctx); err != nil {
		v.add("application", agent.Note, "report this", "%v", err)
	}
}

// resources tells how much is wrong with skills or templates, if anything is.
func (v *visit) resources(what string, problems int) {
	if problems > 0 {
		v.add(what, agent.Note, "alisio "+what+" validate tells of each", "not all are as they should be; problems: %d", problems)
	}
}

// agent looks whether the agent is there that the configuration chooses for new sessions.
func (v *visit) agent(app *agent.App) {
	id := v.app.Config.Agents.Active
	var ids []string
	for _, a := range app.Agents() {
		ids = append(ids, a.ID)
	}
	switch {
	case id == "":
	case slices.Contains(ids, id):
		v.add("agent", agent.Good, "", "%s (%s)", id, v.app.Config.Origin("agents.active"))
	default:
		v.add("agent", agent.Problem, "set agents.active to one of: "+strings.Join(ids, ", "),
			"there is no agent %q (%s)", id, v.app.Config.Origin("agents.active"))
	}
}

func (v *visit) terminal() {
	t := v.o.Terminal
	switch {
	case t.Size == "":
		v.add("terminal", agent.Good, "", "none: output goes to a file or a pipe")
	case t.Term == "" || t.Term == "dumb":
		v.add("terminal", agent.Note, "set TERM to what the terminal is, such as xterm-256color", "TERM is %q: output is plain", t.Term)
	default:
		v.add("terminal", agent.Good, "", "%s, %s, colours: %s", t.Term, t.Size, t.Colour)
	}
	locale := strings.ToLower(t.Locale)
	switch {
	case runtime.GOOS == "windows": // has no such variable
	case strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8"):
		v.add("locale", agent.Good, "", "%s", t.Locale)
	default:
		v.add("locale", agent.Note, "set LANG to a UTF-8 locale, such as C.UTF-8", "%q is no UTF-8: other characters than those of English may not be shown", t.Locale)
	}
}

// The years between which a clock is believed.
const (
	firstYear = 2025
	lastYear  = 2100
)

func (v *visit) clock() {
	if y := v.o.Now.Year(); y < firstYear || y > lastYear {
		v.add("clock", agent.Problem, "set the clock: certificates are judged by it", "the clock says %s", v.o.Now.Format(time.DateOnly))
		return
	}
	v.add("clock", agent.Good, "", "%s", v.o.Now.Format(time.RFC3339))
}

// OnThisMachine reports whether the server of a base URL can only be on this machine:
// it is asked without a key where none is set.
func OnThisMachine(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && transport.IsLoopback(u.Hostname())
}
