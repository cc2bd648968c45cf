package archive

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

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

// marked puts the mark in front of what an export gives as options, without
// marks that it has itself. A space tells an empty object from no options.
func marked(options string, nowMs int64) (string, error) {
	mark := db.ImportedMark + strconv.FormatInt(nowMs, 10)
	if options == "" {
		return mark + "}", nil
	}
	if !json.Valid([]byte(options)) || options[0] != '{' {
		return "", errOptions
	}
	if options = Unmark(options); options == "" {
		return mark + "}", nil
	}
	rest := options[1:]
	if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "}") {
		return mark + " " + rest, nil
	}
	return mark + "," + rest, nil
}

// Unmark returns options without the marks: byte for byte what marked was
// given, unless that had marks of its own or another program rewrote the object.
func Unmark(options string) string {
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
	out, found := []byte{'{'}, false
	for key, value := range codec.Fields(raw) {
		if slices.Contains(marks, key) {
			found = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(codec.AppendString(out, key), ':'), value...)
	}
	if !found {
		return options
	}
	return string(append(out, '}'))
}

// Adopted reports whether options say that their session was imported and adopted. It
// looks at the field behind the first mark alone, which no export wrote.
func Adopted(options string) bool {
	rest := strings.TrimLeft(strings.TrimPrefix(options, db.ImportedMark), "0123456789")
	return strings.HasPrefix(rest, adoptedMark)
}

// Adopt notes in the options of an imported session when it was adopted.
func Adopt(options string, nowMs int64) string {
	rest := strings.TrimLeft(strings.TrimPrefix(options, db.ImportedMark), "0123456789")
	return options[:len(options)-len(rest)] + adoptedMark + strconv.FormatInt(nowMs, 10) + rest
}
