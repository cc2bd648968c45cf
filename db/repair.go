package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"alisio/db/hold"
	"alisio/db/lock"
	"alisio/db/pages"
	"alisio/db/place"
	"alisio/db/report"
	"alisio/db/schema"
	"alisio/db/swap"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// backupsKept is how many of repair's own backups stay.
	backupsKept = 3
	// exclusivePragmas: the connection shuts out all others as long as it is open.
	exclusivePragmas = commonPragmas + "&_pragma=locking_mode(EXCLUSIVE)"
)

// InUseError tells that other processes have the database open.
type InUseError = hold.InUseError

// Repair tidies a sound database up, behind a backup, and recovers a damaged one.
// What is damaged is set aside under another name, never deleted, and overwritten
// only when that copy is on the disk. *InUseError while others have it open; one
// that was never this program's is refused as it is.
func Repair(ctx context.Context, o Options, now time.Time) (Report, error) {
	return repairBy(ctx, o, now, nil)
}

// repairBy is Repair, with a function that is called behind each step that a kill
// may follow.
func repairBy(ctx context.Context, o Options, now time.Time, step func(string)) (r Report, err error) {
	if !filepath.IsAbs(o.Path) || !filepath.IsAbs(o.Home) {
		return r, fmt.Errorf("repair db: path %q and home %q must be absolute", o.Path, o.Home)
	}
	if o.ReadOnly {
		return r, fmt.Errorf("repair db: %w", ErrReadOnly)
	}
	o.Path = place.Resolved(o.Path)
	p := repair{o: o, now: now, r: &r, Swap: swap.Swap{Path: o.Path, Stamp: now.UTC().Format(swap.StampLayout), Step: step}}
	if err := p.run(ctx); err != nil {
		return r, fmt.Errorf("repair db: %w", explain(o.Path, err))
	}
	return r, nil
}

// repair is one repair at work.
type repair struct {
	swap.Swap
	o   Options
	now time.Time
	r   *Report
}

func (p *repair) run(ctx context.Context) error {
	if there, err := p.bringBack(ctx); err != nil || !there {
		return err
	}
	if err := place.Regular(p.Path); err != nil && !swap.Abandoned(p.Path) {
		return err
	}
	f, err := hold.File(p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	p.File = f
	done, from, err := p.finish()
	if err != nil || done {
		return err
	}
	for _, name := range swap.Left(p.Path) {
		if err := os.Remove(name); err != nil {
			return err
		}
		p.r.Add(Note, "", "what an earlier repair left was removed: %s", name)
	}
	return p.judge(ctx, from)
}

// bringBack makes sure that there is a file, if there is anything to repair: an
// older repair, or a person, may have moved it away. One process does so at a time.
func (p *repair) bringBack(ctx context.Context) (there bool, err error) {
	if _, err := os.Lstat(p.Path); !errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if swap.Lost(p.Path) == nil {
		p.r.Add(Note, "", "there is no database %s yet", p.Path)
		return false, nil
	}
	l, err := lock.Acquire(ctx, filepath.Join(p.o.Home, "locks"), "restore "+p.Path, true)
	if held := (&lock.HeldError{}); errors.As(err, &held) {
		return false, &InUseError{Path: p.Path, PID: held.PID}
	} else if err != nil {
		return false, err
	}
	defer l.Discard()
	if _, err := os.Lstat(p.Path); !errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	from, others, err := swap.Restore(p.Path, p.Stamp)
	if len(others) > 0 {
		p.r.Add(Note, "", "these lie beside it and were not used: %s", strings.Join(others, ", "))
	}
	switch {
	case err != nil:
		return false, err
	case from == "":
		return true, place.Create(p.Path) // its log alone is left
	}
	p.r.Add(Problem, "", "the database was missing; it was made again from %s", from)
	return true, nil
}

// finish ends what a repair began that was cut short. Where it can not, the copy
// that was set aside is what is to be repaired; where somebody has written since,
// what lies here.
func (p *repair) finish() (done bool, from string, err error) {
	m, ok := swap.ReadMark(p.File, p.Path)
	if !ok {
		return false, p.Path, nil
	}
	if same, err := p.LogsAre(m.Aside); err != nil || !same {
		return false, p.Path, err
	}
	done, err = p.Finish(m)
	if err != nil {
		return false, "", fmt.Errorf("finish a repair that was cut short: %w", err)
	}
	if done {
		p.r.Add(Problem, "", "an earlier repair was cut short; what there was before is set aside: %s", m.Aside)
		p.r.Add(Good, "", "a new database is in its place: %s", p.Path)
		return true, "", os.Remove(m.Recovered)
	}
	if place.Size(m.Aside) < 0 {
		return false, p.Path, nil
	}
	return false, m.Aside, nil
}

// judge looks at a copy, since SQLite itself may change a file that it opens.
func (p *repair) judge(ctx context.Context, from string) error {
	work := p.Checked()
	defer swap.Remove(work)
	if err := p.CopyAll(from, work); err != nil {
		return err
	}
	lost, damaged := pages.LostCommits(from)
	mended, err := pages.Mend(work)
	if err != nil {
		return err
	}
	sound := false
	if !mended && !swap.Abandoned(from) {
		if sound, err = isSound(ctx, work, p.Path); err != nil {
			return err
		}
	}
	if damaged {
		p.r.Add(Problem, "", "the log is damaged, and %s in it can not be read", report.Counted(lost, "commit", "commits"))
	}
	if !sound || from != p.Path {
		return p.recover(ctx, from, work)
	}
	swap.Remove(work)
	if damaged {
		aside, err := p.Aside()
		if err != nil {
			return fmt.Errorf("set aside: %w", err)
		}
		p.r.Add(Problem, "", "the log was set aside as it was, with the database: %s", aside)
	}
	// From here on SQLite keeps the others out; it would wait for this lock too.
	if err := p.File.Close(); err != nil {
		return err
	}
	return p.tidy(ctx)
}

// isSound reports whether SQLite finds nothing wrong with a copy of the database
// that is called name. Errors other than damage are returned; the database of
// another program is one.
func isSound(ctx context.Context, path, name string) (bool, error) {
	pool, conn, err := openRaw(ctx, writable(path, exclusivePragmas))
	var verdict string
	if err == nil {
		err = conn.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict)
		if there, failed := schema.Columns(conn); verdict == "ok" {
			err = cmp.Or(failed, schema.Foreign(name, there))
		}
		err = errors.Join(err, conn.Close(), pool.Close())
	}
	var damaged *DamagedError
	// Nothing but its content keeps SQLite from reading and writing a copy.
	code := resultCode(err) & 0xff
	if err = explain(path, err); errors.As(err, &damaged) || code == sqlite3.SQLITE_ERROR || code == sqlite3.SQLITE_READONLY {
		return false, nil
	}
	return verdict == "ok", err
}

