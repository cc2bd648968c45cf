package salvage

import "testing"

func TestShape(t *testing.T) {
	text, null, number, real, bin := uint64(15), uint64(0), uint64(1), uint64(7), uint64(16)
	tab := &table{name: "messages", columns: []column{
		{name: "seq", key: 1, alias: true, kind: integers}, {name: "session", kind: texts}, {name: "body", kind: texts, must: true},
		{name: "compacted", kind: integers, must: true}, {name: "copy_of", kind: integers},
	}}
	for _, tt := range []struct {
		types []uint64
		sure  bool
		want  bool
	}{
		{[]uint64{null, text, text, number, null}, false, true},
		{[]uint64{null, null, text, 8, 9}, false, true},
		{[]uint64{null, text, text}, false, true},
		{[]uint64{null, text}, false, false},
		{[]uint64{null, text}, true, true},
		{[]uint64{number, text, text}, false, false},
		{[]uint64{null, text, null}, false, false},
		{[]uint64{null, text, bin}, false, false},
		{[]uint64{null, text, text, real}, false, false},
		{[]uint64{null, text, text, number, null, null}, true, false},
		{nil, true, false},
	} {
		if got := tab.fits(tt.types, tt.sure); got != tt.want {
			t.Errorf("fits(%v, %v) = %v", tt.types, tt.sure, got)
		}
	}
}

// Texts of the schema that would do more than make what they name are not carried out.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		kind, name, sql string
		want            bool
	}{
		{"table", "t", "CREATE TABLE t (a)", true},
		{"table", "t", "CREATE TABLE t (a); DROP TABLE u", false},
		{"table", "t", `CREATE TABLE "a ""t""" (a)`, true},
		{"table", "t", "CREATE TABLE t AS SELECT 1", false},
		{"table", "t", "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n", false},
		{"table", "t", "CREATE TABLE main.t (a)", false},
		{"table", "sqlite_sequence", "CREATE TABLE sqlite_sequence (name, seq)", false},
		{"table", "t", "CREATE VIRTUAL TABLE t USING fts5 (a)", false},
		{"table", "t", "ATTACH 'x' AS y", false},
		{"index", "i", "CREATE UNIQUE INDEX i ON t (a)", true},
		{"trigger", "t", "CREATE TRIGGER t AFTER INSERT ON t BEGIN DELETE FROM t; END", true},
		{"trigger", "t", "CREATE TRIGGER t AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END;", true},
		{"trigger", "t", "CREATE TRIGGER t AFTER INSERT ON t BEGIN DELETE FROM t; END; ATTACH 'x' AS y", false},
		{"trigger", "t", "CREATE TRIGGER t AFTER INSERT ON t BEGIN DELETE FROM t; ATTACH 'x' AS y; END", false},
		{"view", "t", "CREATE TRIGGER t AFTER INSERT ON t BEGIN DELETE FROM t; END", false},
	} {
		if got := (object{kind: tt.kind, name: tt.name, sql: tt.sql}).plain(); got != tt.want {
			t.Errorf("%s: plain = %v", tt.sql, got)
		}
	}
}
