package db

import (
	"context"
	"errors"
	"fmt"
	"os"

	"alisio/db/pages"
	"alisio/db/salvage"
)

// salvagePragmas: a damaged schema is read as far as it goes, which defensive
// mode would not allow; its functions have no effects.
const salvagePragmas = "_txlock=immediate&_pragma=busy_timeout(200)&_pragma=trusted_schema(0)&_pragma=writable_schema(1)" +
	"&_pragma=cell_size_check(1)&_pragma=foreign_keys(0)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)"

// salvage copies what the damaged database gives into the empty one at to. SQLite
// reads the copy at work; its pages are read where they are, since SQLite may
// have changed the copy, or dropped its log.
func (p *repair) salvage(ctx context.Context, work, to string) error {
	damaged := p.o.Path
	if size(damaged+"-journal") > 0 {
		// Rolled back in the copy alone.
		damaged = work
	}
	files, err := openPages(damaged)
	if err != nil {
		return err
	}
	defer files.close()
	if files.refused != nil {
		p.r.add(Note, "", "pages that nothing leads to were not looked at: %v", files.refused)
	}
	if err := wipeFree(work, files.pages); err != nil {
		return err
	}
	pool, conn, err := openRaw(ctx, writable(to, salvagePragmas))
	if err != nil {
		return err
	}
	err = salvage.Copy(ctx, salvage.Options{
		Conn: conn, From: work, Size: max(size(work), 1), Pages: files.pages,
		Schema: newSchema(), Stray: "recovered-" + p.stamp,
		Tell: func(problem bool, text string) {
			if problem {
				p.r.add(Problem, "", "%s", text)
			} else {
				p.r.add(Good, "", "%s", text)
			}
		},
	})
	if err := errors.Join(err, conn.Close(), pool.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// wipeFree clears the pages of the freelist in the copy: a broken tree may lead
// SQLite to them, and to what was deleted.
func wipeFree(work string, f *pages.File) (err error) {
	if f == nil {
		return nil
	}
	w, err := os.OpenFile(work, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	length, blank := size(work), make([]byte, f.Size())
	for n := range f.Free() {
		if at := int64(n-1) * int64(len(blank)); at+int64(len(blank)) <= length {
			if _, err := w.WriteAt(blank, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// newSchema is what makes a new database of today.
func newSchema() []string {
	out := statements(schema)
	for _, s := range steps {
		out = append(out, fmt.Sprintf(`INSERT OR IGNORE INTO main.schema_migrations (version) VALUES (%d)`, s.version))
	}
	return out
}

// pageFiles are a damaged database and its log, open.
type pageFiles struct {
	data, log *os.File
	// pages is nil if they can not be read by themselves; refused says why.
	pages   *pages.File
	refused error
}

func openPages(path string) (f pageFiles, err error) {
	if f.data, err = os.Open(path); err != nil {
		return f, err
	}
	info, err := f.data.Stat()
	if err != nil {
		f.close()
		return f, err
	}
	if f.log, err = os.Open(path + "-wal"); err != nil {
		f.pages, f.refused = pages.Open(f.data, info.Size(), nil)
	} else {
		f.pages, f.refused = pages.Open(f.data, info.Size(), f.log)
	}
	return f, nil
}

func (f *pageFiles) close() {
	_ = f.data.Close()
	if f.log != nil {
		_ = f.log.Close()
	}
}
