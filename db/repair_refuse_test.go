package db

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/db/swap"
)

// foreignStore makes another program's database, closed.
func foreignStore(t *testing.T, statements ...string) Options {
	t.Helper()
	o := Options{Home: t.TempDir()}
	o.Path = filepath.Join(o.Home, "x.sqlite")
	pool := raw(t, o.Path)
	for _, s := range statements {
		run(t, pool, s)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// Another program's database is not replaced because it is damaged, be it in its rows
// or in what says whose it is.
func TestRepairOfAnotherProgramsDamagedDatabase(t *testing.T) {
	t.Parallel()
	const fill = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO %s SELECT i, 'name ' || i, '%s' FROM n`
	songs := []string{
		`CREATE TABLE songs (id INTEGER PRIMARY KEY, name TEXT, text TEXT)`, `CREATE INDEX by_name ON songs (name)`, fmt.Sprintf(fill, "songs", "la"),
	}
	same := []string{
		`CREATE TABLE messages (id INTEGER PRIMARY KEY, name TEXT, text TEXT)`, `CREATE INDEX by_name ON messages (name)`, fmt.Sprintf(fill, "messages", "{}"),
		`CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY)`, `INSERT INTO schema_migrations VALUES (1)`,
	}
	for i, tt := range []struct {
		name       string
		statements []string
		// The page that is lost, and how much of it; zero is the index, one before it
		// the table's.
		page   int64
		length int
		why    string
	}{
		{"songs, the index", songs, 0, 200, "is not this program's"},
		{"songs, the table", songs, -1, 200, "is not this program's"},
		{"songs, the header", songs, 1, 20, "is not this program's"},
		{"songs, the schema", songs, 1, pageSize, "nothing of it can be told to be a session's"},
		{"messages, the index", same, 0, 200, "is not this program's"},
		{"messages, the table", same, -1, 200, "is not this program's"},
		{"messages, the header", same, 1, 20, "is not this program's"},
	} {
		if i%damageStride != 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			o := foreignStore(t, tt.statements...)
			if tt.page <= 0 {
				tt.page += rootOf(t, o, "by_name")
			}
			spoil(t, o, tt.page, tt.length)
			before := must(os.ReadFile(o.Path))(t)
			if _, err := Repair(t.Context(), o, repairTime); err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("got %v, want %q", err, tt.why)
			}
			if !bytes.Equal(must(os.ReadFile(o.Path))(t), before) {
				t.Error("the file was changed")
			}
			if files := must(os.ReadDir(o.Home))(t); len(files) != 1 {
				t.Errorf("beside it lies %v", files)
			}
		})
	}
}

// A file of which nothing can be read stays as it is.
func TestRepairOfNothing(t *testing.T) {
	t.Parallel()
	o := filled(t)
	if err := os.Truncate(o.Path, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	spoil(t, o, 1, pageSize)
	before := must(os.ReadFile(o.Path))(t)
	_, err := Repair(t.Context(), o, repairTime)
	var damaged *DamagedError
	if !errors.As(err, &damaged) || !bytes.Equal(must(os.ReadFile(o.Path))(t), before) || len(swap.Left(o.Path)) > 0 {
		t.Errorf("got %v, left %v", err, swap.Left(o.Path))
	}
}

// logOf makes a database of which many commits are in its log alone, and returns its
// file and that.
func logOf(t *testing.T) (o Options, data, log []byte) {
	t.Helper()
	d := open(t, t.TempDir())
	create1(t, d, "s", `{"n":0}`)
	if err := d.writer.pragma(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		write(t, d, func(x *Tx) error {
			_, err := x.AppendMessage(Message{Session: "s", Body: fmt.Sprintf(`{"n":%d}`, i+1)})
			return err
		})
	}
	o = Options{Home: t.TempDir()}
	o.Path = filepath.Join(o.Home, "x.sqlite")
	data, log = must(os.ReadFile(d.path))(t), must(os.ReadFile(d.path+"-wal"))(t)
	if err := errors.Join(os.WriteFile(o.Path, data, 0o600), os.WriteFile(o.Path+"-wal", log, 0o600), os.Chmod(o.Home, 0o700)); err != nil {
		t.Fatal(err)
	}
	return o, data, log
}

// A log with a damaged frame is set aside before SQLite drops what lies behind it, and
// the check, which tells of it, does not open the database.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	const frame = 24 + pageSize
	flip := func(at int) func([]byte) { return func(log []byte) { log[(at+len(log))%len(log)] ^= 1 } }
	harms := map[string]func(log []byte){
		"content":  flip(32 + 5*frame + 100),
		"checksum": flip(32 + 5*frame + 17),
		"salt":     flip(32 + 5*frame + 9),
		"zeroed":   func(log []byte) { clear(log[32+5*frame : 32+6*frame]) },
		"last":     flip(-1),
		// Of a log without its header nothing is read any more.
		"header, magic": flip(0), "header, version": flip(7), "header, page size": flip(10), "header, salt": flip(16), "header, sum": flip(24),
		"header, zeroed": func(log []byte) { clear(log[:32]) },
		"header, first frame's salt too": func(log []byte) {
			clear(log[:32])
			log[32+9] ^= 1
		},
		"header, all else": func(log []byte) { clear(log) },
	}
	for i, name := range slices.Sorted(maps.Keys(harms)) {
		if i%damageStride != 0 {
			continue
		}
		harm := harms[name]
		o, data, log := logOf(t)
		harm(log)
		if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
		r := must(Check(t.Context(), o))(t)
		if r.Sound() || !strings.Contains(says(r, Problem), "the log "+o.Path+"-wal is damaged") {
			t.Errorf("%s: the check found %+v", name, r.Findings)
		}
		if !bytes.Equal(must(os.ReadFile(o.Path+"-wal"))(t), log) || !bytes.Equal(must(os.ReadFile(o.Path))(t), data) {
			t.Fatalf("%s: the check changed a file", name)
		}
		r = must(Repair(t.Context(), o, repairTime))(t)
		aside := asideOf(t, o)
		if r.Sound() || !strings.Contains(says(r, Problem), aside) || !strings.Contains(says(r, Problem), "the log is damaged") {
			t.Errorf("%s: told %+v", name, r.Findings)
		}
		if !bytes.Equal(must(os.ReadFile(aside+"-wal"))(t), log) || !bytes.Equal(must(os.ReadFile(aside))(t), data) {
			t.Errorf("%s: what was set aside is not what there was", name)
		}
		n := len(everyMessage(t, o, "s"))
		if head := strings.HasPrefix(name, "header"); n > 10 || head != (n == 1) {
			t.Errorf("%s: %d messages are left", name, n)
		}
		lost := fmt.Sprintf("and %d commit", 11-n)
		if name == "header, all else" {
			lost = "and 0 commits"
		}
		if !strings.Contains(says(r, Problem), lost) {
			t.Errorf("%s: told %q, want %q", name, says(r, Problem), lost)
		}
		if r := must(Check(t.Context(), o))(t); !r.Sound() {
			t.Errorf("%s: behind the repair: %+v", name, r.Findings)
		}
	}
}

// What a damaged log held is told too where the database itself is damaged.
func TestDamagedLogOfADamagedDatabase(t *testing.T) {
	t.Parallel()
	o, _, log := logOf(t)
	log[0] ^= 1
	if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	spoil(t, o, rootOf(t, Options{Path: o.Path}, "blob_refs_hash"), 200)
	if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(Repair(t.Context(), o, repairTime))(t)
	if told := says(r, Problem); !strings.Contains(told, "10 commits in it can not be read") || !strings.Contains(told, "the database was damaged") {
		t.Errorf("told %q", told)
	}
	if got := must(os.ReadFile(asideOf(t, o) + "-wal"))(t); !bytes.Equal(got, log) {
		t.Error("the log was not set aside as it was")
	}
}

// A log of a killed process, and that of one at work, are no damage.
func TestWholeLogs(t *testing.T) {
	const frame = 24 + pageSize
	o, _, log := logOf(t)
	for name, log := range map[string][]byte{
		"whole": log, "cut off": log[:len(log)-20], "of a frame": log[:32+frame],
		"with an older one behind": append(slices.Clone(log), bytes.Repeat([]byte{7}, 3*frame)...),
	} {
		if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
		var r Report
		if checkLog(&r, o.Path) {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
	d := must(Open(t.Context(), o))(t)
	defer shut(t, d)
	log[32+5*frame+100] ^= 1
	if err := os.WriteFile(o.Path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	var r Report
	if checkLog(&r, o.Path) {
		t.Errorf("of a database in use: %+v", r.Findings)
	}
}

// One number of the header, for which SQLite refuses the whole database, costs no row.
func TestNumbersOfTheHeader(t *testing.T) {
	t.Parallel()
	first := filled(t)
	data := must(os.ReadFile(first.Path))(t)
	for i, tt := range []struct {
		name string
		at   int
		to   byte
	}{
		{"write version", 18, 3}, {"read version", 19, 3}, {"fraction", 21, 65}, {"schema format", 47, 5}, {"schema format, large", 44, 0xff},
		{"little UTF-16", 59, 2}, {"big UTF-16", 59, 3}, {"no encoding", 58, 1},
	} {
		if i%damageStride != 0 {
			continue
		}
		o := Options{Home: t.TempDir()}
		o.Path = filepath.Join(o.Home, "x.sqlite")
		harmed := bytes.Clone(data)
		harmed[tt.at] = tt.to
		if err := os.WriteFile(o.Path, harmed, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Repair(t.Context(), o, repairTime)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		aside := asideOf(t, o)
		if aside == "" || !bytes.Equal(must(os.ReadFile(aside))(t), harmed) || !strings.Contains(says(r, Good), fmt.Sprintf("messages: all %d", filledRows)) {
			t.Errorf("%s: told %+v", tt.name, r.Findings)
		}
		whole(t, o, sent())
	}
}

// A database that is missing, or empty, while something of it lies beside it is not
// begun anew; a repair makes it again.
func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct {
		name string
		harm func(o Options) error
		want string
		all  bool
	}{
		{"its log is left", func(o Options) error { return os.Remove(o.Path) }, "-wal", false},
		{"it is empty", func(o Options) error { return os.Truncate(o.Path, 0) }, "-wal", false},
		{"it is cut off", func(o Options) error { return os.Truncate(o.Path, 511) }, "-wal", false},
		{"one byte is left", func(o Options) error { return os.Truncate(o.Path, 1) }, "-wal", false},
		{"it was set aside", func(o Options) error {
			then := time.Date(2025, 3, 4, 5, 6, 0, 0, time.UTC)
			return errors.Join(os.Rename(o.Path, o.Path+".damaged-20250304-050606"), os.Chtimes(o.Path+"-wal", then, then))
		}, "-wal", true},
		{"a later one has left its log", func(o Options) error { return os.Rename(o.Path, o.Path+".damaged-20250304-050606") }, "-wal", false},
		{"all of it was set aside", func(o Options) error {
			return errors.Join(os.Rename(o.Path, o.Path+".damaged-20250304-050606"), os.Rename(o.Path+"-wal", o.Path+".damaged-20250304-050606-wal"))
		}, ".damaged-20250304-050606", true},
		{"it is recovered", func(o Options) error {
			return errors.Join(os.Rename(o.Path, o.Path+".recovered-20250304-050606"), os.Remove(o.Path+"-wal"))
		}, ".recovered-20250304-050606", false},
	} {
		if i%damageStride != 0 {
			continue
		}
		o, _, _ := logOf(t)
		if err := tt.harm(o); err != nil {
			t.Fatal(err)
		}
		before := must(os.ReadDir(o.Home))(t)
		for _, readOnly := range []bool{false, true} {
			look := o
			look.ReadOnly = readOnly
			_, err := Open(t.Context(), look)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), o.Path+tt.want) {
				t.Errorf("%s: opened, to look %v: %v", tt.name, readOnly, err)
			}
		}
		r := must(Check(t.Context(), o))(t)
		if r.Sound() || !strings.Contains(says(r, Problem), o.Path+tt.want) {
			t.Errorf("%s: the check found %+v", tt.name, r.Findings)
		}
		if after := must(os.ReadDir(o.Home))(t); len(after) != len(before) {
			t.Errorf("%s: %v was %v", tt.name, after, before)
		}
		must(Repair(t.Context(), o, repairTime))(t)
		got := everyMessage(t, o, "s")
		if tt.all && len(got) != 11 || len(got) == 0 {
			t.Errorf("%s: the messages are %v", tt.name, got)
		}
		if left := swap.Left(o.Path); len(left) > 0 {
			t.Errorf("%s: left %v", tt.name, left)
		}
	}
}

// A copy that can not be put back leaves nothing in the database's place, from which the
// next repair would go on.
func TestRestoreFails(t *testing.T) {
	o, _, _ := logOf(t)
	aside := o.Path + ".damaged-20250304-050606"
	err := errors.Join(os.Rename(o.Path, aside), os.Rename(o.Path+"-wal", aside+"-wal"), os.Mkdir(aside+"-journal", 0o700))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(t.Context(), o, repairTime); err == nil {
		t.Error("a directory was restored")
	}
	for _, end := range swap.Sidecars() {
		if _, err := os.Lstat(o.Path + end); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is there: %v", end, err)
		}
	}
	if err := os.Remove(aside + "-journal"); err != nil {
		t.Fatal(err)
	}
	must(Repair(t.Context(), o, repairTime))(t)
	if got := everyMessage(t, o, "s"); len(got) != 11 {
		t.Errorf("the messages are %v", got)
	}
}

// Repairs that find a database missing at the same time make it again once, with its log.
func TestRepairsOfAMissingDatabase(t *testing.T) {
	t.Parallel()
	for range 5 {
		o, _, _ := logOf(t)
		aside := o.Path + ".damaged-20250304-050606"
		if err := errors.Join(os.Rename(o.Path, aside), os.Rename(o.Path+"-wal", aside+"-wal")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				_, err := Repair(t.Context(), o, repairTime.Add(time.Duration(i)*time.Second))
				var used *InUseError
				if err != nil && !errors.As(err, &used) && patience(err) == 0 {
					t.Error(err)
				}
			})
		}
		all.Wait()
		must(Repair(t.Context(), o, repairTime.Add(time.Minute)))(t)
		if got := everyMessage(t, o, "s"); len(got) != 11 {
			t.Errorf("the messages are %v", got)
		}
	}
}

// A text of a hostile schema that would work without end is not carried out, and does
// not keep the rest from being recovered; a trigger is made, and works on nothing that
// is recovered: the session is made up.
func TestRepairOfAHostileSchema(t *testing.T) {
	t.Parallel()
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)`
	o := filled(t)
	roots := []int64{rootOf(t, o, "messages"), rootOf(t, o, "sessions")}
	pool, conn, err := openRaw(t.Context(), writable(o.Path, salvagePragmas))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`CREATE TABLE trap (i)`,
		`UPDATE sqlite_master SET sql = 'CREATE TABLE trap AS ` + endless + ` SELECT i FROM n' WHERE name = 'trap'`,
		`CREATE TRIGGER snare AFTER INSERT ON sessions BEGIN DELETE FROM messages; END`,
	} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(conn.Close(), pool.Close()); err != nil {
		t.Fatal(err)
	}
	for _, root := range roots {
		spoil(t, o, root, pageSize)
	}
	r := must(Repair(t.Context(), o, repairTime))(t)
	var snares int
	look := raw(t, o.Path)
	err = look.QueryRow(`SELECT count(*) FROM sqlite_master WHERE name = 'snare'`).Scan(&snares)
	if err := errors.Join(err, look.Close()); err != nil || snares != 1 {
		t.Errorf("%d triggers, %v", snares, err)
	}
	if !strings.Contains(says(r, Problem), "table trap can not be made again") {
		t.Errorf("told %+v", r.Findings)
	}
	whole(t, o, sent())
}
