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
// transactions behind its back.
func refuse(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("statement of %d bytes: at most %d are taken", len(text), maxText)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("statement with a NUL byte")
	}
	s := scan.Scanner{Text: text}
	trigger := false
	for {
		words := s.Statement()
		if words == nil {
			return nil
		}
		if err := refuseStatement(words, trigger); err != nil {
			return err
		}
		switch {
		case words[0] == "CREATE" && (scan.At(words, 1) == "TRIGGER" || scan.At(words, 2) == "TRIGGER"):
			trigger = true
		case words[0] == "END":
			trigger = false
		}
	}
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
		name := scan.At(words, 1)
		if scan.At(words, 2) == "." {
			name = scan.At(words, 3)
		}
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
