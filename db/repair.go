package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"alisio/db/hold"
)

const (
	// stampLayout is how files that repair makes are told apart, in UTC.
	stampLayout = "20060102-150405"
	// backupsKept is how many of repair's own backups stay.
	backupsKept = 3
	// exclusivePragmas: the connection shuts out all others as long as it is open.
	exclusivePragmas = commonPragmas + "&_pragma=locking_mode(EXCLUSIVE)"
)

// InUseError tells that other processes have the database open.
type InUseError = hold.InUseError

// Repair tidies a sound database up, behind a backup, and recovers a damaged one
// into a new file. What is damaged is set aside under another name, never deleted
// or overwritten. *InUseError while others have it open.
func Repair(ctx context.Context, o Options, now time.Time) (Report, error) {
	var r Report
	if !filepath.IsAbs(o.Path) || !filepath.IsAbs(o.Home) {
		return r, fmt.Errorf("repair db: path %q and home %q must be absolute", o.Path, o.Home)
	}
	if o.ReadOnly {
		return r, fmt.Errorf("repair db: %w", ErrReadOnly)
	}
	if _, err := os.Lstat(o.Path); errors.Is(err, fs.ErrNotExist) {
		r.add(Note, "", "there is no database %s yet", o.Path)
		return r, nil
	}
	if err := regular(o.Path); err != nil {
		return r, fmt.Errorf("repair db: %w", err)
	}
	p := repair{o: o, stamp: now.UTC().Format(stampLayout), now: now, r: &r}
	if err := p.run(ctx); err != nil {
		return r, fmt.Errorf("repair db: %w", explain(o.Path, err))
	}
	return r, nil
}

// repair is one repair at work.
type repair struct {
	o     Options
	stamp string
	now   time.Time
	r     *Report
}

// run judges a copy, since SQLite itself may change a file that it opens.
func (p *repair) run(ctx context.Context) error {
	release, err := hold.File(p.o.Path)
	if err != nil {
		return err
	}
	defer func() { release() }()
	work := p.free(p.o.Path + ".checked-" + p.stamp)
	defer removeAll(work)
	for _, end := range []string{"", "-wal", "-journal"} {
		if err := copyFile(p.o.Path+end, work+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	sound, err := isSound(ctx, work, p.o.Path)
	if err != nil {
		return err
	}
	if !sound {
		return p.recover(ctx, work)
	}
	// From here on SQLite keeps the others out; it would wait for this lock too.
	release()
	release = func() {}
	removeAll(work)
	return p.tidy(ctx)
}

// free returns a name that no file has, nor has with any of the endings.
func (p *repair) free(path string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(sidecars(), func(end string) bool {
			_, err := os.Lstat(name + end)
			return !errors.Is(err, fs.ErrNotExist)
		})
	}
	name := path
	for i := 2; taken(name) && i < 10_000; i++ {
		name = fmt.Sprintf("%s-%d", path, i)
	}
	return name
}

func removeAll(path string) {
	for _, end := range sidecars() {
		_ = os.Remove(path + end)
	}
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := create(to); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// isSound reports whether SQLite finds nothing wrong with a copy of the database
// that is called name. Errors other than damage are returned; the database of
// another program is one.
func isSound(ctx context.Context, path, name string) (bool, error) {
	pool, conn, err := openRaw(ctx, writable(path, exclusivePragmas))
	var verdict string
	if err == nil {
		err = conn.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict)
		if there, failed := column[text](conn, shape); verdict == "ok" {
			err = cmp.Or(failed, checkFirst(name, there))
		}
		err = errors.Join(err, conn.Close(), pool.Close())
	}
	var damaged *DamagedError
	if err = explain(path, err); errors.As(err, &damaged) {
		return false, nil
	}
	return verdict == "ok", err
}

// tidy is the repair of a database that needs none.
func (p *repair) tidy(ctx context.Context) error {
	before := size(p.o.Path) + max(size(p.o.Path+"-wal"), 0)
	pool, conn, err := openRaw(ctx, writable(p.o.Path, exclusivePragmas))
	if err != nil {
		return err
	}
	if err := errors.Join(p.compact(ctx, conn), conn.Close(), pool.Close()); err != nil {
		return err
	}
	d, err := Open(ctx, p.o)
	if err != nil {
		return err
	}
	c, err := d.CollectBlobs(ctx, p.now)
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	p.r.add(Good, "", "%s and %s removed, %s", counted(c.Blobs, "blob", "blobs"), counted(c.Files, "stray file", "stray files"), decimal(c.Bytes))
	p.r.add(Good, "", "the database is whole: %s before, %s now", decimal(before), decimal(size(p.o.Path)))
	return nil
}

// compact backs up, and then rewrites the file without its gaps.
func (p *repair) compact(ctx context.Context, conn *sql.Conn) error {
	backup := p.free(fmt.Sprintf("%s.%s.backup", p.o.Path, p.stamp))
	if err := create(backup); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?`, backup); err != nil {
		err = errors.Join(err, os.Remove(backup))
		if patience(err) > 0 {
			return errors.Join(&InUseError{Path: p.o.Path}, err)
		}
		return fmt.Errorf("back up: %w", err)
	}
	p.r.add(Good, "", "a backup was made: %s", backup)
	p.dropBackups()
	for _, text := range []string{`VACUUM`, `PRAGMA optimize`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// dropBackups removes repair's own backups but for the newest.
func (p *repair) dropBackups() {
	names, err := filepath.Glob(globQuote(p.o.Path) + ".*.backup")
	if err != nil {
		return
	}
	own := regexp.MustCompile(`^\.\d{8}-\d{6}\.backup$`)
	names = slices.DeleteFunc(names, func(n string) bool {
		info, err := os.Lstat(n)
		return err != nil || !info.Mode().IsRegular() || len(n) < len(p.o.Path) || !own.MatchString(n[len(p.o.Path):])
	})
	slices.Sort(names)
	for len(names) > backupsKept {
		if os.Remove(names[0]) == nil {
			p.r.add(Note, "", "an older backup was removed: %s", names[0])
		}
		names = names[1:]
	}
}

// globQuote keeps a path's own characters from meaning anything in a pattern.
func globQuote(path string) string {
	return regexp.MustCompile(`[*?\[]`).ReplaceAllString(path, "[$0]")
}

// recover makes a new database of what the copy at work still gives, and puts it
// in the place of the damaged one. Until then nothing is moved.
func (p *repair) recover(ctx context.Context, work string) error {
	fresh := p.free(p.o.Path + ".recovered-" + p.stamp)
	if err := create(fresh); err != nil {
		return err
	}
	if err := p.salvage(ctx, work, fresh); err != nil {
		removeAll(fresh)
		return fmt.Errorf("recover: %w", err)
	}
	aside := p.free(p.o.Path + ".damaged-" + p.stamp)
	for _, end := range sidecars() {
		if err := os.Rename(p.o.Path+end, aside+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("set aside: %w", err)
		}
	}
	p.r.add(Problem, "", "the database was damaged; it was set aside as it was: %s", aside)
	if err := os.Rename(fresh, p.o.Path); err != nil {
		return fmt.Errorf("put the recovered database %q in its place: %w", fresh, err)
	}
	d, err := Open(ctx, p.o)
	if err != nil {
		return err
	}
	p.r.add(Good, "", "a new database is in its place: %s", p.o.Path)
	made, err := makeSessions(ctx, d)
	if made > 0 {
		p.r.add(Note, "", "%s lost and what belongs there was not: made up from it, with the first prompt as title", counted(made, "session was", "sessions were"))
	}
	return errors.Join(err, d.Close())
}
