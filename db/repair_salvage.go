package db

import (
	"context"
	"errors"
	"os"
	"time"

	"alisio/db/pages"
	"alisio/db/place"
	"alisio/db/salvage"
	"alisio/db/schema"
)

// salvagePragmas: a damaged schema is read as far as it goes, which defensive
// mode would not allow; its functions have no effects.
const salvagePragmas = "_txlock=immediate&_pragma=busy_timeout(200)&_pragma=trusted_schema(0)&_pragma=writable_schema(1)" +
	"&_pragma=cell_size_check(1)&_pragma=foreign_keys(0)&_pragma=locking_mode(EXCLUSIVE)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)"

// salvagePatience bounds what recovering may take, in the time for a small database
// and that for each byte: a hostile one could keep SQLite at work without end.
const salvagePatience, salvageByte = 10 * time.Minute, 4 * time.Microsecond

// salvage copies what the damaged database at from, of which work is a copy, gives
// into a new one at to, and returns how many sessions it made up. SQLite reads the
// copy; pages are read where they are, since SQLite may have changed the copy, or
// dropped its log.
func (p *repair) salvage(ctx context.Context, from, work, to string) (made int, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, salvagePatience+time.Duration(max(place.Size(work), 0))*salvageByte,
		errors.New("it takes too long: is its schema what it seems?"))
	defer stop()
	if err := place.Create(to); err != nil {
		return 0, err
	}
	triggers, err := p.copyRows(ctx, from, work, to)
	if err == nil {
		made, err = p.complete(ctx, to)
	}
	if err == nil {
		err = p.addTriggers(ctx, to, triggers)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return made, err
}

// copyRows copies schema and rows into an empty file.
func (p *repair) copyRows(ctx context.Context, from, work, to string) (triggers []string, err error) {
	data := p.File
	if place.Size(from+"-journal") > 0 {
		from = work // rolled back in the copy alone
	}
	if from != p.Path {
		data = nil
	}
	disk, err := pages.OpenDisk(from, data)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	if disk.Refused != nil {
		p.r.Add(Note, "", "pages that nothing leads to were not looked at: %v", disk.Refused)
	} else if err := disk.Pages.Wipe(work); err != nil {
		return nil, err
	}
	pool, conn, err := openRaw(ctx, writable(to, salvagePragmas))
	if err != nil {
		return nil, err
	}
	triggers, err = salvage.Copy(ctx, salvage.Options{
		Conn: conn, From: work, Size: max(place.Size(work), 0) + max(place.Size(work+"-wal"), 0) + 1, Pages: disk.Pages,
		Schema: schema.New(), Stray: "recovered-" + p.Stamp, Tell: p.tell,
	})
	switch closed := errors.Join(conn.Close(), pool.Close()); {
	case errors.Is(err, salvage.ErrForeign):
		return nil, &ForeignError{Path: p.Path, Why: err.Error()}
	case errors.Is(err, salvage.ErrNothing):
		return nil, &DamagedError{Path: p.Path, Err: err}
	default:
		return triggers, errors.Join(err, closed)
	}
}

func (p *repair) tell(problem bool, text string) {
	if problem {
		p.r.Add(Problem, "", "%s", text)
	} else {
		p.r.Add(Good, "", "%s", text)
	}
}

// complete brings a recovered database up to date and makes the sessions that its
// rows belong to, while nobody else has it. The copy that is set aside is its
// backup.
func (p *repair) complete(ctx context.Context, path string) (made int, err error) {
	d, err := Open(ctx, Options{Path: path, Home: p.o.Home})
	if err != nil {
		return 0, err
	}
	made, err = makeSessions(ctx, d)
	if err := errors.Join(err, d.Close()); err != nil {
		return 0, err
	}
	for v := range int64(schema.Shared) {
		_ = os.Remove(oldBackup(path, v))
	}
	return made, nil
}

// addTriggers makes the triggers of the damaged database, which would have worked
// on all that was copied, and leaves the file without a log.
func (p *repair) addTriggers(ctx context.Context, path string, triggers []string) error {
	pool, conn, err := openRaw(ctx, writable(path, commonPragmas))
	if err != nil {
		return err
	}
	for _, text := range triggers {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			p.r.Add(Problem, "", "a trigger can not be made again: %v", err)
		}
	}
	_, err = conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if err := errors.Join(err, conn.Close(), pool.Close()); err != nil {
		return err
	}
	if place.Size(path+"-wal") > 0 || place.Size(path+"-journal") > 0 {
		return errors.New("its log is still there")
	}
	return nil
}
