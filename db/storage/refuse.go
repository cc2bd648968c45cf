package storage

import (
	"errors"
	"fmt"
	"strings"

	"alisio/db/scan"
)

// maxText bounds the text of one call, in bytes.
const maxText = 1 << 20

// refuse returns an error for a text that a storage does not run: statements
// that reach beyond its file, change how it is opened, or begin and end
// transactions behind its back. Of any other it returns how many statements it
// holds, a trigger with its body being one.
func refuse(text string) (statements int, err error) {
	if len(text) > maxText {
		return 0, fmt.Errorf("statement of %d bytes: at most %d are taken", len(text), maxText)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return 0, errors.New("statement with a NUL byte")
	}
	s := scan.Scanner{Text: text}
	trigger, alone := false, false
	for {
		words := s.Statement()
		if words == nil {
			break
		}
		if err := refuseStatement(words, trigger); err != nil {
			return 0, err
		}
		if !trigger {
			statements++
		}
		alone = alone || words[0] == "PRAGMA" && pragma(words) == "FOREIGN_KEYS"
		switch {
		case words[0] == "CREATE" && (scan.At(words, 1) == "TRIGGER" || scan.At(words, 2) == "TRIGGER"):
			trigger = true
		case words[0] == "END":
			trigger = false
		}
	}
	if alone && statements > 1 {
		return 0, errors.New("PRAGMA foreign_keys does nothing among other statements, which are one transaction: give it alone")
	}
	return statements, nil
}

// pragma is the name of a PRAGMA statement.
func pragma(words []string) string {
	if scan.At(words, 2) == "." {
		return scan.At(words, 3)
	}
	return scan.At(words, 1)
}

// refuseStatement judges a statement by its first words. Inside a trigger, END
// ends its body; elsewhere it is COMMIT.
func refuseStatement(words []string, trigger bool) error {
	switch words[0] {
	case "ATTACH", "DETACH", "VACUUM":
		return fmt.Errorf("%s is not allowed in a storage", words[0])
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return fmt.Errorf("%s is not allowed: use a transaction of the storage", words[0])
	case "END":
		if !trigger {
			return errors.New("END is not allowed: use a transaction of the storage")
		}
	case "PRAGMA":
		name := pragma(words)
		if !harmlessPragma(name) {
			return fmt.Errorf("PRAGMA %s is not allowed in a storage", strings.ToLower(name))
		}
	}
	return nil
}

// harmlessPragma knows what reads, what numbers the schema and what tidies up.
func harmlessPragma(name string) bool {
	switch name {
	case "USER_VERSION", "APPLICATION_ID", "TABLE_INFO", "TABLE_XINFO", "TABLE_LIST", "INDEX_LIST", "INDEX_INFO",
		"INDEX_XINFO", "FOREIGN_KEY_LIST", "FOREIGN_KEY_CHECK", "FOREIGN_KEYS", "DEFER_FOREIGN_KEYS",
		"RECURSIVE_TRIGGERS", "INTEGRITY_CHECK", "QUICK_CHECK", "OPTIMIZE", "PAGE_COUNT", "PAGE_SIZE",
		"FREELIST_COUNT", "DATA_VERSION", "COMPILE_OPTIONS", "COLLATION_LIST", "FUNCTION_LIST", "ENCODING":
		return true
	}
	return false
}
