package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"alisio/agent/host"
	"alisio/agent/perm"
	"alisio/agent/profile"
	"alisio/agent/resource"
	"alisio/agent/session"
	"alisio/agent/transport"
	"alisio/db"
)

func (d *doctor) model() {
	cfg := d.app.Config
	if cfg.Provider.Model == "" {
		d.add("model", Problem, "name one with --model NAME, ALISIO_MODEL or provider.model in the configuration; alisio models lists those of the server",
			"no model is chosen")
		return
	}
	m, kept := profile.Known(d.app.selection())
	name := fmt.Sprintf("%s (%s)", m.ID, cfg.Origin("provider.model"))
	if m.ContextWindow == 0 {
		d.add("model", Note, "alisio models asks the server, which may not tell it; else set provider.contextWindow", "%s: its context window is not known", name)
		return
	}
	by := ""
	if !kept.IsZero() && cfg.Provider.ContextWindow == 0 && cfg.Models[m.ID].ContextWindow == 0 {
		by = ", as the server said on " + kept.Format(time.DateOnly)
	}
	d.add("model", Good, "", "%s: a context window of %d tokens%s", name, m.ContextWindow, by)
}

func (d *doctor) endpoint() {
	p := d.app.Config.Provider
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		d.add("endpoint", Problem, "check provider.baseURL", "the base URL is not valid")
		return
	}
	name := fmt.Sprintf("%s (%s)", p.BaseURL, d.app.Config.Origin("provider.baseURL"))
	switch {
	case transport.IsLoopback(u.Hostname()):
		d.add("endpoint", Good, "", "%s, which is this machine", name)
	case u.Scheme == "http":
		d.add("endpoint", Note, "use https where the server has it", "%s: prompts and answers can be read on the way", name)
	default:
		d.add("endpoint", Good, "", "%s", name)
	}
}

func (d *doctor) key() {
	p, k := d.app.Config.Provider, d.auth
	switch {
	case k.Err != nil:
		d.fail("key", k.Err, "set it again")
	case p.Auth == "none":
		d.add("key", Good, "", "none is sent: provider.auth is \"none\"")
	case !k.Sent:
		d.add("key", Good, "", "%s is not set: a server of this machine is asked without a key", p.APIKeyEnv)
	case k.Odd != "":
		d.add("key", Note, "set it again", "%s is set, but %s", p.APIKeyEnv, k.Odd)
	default:
		d.add("key", Good, "", "%s is set", p.APIKeyEnv)
	}
}

// permissions tells what a run may do where nobody can be asked.
func (d *doctor) permissions() {
	policy := d.app.Policy
	var may, not []string
	for _, effect := range []string{perm.EffectRead, perm.EffectWrite, perm.EffectProcess, perm.EffectExternal} {
		if policy.Offers(effect, false) {
			may = append(may, effect)
		} else {
			not = append(not, fmt.Sprintf("%s (%s)", effect, policy.Remedy(effect)))
		}
	}
	line := fmt.Sprintf("mode %s (%s); a headless run may %s", policy.Mode, d.app.Config.Origin("permissions.mode"), strings.Join(may, ", "))
	if len(not) == 0 {
		d.add("permissions", Note, "permissions.mode \"ask\" or \"auto\" has the rest asked for", "%s: everything, without a question", line)
		return
	}
	d.add("permissions", Good, "", "%s, and not %s", line, strings.Join(not, ", "))
}

// store opens the session database to look and closes it again; what is in it is
// checked by CheckStore.
func (d *doctor) store(ctx context.Context) {
	o := StoreOptions{
		Dirs: d.app.Dirs, Path: d.o.StorePath, ReadOnly: true, Ends: true,
		Notice: func(line string) { d.add("session database", Note, "alisio doctor --store tells more", "%s", line) },
	}
	opts, err := o.options()
	switch {
	case err != nil:
		d.fail("session database", err, "set ALISIO_STATE_HOME, or use --db FILE")
		return
	case directoryAbove(opts.Path) != "":
		d.add("session database", Problem, "set ALISIO_STATE_HOME, or use --db FILE", "%s can not be made: %s is no directory", opts.Path, directoryAbove(opts.Path))
		return
	case !d.lockable(opts.Home):
		return
	case !exists(opts.Path):
		d.add("session database", Good, "", "%s is not there yet: no session is stored", opts.Path)
		return
	}
	n, err := count(ctx, o)
	var older *OlderError
	switch {
	case errors.As(err, &older):
		d.add("session database", Note, "nothing needs to be done: the next run does it", "%v", older)
	case err != nil:
		d.fail("session database", err, storeRemedy(err))
	default:
		d.add("session database", Good, "", "%s opens, with %d sessions", opts.Path, n)
	}
}

