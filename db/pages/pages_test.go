package pages_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "alisio/db" // has SQLite
	"alisio/db/pages"
)

// header is how much of page one says what the file is, in bytes.
const header = 100

// made makes a database with the statements and returns its file and its log.
func made(t testing.TB, statements ...string) (data, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.sqlite")
	pool, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := pool.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if log, err = os.ReadFile(path + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data, log
}

func opened(t testing.TB, data, log []byte) *pages.File {
	t.Helper()
	f, err := pages.Open(bytes.NewReader(data), int64(len(data)), bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rows are all rows of so many columns, in text.
func rows(f *pages.File, columns int) (out []string) {
	for leaf := range f.Leaves(func(uint32, uint32) bool { return true }) {
		for _, c := range leaf.Cells {
			values, err := f.Values(c)
			if err != nil || len(values) != columns {
				continue
			}
			line := fmt.Sprint(c.ID)
			for _, v := range values {
				switch v.Kind {
				case pages.Null:
					line += " null"
				case pages.Int:
					line += fmt.Sprintf(" %d", v.Int)
				case pages.Real:
					line += fmt.Sprintf(" %g", v.Real)
				case pages.Text:
					line += fmt.Sprintf(" %q", v.Bytes)
				case pages.Blob:
					line += fmt.Sprintf(" x%x", v.Bytes)
				}
			}
			out = append(out, line)
		}
	}
	return out
}

func TestValues(t *testing.T) {
	data, log := made(t, `CREATE TABLE t (a, b)`, `INSERT INTO t VALUES (NULL, 0), (1, -1), (127, 128), (-32768, 8388607), (-2147483648, 140737488355327),
		(9223372036854775807, -9223372036854775808), (2.5, 'ü'), ('', x''), (x'00ff', 'b')`, `INSERT INTO t (rowid, a, b) VALUES (-5, 1, 2), (9223372036854775807, 3, 4)`)
	want := []string{"-5 1 2", "1 null 0", "2 1 -1", "3 127 128", "4 -32768 8388607", "5 -2147483648 140737488355327",
		"6 9223372036854775807 -9223372036854775808", `7 2.5 "ü"`, `8 "" x`, `9 x00ff "b"`, "9223372036854775807 3 4"}
	if got := rows(opened(t, data, log), 2); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// series is a statement that fills t with rows of growing length.
const series = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
	INSERT INTO t SELECT i, printf('%d:%.*c', i, i * 13 % 9001, 'x') FROM n`

func wantSeries() (out []string) {
	for i := 1; i <= 800; i++ {
		out = append(out, fmt.Sprintf("%d %d %q", i, i, fmt.Sprintf("%d:%s", i, strings.Repeat("x", max(i*13%9001, 1)))))
	}
	return out
}

// Each size of a page, with overflow, trees of several floors and bytes that are
// not SQLite's; and then without the page that says so.
func TestPageSizes(t *testing.T) {
	for size := 512; size <= 65536; size *= 2 {
		data, log := made(t, fmt.Sprintf(`PRAGMA page_size = %d`, size), `CREATE TABLE t (a, b)`, series)
		for _, lost := range []bool{false, true} {
			if lost {
				clear(data[:header])
			}
			f := opened(t, data, log)
			got, want := rows(f, 2), wantSeries()
			slices.Sort(got)
			slices.Sort(want)
			if f.Size() != size || !slices.Equal(got, want) {
				t.Errorf("size %d, lost %v: taken for %d, %d rows of %d", size, lost, f.Size(), len(got), len(want))
			}
		}
	}
}

func TestRootsAndKeyedTables(t *testing.T) {
	data, log := made(t, `CREATE TABLE t (a, b)`, series, `CREATE TABLE k (a TEXT, b INT, c TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID`,
		`INSERT INTO k SELECT 'key', a, b FROM t`)
	f := opened(t, data, log)
	roots, keyed := map[uint32]bool{}, 0
	for leaf := range f.Leaves(func(uint32, uint32) bool { return true }) {
		if leaf.Keyed {
			keyed += len(leaf.Cells)
		} else if leaf.Root != 1 {
			roots[leaf.Root] = true
		}
	}
	if len(roots) != 1 || !roots[2] || keyed != 800 {
		t.Errorf("roots %v, %d keyed rows", roots, keyed)
	}
}

// What was committed counts, what was not, or is torn, does not.
func TestLog(t *testing.T) {
	data, log := made(t, `PRAGMA journal_mode = wal`, `CREATE TABLE t (a, b)`, `PRAGMA wal_checkpoint(TRUNCATE)`,
		`INSERT INTO t VALUES (1, 'old')`, `UPDATE t SET b = 'new'`)
	const logHeader, frame = 32, 24 + 4096
	for _, tt := range []struct {
		name string
		log  func([]byte) []byte
		want string
	}{
		{"whole", func(b []byte) []byte { return b }, `1 1 "new"`},
		{"none", func([]byte) []byte { return nil }, ""},
		{"torn", func(b []byte) []byte { return b[:len(b)-1] }, `1 1 "old"`},
		{"flipped", func(b []byte) []byte { b[len(b)-frame/2] ^= 1; return b }, `1 1 "old"`},
		{"not committed", func(b []byte) []byte { b[len(b)-frame+4] ^= 1; return b }, `1 1 "old"`},
		{"other salt", func(b []byte) []byte { b[16] ^= 1; return b }, ""},
		{"first flipped", func(b []byte) []byte { b[logHeader+100] ^= 1; return b }, ""},
	} {
		got := strings.Join(rows(opened(t, data, tt.log(bytes.Clone(log))), 2), ";")
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What was deleted stays so, with and without the header that leads to the list
// of free pages.
func TestFreePages(t *testing.T) {
	data, log := made(t, `CREATE TABLE t (a, b)`, series, `DELETE FROM t WHERE a > 100`)
	for _, harm := range []func(){
		func() {},
		// The list is gone from the header with its number, and then the header.
		func() { clear(data[32:40]) },
		func() { clear(data[:header]) },
	} {
		harm()
		lost := data[35] == 0
		f := opened(t, data, log)
		if got := rows(f, 2); len(got) != 100 || f.FreeKnown() == lost {
			t.Errorf("lost %v: %d rows, free known %v", lost, len(got), f.FreeKnown())
		}
		n := 0
		for range f.Free() {
			n++
		}
		if n < 100 {
			t.Errorf("%d pages are free", n)
		}
	}
}

// An overflow page belongs to one row.
func TestSharedOverflow(t *testing.T) {
	data, log := made(t, `CREATE TABLE t (a, b)`, `INSERT INTO t VALUES (1, printf('%.9000c', 'x'))`)
	f := opened(t, data, log)
	for leaf := range f.Leaves(func(page, _ uint32) bool { return page == 2 }) {
		if _, err := f.Values(leaf.Cells[0]); err != nil {
			t.Error(err)
		}
		if _, err := f.Values(leaf.Cells[0]); !errors.Is(err, pages.ErrBroken) {
			t.Errorf("the second time: %v", err)
		}
	}
	for _, to := range []uint32{0, 1, 2, 99, 1<<32 - 1} {
		broken := bytes.Clone(data)
		copy(broken[2*4096:], []byte{byte(to >> 24), byte(to >> 16), byte(to >> 8), byte(to)})
		if got := rows(opened(t, broken, log), 2); len(got) != 0 {
			t.Errorf("next page %d: %.60q", to, got)
		}
	}
}

// The texts themselves tell UTF-8 from UTF-16, whatever the header says; a copy's header
// is mended by that.
func TestEncoding(t *testing.T) {
	for name, first := range map[string]string{"UTF-8": `PRAGMA encoding = 'UTF-8'`, "UTF-16": `PRAGMA encoding = 'UTF-16'`} {
		data, _ := made(t, first, `CREATE TABLE t (a, b)`, `INSERT INTO t VALUES ('word', 'größe'), ('漢字', 'ok')`)
		for _, says := range []byte{2, 3} {
			data[59] = says
			if got := opened(t, data, nil).UTF8(); got != (name == "UTF-8") {
				t.Errorf("%s, the header says %d: UTF-8 is %v", name, says, got)
			}
			path := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			mended, err := pages.Mend(path)
			got, _ := os.ReadFile(path)
			if mended != (name == "UTF-8") || err != nil || mended != (got[59] == 1) {
				t.Errorf("%s: mended %v, the header says %d, %v", name, mended, got[59], err)
			}
		}
	}
	for _, head := range []string{"", "x", "SQLite format 3\x00", strings.Repeat("x", 600)} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if mended, err := pages.Mend(path); mended || err != nil {
			t.Errorf("%.20q: mended %v, %v", head, mended, err)
		}
	}
}

func TestNoPages(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("x"), make([]byte, 8192), bytes.Repeat([]byte("a letter\n"), 5000)} {
		if _, err := pages.Open(bytes.NewReader(data), int64(len(data)), nil); !errors.Is(err, pages.ErrNone) {
			t.Errorf("%.10q: %v", data, err)
		}
	}
	if _, err := pages.Open(bytes.NewReader(nil), 1<<50, nil); err == nil || errors.Is(err, pages.ErrNone) {
		t.Errorf("a file of a petabyte: %v", err)
	}
}

// Whatever a file holds, reading it ends, and gives no more than it has.
func FuzzPages(f *testing.F) {
	data, log := made(f, `PRAGMA page_size = 512`, `PRAGMA journal_mode = wal`, `CREATE TABLE t (a, b)`,
		`INSERT INTO t VALUES (1, printf('%.2000c', 'x')), (2, 'y')`, `CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID`,
		`INSERT INTO k SELECT a, b FROM t`, `PRAGMA wal_checkpoint(TRUNCATE)`, `DELETE FROM t WHERE a = 1`, `INSERT INTO t VALUES (3, 2.5)`)
	f.Add(data, log)
	f.Add(data, []byte{})
	f.Fuzz(func(t *testing.T, data, log []byte) {
		file, err := pages.Open(bytes.NewReader(data), int64(len(data)), bytes.NewReader(log))
		if err != nil {
			return
		}
		given := 0
		for leaf := range file.Leaves(func(uint32, uint32) bool { return true }) {
			for _, c := range leaf.Cells {
				values, err := file.Values(c)
				if err != nil {
					continue
				}
				for _, v := range values {
					given += len(v.Bytes)
				}
			}
		}
		// A row has at most a page of its own, and overflow pages that no other has;
		// a page may have the same row several times.
		whole := file.Count() * file.Size()
		if most := whole + whole*file.Size()/2; given > most {
			t.Errorf("%d bytes of %d", given, most)
		}
	})
}

// A file that was cut off has lost pages that its list of free pages names; what it
// has of the list still counts, and of the log every page.
func TestCutOff(t *testing.T) {
	data, _ := made(t, `CREATE TABLE keep (a, b)`, `CREATE TABLE t (a, b)`, series, `INSERT INTO keep SELECT a, b FROM t WHERE a <= 20`, `DELETE FROM t`)
	list := binary.BigEndian.Uint32(data[32:])
	if uint64(list) > 9*uint64(len(data))/10/4096 {
		t.Fatalf("the list is on page %d of %d", list, len(data)/4096)
	}
	f := opened(t, data[:9*len(data)/10], nil)
	if got := rows(f, 2); len(got) > 20 || !f.FreeKnown() {
		t.Errorf("%d rows, free known %v", len(got), f.FreeKnown())
	}

	data, log := made(t, `PRAGMA journal_mode = wal`, `CREATE TABLE t (a, b)`, series, `PRAGMA wal_checkpoint(TRUNCATE)`,
		`INSERT INTO t SELECT a + 1000, b FROM t WHERE a > 780`)
	whole := len(rows(opened(t, data, log), 2))
	if whole != 820 {
		t.Fatalf("%d rows", whole)
	}
	got := rows(opened(t, data[:4*4096], log), 2)
	// The last page that the log changes is full of rows from before.
	if n := len(got); n < 20 {
		t.Errorf("%d rows of 20 in the log", n)
	}
}

// A header that says too few pages, or too many, hides no row.
func TestWrongCount(t *testing.T) {
	const at = 28
	data, log := made(t, `CREATE TABLE t (a, b)`, series)
	for _, n := range []uint32{0, 1, 5, 1 << 20, 1<<32 - 1} {
		binary.BigEndian.PutUint32(data[at:], n)
		if got := len(rows(opened(t, data, log), 2)); got != 800 {
			t.Errorf("count %d: %d rows of 800", n, got)
		}
	}
}

// A log can make no file of pages that nobody has.
func TestLogOfManyPages(t *testing.T) {
	data, log := made(t, `PRAGMA journal_mode = wal`, `CREATE TABLE t (a, b)`, `PRAGMA wal_checkpoint(TRUNCATE)`, `INSERT INTO t VALUES (1, 2)`)
	const logHeader, frame = 32, 24 + 4096
	for _, page := range []uint32{1 << 20, 1<<32 - 1} {
		// The last frame is of that page, and says that there are as many.
		at := len(log) - frame
		binary.BigEndian.PutUint32(log[at:], page)
		binary.BigEndian.PutUint32(log[at+4:], page)
		sum(log, logHeader, frame)
		f, err := pages.Open(bytes.NewReader(data), int64(len(data)), bytes.NewReader(log))
		if (err == nil) != (page == 1<<20) || err == nil && f.Count() != 1<<20 {
			t.Errorf("page %d: %v", page, err)
		}
	}
}

// sum sets the checksums of a log's frames anew ("Checksum Algorithm", fileformat2.html).
func sum(log []byte, head, frame int) {
	var order binary.ByteOrder = binary.LittleEndian
	if log[3]&1 != 0 {
		order = binary.BigEndian
	}
	var a, b uint32
	add := func(data []byte) {
		for ; len(data) >= 8; data = data[8:] {
			a += order.Uint32(data) + b
			b += order.Uint32(data[4:]) + a
		}
	}
	add(log[:24])
	for at := head; at+frame <= len(log); at += frame {
		add(log[at : at+8])
		add(log[at+24 : at+frame])
		binary.BigEndian.PutUint32(log[at+16:], a)
		binary.BigEndian.PutUint32(log[at+20:], b)
	}
}