// tidy is the repair of a database that needs none.
func (p *repair) tidy(ctx context.Context) error {
	before := place.Size(p.Path) + max(place.Size(p.Path+"-wal"), 0)
	pool, conn, err := openRaw(ctx, writable(p.Path, exclusivePragmas))
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
	p.r.Add(Good, "", "%s and %s removed, %s", report.Counted(c.Blobs, "blob", "blobs"), report.Counted(c.Files, "stray file", "stray files"), report.Decimal(c.Bytes))
	p.r.Add(Good, "", "the database is whole: %s before, %s now", report.Decimal(before), report.Decimal(place.Size(p.Path)))
	return nil
}

// compact backs up, and then rewrites the file without its gaps.
func (p *repair) compact(ctx context.Context, conn *sql.Conn) error {
	backup := swap.Free(fmt.Sprintf("%s.%s.backup", p.Path, p.Stamp))
	if err := place.Create(backup); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?`, backup); err != nil {
		err = errors.Join(err, os.Remove(backup))
		if patience(err) > 0 {
			return errors.Join(&InUseError{Path: p.Path}, err)
		}
		return fmt.Errorf("back up: %w", err)
	}
	p.r.Add(Good, "", "a backup was made: %s", backup)
	for _, name := range swap.DropBackups(p.Path, backupsKept) {
		p.r.Add(Note, "", "an older backup was removed: %s", name)
	}
	for _, text := range []string{`VACUUM`, `PRAGMA optimize`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// recover makes a new database of what lies at from, of which work is a copy, and
// puts it in the place of the damaged one. Until it is whole nothing is changed.
func (p *repair) recover(ctx context.Context, from, work string) error {
	fresh := swap.Fresh(work)
	defer swap.Remove(fresh)
	made, err := p.salvage(ctx, from, work, fresh)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	swap.Remove(work)
	if fresh, err = p.Settle(fresh); err != nil {
		return err
	}
	if from == p.Path {
		if from, err = p.Aside(); err != nil {
			return errors.Join(fmt.Errorf("set aside: %w", err), os.Remove(fresh))
		}
	}
	p.r.Add(Problem, "", "the database was damaged; it was set aside as it was: %s", from)
	if err := p.Put(fresh, from); err != nil {
		return fmt.Errorf("put the recovered database %q in its place: %w", fresh, err)
	}
	p.r.Add(Good, "", "a new database is in its place: %s", p.Path)
	if made > 0 {
		p.r.Add(Note, "", "%s lost and what belongs there was not: made up from it, with the first prompt as title", report.Counted(made, "session was", "sessions were"))
	}
	return os.Remove(fresh)
}
