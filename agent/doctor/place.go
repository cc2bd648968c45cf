package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/proc"
	"alisio/agent/trust"
)

// configuration tells which files there are and what is wrong with them.
func (v *visit) configuration() {
	for _, err := range v.misread {
		v.add("configuration", agent.Problem, "correct it; alisio help config lists the keys", "%v", err)
	}
	if len(v.misread) > 0 {
		v.add("configuration", agent.Note, "", "what follows is about the defaults, which stand in for it")
	}
	if dir := v.o.Load.Dirs.Config; dir != "" {
		v.configFile(filepath.Join(dir, "config.json"), "")
	}
	if file := v.o.Load.File; file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(v.o.Load.Dir, file)
		}
		v.configFile(file, " (--config)")
	}
	project := filepath.Join(agent.Root(v.app.Dir, v.app.Getenv("HOME")), ".alisio", "config.json")
	if _, err := os.Lstat(project); err == nil {
		v.add("configuration", agent.Note, "look at it before you trust it", "%s is a part of the repository: it counts only where the project is trusted", project)
	}
}

func (v *visit) configFile(path, how string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && how == "":
		v.add("configuration", agent.Good, "", "%s is not there: the defaults hold", path)
	case err != nil:
		return // told by what could not be read
	case exposed(info, 0o022):
		v.add("configuration", agent.Problem, "chmod go-w "+quoted(path), "others than you may change %s (mode %04o)", path, info.Mode().Perm())
	case !slices.ContainsFunc(v.misread, func(err error) bool { return strings.Contains(err.Error(), strconv.Quote(path)) }):
		v.add("configuration", agent.Good, "", "%s%s", path, how)
	}
}

// exposed reports whether a mode gives others than the owner any of some bits.
// Windows has other means, which its mode does not show.
func exposed(info fs.FileInfo, bits fs.FileMode) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&bits != 0
}

// quoted writes a path for a POSIX shell.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

func (v *visit) directories() {
	dirs := v.app.Dirs
	v.directory("configuration directory", dirs.Config, "ALISIO_CONFIG_HOME", agent.Note)
	v.directory("state directory", dirs.State, "ALISIO_STATE_HOME", agent.Problem)
	v.directory("cache directory", dirs.Cache, "ALISIO_CACHE_HOME", agent.Note)
	v.space(dirs.State)
	v.trusted(dirs.State)
}

// trusted tells of a list of accepted projects that can not be read: runs go on
// without, and a project's files then count for nothing.
func (v *visit) trusted(state string) {
	if _, err := trust.New(state).List(); err != nil && directoryAbove(state) == "" {
		v.add("trust", agent.Problem, "mend it, or move it away: each project is then asked about again", "%v", err)
	}
}

// lockable reports whether the directory of locks, in that beside the database,
// can be used: no run begins without a lock. A link in its place is none.
func (v *visit) lockable(home string) bool {
	at, missing := nearest(filepath.Join(home, "locks"))
	look := os.Lstat
	if missing {
		look = os.Stat
	}
	info, err := look(at)
	switch {
	case err == nil && !info.IsDir():
		err = errors.New("it is no directory")
	case err == nil && !missing:
		err = writable(at)
	}
	if err != nil {
		v.add("session database", agent.Problem, "move it away, or make it a directory of yours that can be written in",
			"%s can not be used, and no run begins: %v", at, bare(err))
	}
	return err == nil
}

// directoryAbove returns what stands where a path needs a directory and is none,
// or nothing.
func directoryAbove(path string) string {
	at, missing := nearest(path)
	if info, err := os.Stat(at); missing && (err != nil || !info.IsDir()) {
		return at
	}
	return ""
}

