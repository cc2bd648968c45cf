package storage

import (
	"strings"
	"testing"

	"alisio/db/scan"
)

func TestRefuse(t *testing.T) {
	refused := []string{
		"ATTACH '/etc/x' AS y", "attach database 'x' as y", "DETACH y", "VACUUM", "VACUUM INTO '/tmp/x'",
		"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "RELEASE a",
		"/* c */ ATTACH 'x' AS y", "-- c\nATTACH 'x' AS y", "\ufeffATTACH 'x' AS y", ";;ATTACH 'x' AS y",
		"SELECT 1; ATTACH 'x' AS y", "SELECT ';' ; ATTACH 'x' AS y", `SELECT 1 AS ";"; VACUUM`, "SELECT [;];VACUUM",
		"SELECT `;`;VACUUM", "SELECT 'it''s;'; VACUUM", "SELECT 1 -- ; x\n; VACUUM", "SELECT 1 /* ; */; VACUUM",
		"EXPLAIN PRAGMA journal_mode=off", "EXPLAIN QUERY PLAN PRAGMA journal_mode=off",
		"PRAGMA temp_store_directory='/tmp'", "pragma main.writable_schema=1", `PRAGMA "journal_mode"=off`,
		"PRAGMA 'main' . journal_mode=off", "PRAGMA", "PRAGMA main.",
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN SELECT 1; END; END",
		"CREATE TABLE a(b); END", "PRAGMA foreign_keys=OFF; DROP TABLE a", "SELECT 1; PRAGMA main.foreign_keys=ON", "SELECT 1\x00; VACUUM", strings.Repeat(" ", maxText+1),
	}
	for _, text := range refused {
		if _, err := refuse(text); err == nil {
			t.Errorf("taken: %.80q", text)
		}
	}
	taken := []string{
		"", ";", "SELECT 1", "SELECT 'ATTACH'; SELECT 'VACUUM;PRAGMA journal_mode'",
		"CREATE TABLE begin_x(attach TEXT)", "INSERT INTO a VALUES('x; ATTACH y')", "SELECT 1 -- ATTACH\n",
		"PRAGMA user_version=3", "PRAGMA foreign_keys=OFF;", "PRAGMA table_info(a)", "PRAGMA main.user_version", "SELECT CASE WHEN 1 THEN 2 END",
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN INSERT INTO c VALUES(new.x); DELETE FROM d; END",
		"CREATE TEMP TRIGGER a AFTER INSERT ON b BEGIN SELECT 1; END; SELECT 2",
		"WITH x AS (SELECT 1) SELECT * FROM x", "SELECT 'unterminated ; ATTACH 'x",
	}
	for _, text := range taken {
		if _, err := refuse(text); err != nil {
			t.Errorf("refused %q: %v", text, err)
		}
	}
}

func TestStatementsOfAText(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, ";;": 0, "-- SELECT 1;": 0, "SELECT 1": 1, "SELECT ';';": 1, "SELECT 1;;SELECT 2": 2,
		"CREATE TRIGGER a AFTER INSERT ON b BEGIN INSERT INTO c VALUES(1); SELECT CASE WHEN 1 THEN 2 END; END":              1,
		"CREATE TABLE b(x); CREATE TEMP TRIGGER a AFTER INSERT ON b BEGIN SELECT 1; END; INSERT INTO b VALUES(1); SELECT 2": 4,
	} {
		if got, err := refuse(text); err != nil || got != want {
			t.Errorf("%q: %d statements, %v; want %d", text, got, err, want)
		}
	}
}

func FuzzRefuse(f *testing.F) {
	f.Add("SELECT ';'; ATTACH x")
	f.Add("/*")
	f.Add("'")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = refuse(text)
		s := scan.Scanner{Text: text}
		for range len(text) + 1 {
			if s.Statement() == nil {
				return
			}
		}
		t.Error("the scanner does not end")
	})
}
