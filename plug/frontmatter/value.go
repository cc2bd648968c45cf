package frontmatter

import "strings"

// Kind says what a value is.
type Kind uint8

// The kinds. Numbers and dates are Text as they were written: 1.10 stays 1.10.
const (
	Null Kind = iota
	Text
	Bool
	List
	Map
)

func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Bool:
		return "true or false"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	return "nothing"
}

// Value is one value. Kind says which of the other fields are used.
type Value struct {
	Kind Kind
	// Line counts from 1 in the file.
	Line int
	// Text is that of Text and Bool, without the quotes of YAML. It may hold any
	// character but those that YAML forbids: sanitise it before it is shown.
	Text string
	// Items are those of a List.
	Items []Value
	// Fields are those of a Map, in the order of the file, no key twice.
	Fields []Field
}

// Field is a key with its value.
type Field struct {
	Key   string
	Line  int
	Value Value
}

// Scalar returns the text of a value that is Text, Bool or Null.
func (v Value) Scalar() (string, bool) {
	return v.Text, v.Kind == Text || v.Kind == Bool || v.Kind == Null
}

// Truth returns a boolean, which may be quoted or one of the words of older YAML.
func (v Value) Truth() (value, ok bool) {
	if v.Kind != Text && v.Kind != Bool {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

// Words returns a list of texts, which may also be one text with commas: "Read,
// Bash(git add, git rm)" is two words. Blanks around words and empty words are
// left out.
func (v Value) Words() ([]string, bool) {
	switch v.Kind {
	case Null:
		return nil, true
	case Text, Bool:
		return splitCommas(v.Text), true
	case List:
		var words []string
		for _, item := range v.Items {
			word, ok := item.Scalar()
			if !ok {
				return nil, false
			}
			if word = strings.TrimSpace(word); word != "" {
				words = append(words, word)
			}
		}
		return words, true
	}
	return nil, false
}

// splitCommas splits at commas that stand in no parentheses.
func splitCommas(s string) []string {
	depth := 0
	parts := strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		}
		return r == ',' && depth == 0
	})
	var words []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			words = append(words, p)
		}
	}
	return words
}
