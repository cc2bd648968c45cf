package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"alisio/agent/session/codec"
	"alisio/db"
)

// An imported session says so in its options, a JSON object that other programs
// read and write too: the first field is "imported", the time in ms. The database
// knows the session by these first bytes (db.Session.Imported), so that nothing an
// export holds can take the mark away. A second field, "adopted", is the time at
// which a person said where the session works here. Neither is exported.
const (
	keyImported = "imported"
	keyAdopted  = "adopted"
	adoptedMark = `,"` + keyAdopted + `":`
)

// errOptions tells of options that no mark can be put in.
var errOptions = errors.New("the options are no JSON object")

// markImported puts the mark in front of what an export gives as options, without
// marks that it has itself. A space tells an empty object from no options.
func markImported(options string, nowMs int64) (string, error) {
	mark := db.ImportedMark + strconv.FormatInt(nowMs, 10)
	if options == "" {
		return mark + "}", nil
	}
	if !json.Valid([]byte(options)) || options[0] != '{' {
		return "", errOptions
	}
	if options = unmarked(options); options == "" {
		return mark + "}", nil
	}
	rest := options[1:]
	if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "}") {
		return mark + " " + rest, nil
	}
	return mark + "," + rest, nil
}

// unmarked returns options without the marks: byte for byte what markImported was
// given, unless that had marks of its own or another program rewrote the object.
func unmarked(options string) string {
	if after, ok := strings.CutPrefix(options, db.ImportedMark); ok {
		rest := strings.TrimLeft(after, "0123456789")
		if more, ok := strings.CutPrefix(rest, adoptedMark); ok {
			rest = strings.TrimLeft(more, "0123456789")
		}
		if rest == "}" {
			return ""
		}
		if first := "{" + rest[min(1, len(rest)):]; json.Valid([]byte(first)) {
			options = first
		}
	}
	raw := []byte(options)
	if !json.Valid(raw) || raw[0] != '{' {
		return options
	}
	marks := []string{keyImported, keyAdopted}
	out, marked := []byte{'{'}, false
	for key, value := range codec.Fields(raw) {
		if slices.Contains(marks, key) {
			marked = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(codec.AppendString(out, key), ':'), value...)
	}
	if !marked {
		return options
	}
	return string(append(out, '}'))
}

// Adopted reports whether a session may work in the workspace that it names: it
// was made here, or a person has said where it works since it was imported.
func (s *SQLite) Adopted(ctx context.Context, id string) (bool, error) {
	row, err := s.db.Session(ctx, id)
	if err != nil {
		return false, mapped("session "+id, err)
	}
	return !row.Imported() || adopted(row.Options), nil
}

// adopted looks at the field behind the first mark alone, which no export wrote.
func adopted(options string) bool {
	rest := strings.TrimLeft(strings.TrimPrefix(options, db.ImportedMark), "0123456789")
	return strings.HasPrefix(rest, adoptedMark)
}

// Adopt notes where an imported session works from now on, and reports whether it
// did. It does nothing to one that is adopted, or was made here.
func (s *SQLite) Adopt(ctx context.Context, id, workspace string) (done bool, err error) {
	if had, err := s.Adopted(ctx, id); had || err != nil {
		return false, err // nearly always, and nothing is written
	}
	err = s.change(ctx, "adopt session "+id, func(tx *db.Tx) error {
		done = false
		row, err := tx.Session(ctx, id)
		if err != nil || !row.Imported() || adopted(row.Options) {
			return err
		}
		rest := strings.TrimLeft(strings.TrimPrefix(row.Options, db.ImportedMark), "0123456789")
		mark := row.Options[:len(row.Options)-len(rest)]
		mark += adoptedMark + strconv.FormatInt(time.Now().UnixMilli(), 10)
		done = true
		return tx.SetWorkspace(id, workspace, mark+rest)
	})
	return done && err == nil, err
}