func storeRemedy(err error) string {
	var damaged *db.DamagedError
	if errors.As(err, &damaged) {
		return "alisio doctor --store --fix"
	}
	return "alisio doctor --store tells more"
}

func count(ctx context.Context, o StoreOptions) (int, error) {
	s, err := OpenStore(ctx, o)
	if err != nil {
		return 0, err
	}
	n, err := s.Count(ctx, session.Query{All: true})
	return n, errors.Join(err, s.Close())
}

func (d *doctor) instructions() {
	root := findRoot(d.app.Dir, d.app.Getenv("HOME"))
	o := contextOptions(d.app, root)
	c, err := resource.Load(o)
	if err != nil {
		d.add("instructions", Problem, "check --cwd", "%v", err)
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
	d.add("instructions", Good, "", "%s: %d of %d bytes (context.maxBytes)", line, len(c.Text), o.MaxBytes)
	for _, n := range c.Notices {
		remedy := "alisio context explain . tells more"
		if strings.Contains(n, "context.maxBytes") {
			remedy = "shorten the files, or raise context.maxBytes"
		}
		d.add("instructions", Note, remedy, "%s", n)
	}
}

// plugins sets the plugins up as a run would, and takes them down again.
func (d *doctor) plugins(ctx context.Context) {
	app, err := New(ctx, d.app)
	if err != nil {
		d.fail("application", err, "correct what it names")
		return
	}
	failed := app.host.Diagnostics()
	why := make(map[string]error, len(failed))
	for _, f := range failed {
		if f.Code == host.PluginFailed {
			why[f.Plugin] = f.Err
		}
	}
	for _, p := range d.app.Plugins {
		enabled := "builtinPlugins." + p.ID + ".enabled"
		switch {
		case !d.app.Config.Plugin(p.ID).Enabled:
			d.add("plugin "+p.ID, Good, "", "is switched off (%s)", d.app.Config.Origin(enabled))
		case why[p.ID] != nil:
			d.add("plugin "+p.ID, Problem, "correct it, or leave it out: "+enabled+": false", "%v", why[p.ID])
		default:
			d.add("plugin "+p.ID, Good, "", "is set up")
		}
	}
	if err := app.Close(ctx); err != nil {
		d.add("application", Note, "report this", "%v", err)
	}
}

func (d *doctor) terminal() {
	t := d.o.Terminal
	switch {
	case t.Size == "":
		d.add("terminal", Good, "", "none: output goes to a file or a pipe")
	case t.Term == "" || t.Term == "dumb":
		d.add("terminal", Note, "set TERM to what the terminal is, such as xterm-256color", "TERM is %q: output is plain", t.Term)
	default:
		d.add("terminal", Good, "", "%s, %s, colours: %s", t.Term, t.Size, t.Colour)
	}
	locale := strings.ToLower(t.Locale)
	switch {
	case runtime.GOOS == "windows": // has no such variable
	case strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8"):
		d.add("locale", Good, "", "%s", t.Locale)
	default:
		d.add("locale", Note, "set LANG to a UTF-8 locale, such as C.UTF-8", "%q is no UTF-8: other characters than those of English may not be shown", t.Locale)
	}
}

// The years between which a clock is believed.
const (
	firstYear = 2025
	lastYear  = 2100
)

func (d *doctor) clock() {
	if y := d.o.Now.Year(); y < firstYear || y > lastYear {
		d.add("clock", Problem, "set the clock: certificates are judged by it", "the clock says %s", d.o.Now.Format(time.DateOnly))
		return
	}
	d.add("clock", Good, "", "%s", d.o.Now.Format(time.RFC3339))
}