// directory looks at one of the person's directories; worst is how much it
// matters that nothing can be written there.
func (v *visit) directory(name, path, variable string, worst agent.Level) {
	elsewhere := "set " + variable + " to a directory of yours"
	if home := v.app.Getenv("HOME"); path == "" && home != "" && !filepath.IsAbs(home) {
		v.add(name, worst, "set HOME or "+variable+" to an absolute path", "there is no place for it: HOME is %q, which is no absolute path", home)
		return
	}
	if path == "" {
		v.add(name, worst, "set HOME or "+variable, "there is no place for it: neither HOME nor %s is set", variable)
		return
	}
	at, missing := nearest(path)
	info, err := os.Stat(at)
	switch {
	case err != nil:
		v.add(name, worst, elsewhere, "%s can not be looked at: %v", at, bare(err))
		return
	case !info.IsDir():
		v.add(name, worst, "move it away, or "+elsewhere, "%s is no directory", at)
		return
	}
	if err := writable(at); err != nil {
		v.add(name, worst, "make it writable, or "+elsewhere, "nothing can be written in %s: %v", at, bare(err))
		return
	}
	where := path
	kind, _, _ := diskOf(at)
	if kind != "" {
		where += " (" + kind + ")"
	}
	switch {
	case missing:
		v.add(name, agent.Good, "", "%s is not there yet: it is made when it is needed", where)
	case exposed(info, 0o022):
		v.add(name, agent.Problem, "chmod 700 "+quoted(path), "others than you may write in %s (mode %04o)", where, info.Mode().Perm())
	case exposed(info, 0o077):
		v.add(name, agent.Note, "chmod 700 "+quoted(path), "others than you may look into %s (mode %04o)", where, info.Mode().Perm())
	case worst == agent.Problem && remote(kind):
		v.add(name, agent.Note, "keep it on a local disk: "+elsewhere, "%s is on a network file system, where the session database is slower", where)
	default:
		v.add(name, agent.Good, "", "%s", where)
	}
}

// nearest is the path itself, or the lowest directory above it that is there.
func nearest(path string) (at string, missing bool) {
	for at = path; ; missing = true {
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			return at, missing
		}
		at = filepath.Dir(at)
	}
}

// writable makes a file and removes it: modes alone do not tell of read-only
// disks, quotas and other rules.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".alisio-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// bare takes the path off a file error.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// remote reports whether a file system is that of a network.
func remote(kind string) bool {
	for _, name := range []string{"nfs", "smb", "cifs", "9p", "afs", "afpfs", "ceph", "lustre", "gfs2", "ocfs2", "webdav", "fuse.sshfs", "fuse.rclone"} {
		if strings.HasPrefix(kind, name) {
			return true
		}
	}
	return false
}

// The free space, in bytes, below which the person is told.
const (
	scarceSpace = 1 << 30
	noSpace     = 100 << 20
)

func (v *visit) space(dir string) {
	if dir == "" {
		return
	}
	at, _ := nearest(dir)
	_, free, ok := diskOf(at)
	if info, err := os.Stat(at); !ok || err != nil || !info.IsDir() {
		return
	}
	level, remedy := room(free)
	v.add("free space", level, remedy, "%s in %s", decimal(free), at)
}

func room(free uint64) (agent.Level, string) {
	const remedy = "make room there, or set ALISIO_STATE_HOME"
	switch {
	case free < noSpace:
		return agent.Problem, remedy
	case free < scarceSpace:
		return agent.Note, remedy
	}
	return agent.Good, ""
}

func decimal(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d bytes", n)
}

func (v *visit) workspace(ctx context.Context) {
	home := v.app.Getenv("HOME")
	root := agent.Root(v.app.Dir, home)
	_, err := os.Lstat(filepath.Join(root, ".git"))
	switch {
	case agent.HoldsHome(root, home):
		v.add("workspace", agent.Note, "start in a project, or use --cwd", "%s holds your whole home directory: tools can read all of it", root)
	case err != nil:
		v.add("workspace", agent.Note, "git init makes it one", "%s is no git repository: changes can not be compared with what was there", root)
	default:
		v.add("workspace", agent.Good, "", "%s", root)
	}
	top := filepath.VolumeName(root) + string(filepath.Separator) // no repository's own settings
	e, err := proc.Run(ctx, proc.Command{Argv: []string{"git", "--version"}, Dir: top, Timeout: gitPatience}, nil)
	version := strings.TrimPrefix(strings.TrimSpace(e.Output), "git version ")
	switch {
	case err != nil:
		v.add("git", agent.Note, "install git: git_status and git_diff need it", "git can not be run: %v", err)
	case e.Code != 0 || e.TimedOut:
		v.add("git", agent.Note, "see what git --version prints", "git does not work: it ended with %d", e.Code)
	default:
		v.add("git", agent.Good, "", "version %s", version)
	}
}

const gitPatience = 5 * time.Second
