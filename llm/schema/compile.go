package schema

import (
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// compiler turns the JSON of a schema into a Schema.
type compiler struct {
	root value
	// refs are the targets of $ref by pointer. A target is entered before it
	// is compiled, so that a schema may refer to itself.
	refs map[string]*Schema
	made int
	// program counts the instructions of all patterns.
	program int
	// unchecked are the places of what is not enforced.
	unchecked []string
}

// compile reads the schema v that stands at a pointer.
func (c *compiler) compile(v value, at string) (*Schema, error) {
	s := &Schema{}
	if at == "#" {
		c.refs["#"] = s
	}
	return s, c.fill(s, v, at)
}

// fill reads v into s. Where drafts differ, the reading that refuses less
// wins: a server checks its own arguments again.
func (c *compiler) fill(s *Schema, v value, at string) error {
	if c.made++; c.made > maxSchemas {
		return errSchemas
	}
	s.minItems, s.maxItems, s.minLength, s.maxLength = -1, -1, -1, -1
	switch v.kind {
	case boolean:
		s.never = v.raw[0] == 'f'
		return nil
	case object:
	default:
		return fmt.Errorf("%s: found %s, expected an object or a boolean", plain(at), v.describe())
	}
	for _, m := range v.members {
		if err := c.keyword(s, v, m, at+"/"+escape(m.name)); err != nil {
			return err
		}
	}
	return nil
}

// keyword reads one keyword of the schema v; those it does not know it leaves.
func (c *compiler) keyword(s *Schema, v value, m member, at string) (err error) {
	switch m.name {
	case "type":
		err = s.setTypes(m.value, at)
	case "nullable": // of OpenAPI, which many servers generate from
		if t, ok := v.get("type"); ok && t.kind == text && string(m.value.raw) == "true" {
			s.types |= null
		}
	case "enum":
		if m.value.kind != array || len(m.value.items) == 0 {
			return expected(at, m.value, "a list of values")
		}
		s.enum = m.value.items
	case "const":
		s.enum = []value{m.value}
	case "required":
		err = s.setRequired(m.value, at)
	case "properties":
		err = c.properties(s, m.value, at)
	case "additionalProperties":
		// Names that match a pattern would be refused as unknown.
		if _, open := v.get("patternProperties"); !open {
			s.extra, err = c.compile(m.value, at)
		}
	case "items":
		// In a tuple "items" means the rest alone.
		if _, tuple := v.get("prefixItems"); !tuple && m.value.kind != array {
			s.items, err = c.compile(m.value, at)
		} else {
			c.leave(at)
		}
	case "minItems":
		s.minItems, err = count(m.value, at)
	case "maxItems":
		s.maxItems, err = count(m.value, at)
	case "minLength":
		s.minLength, err = count(m.value, at)
	case "maxLength":
		s.maxLength, err = count(m.value, at)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		err = s.setBound(v, m, at)
	case "pattern":
		if err = c.setPattern(s, m.value, at); err == nil && s.pattern == nil {
			c.leave(at)
		}
	case "anyOf":
		s.anyOf, err = c.list(m.value, at)
	case "oneOf":
		s.oneOf, err = c.list(m.value, at)
	case "allOf":
		s.allOf, err = c.list(m.value, at)
	case "$ref":
		s.ref, err = c.resolve(m.value, at)
	default:
		if asserts(m) {
			c.leave(at)
		}
	}
	return err
}

// expected makes the error of a keyword whose value has the wrong form.
func expected(at string, v value, want string) error {
	return fmt.Errorf("%s: found %s, expected %s", plain(at), v.describe(), want)
}

// setTypes reads one type or several. "integer" is a number that asks for more,
// and beside "number" it asks for nothing.
func (s *Schema) setTypes(v value, at string) error {
	names := v.items
	if v.kind == text {
		names = []value{v}
	}
	if len(names) == 0 {
		return expected(at, v, "the name of a type or a list of them")
	}
	numbers := false
	for _, n := range names {
		name := ""
		if n.kind == text {
			name = decode(n.raw)
		}
		switch name {
		case "null":
			s.types |= null
		case "boolean":
			s.types |= boolean
		case "integer":
			s.types |= number
			s.whole = true
		case "number":
			s.types |= number
			numbers = true
		case "string":
			s.types |= text
		case "array":
			s.types |= array
		case "object":
			s.types |= object
		default:
			return expected(at, n, "the name of a type")
		}
	}
	s.whole = s.whole && !numbers
	return nil
}

// setRequired reads the names that must be there, declared or not.
func (s *Schema) setRequired(v value, at string) error {
	if v.kind == boolean {
		return nil // of draft 3, where it means another thing
	}
	if v.kind != array {
		return expected(at, v, "a list of names")
	}
	for _, n := range v.items {
		if n.kind != text {
			return expected(at, n, "a name")
		}
		s.required = append(s.required, decode(n.raw))
	}
	return nil
}

// properties keeps the order of the schema: errors list names as its author
// did.
func (c *compiler) properties(s *Schema, v value, at string) error {
	if v.kind != object {
		return expected(at, v, "an object")
	}
	for _, m := range v.members {
		p, err := c.compile(m.value, at+"/"+escape(m.name))
		if err != nil {
			return err
		}
		s.properties = append(s.properties, property{m.name, p})
	}
	return nil
}

// list reads the schemas of anyOf, oneOf and allOf.
func (c *compiler) list(v value, at string) ([]*Schema, error) {
	if v.kind != array || len(v.items) == 0 {
		return nil, expected(at, v, "a list of schemas")
	}
	all := make([]*Schema, 0, len(v.items))
	for i, item := range v.items {
		s, err := c.compile(item, at+"/"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// setBound reads a limit of numbers. In draft 4 the exclusive keywords are
// booleans about their neighbour.
func (s *Schema) setBound(v value, m member, at string) error {
	if m.value.kind == boolean && strings.HasPrefix(m.name, "exclusive") {
		return nil
	}
	if m.value.kind != number {
		return expected(at, m.value, "a number")
	}
	b := bound{limit: string(m.value.raw), order: -1, exclusive: strings.HasPrefix(m.name, "exclusive")}
	if strings.HasSuffix(strings.ToLower(m.name), "maximum") {
		b.order = 1
	}
	neighbour := "exclusive" + strings.ToUpper(m.name[:1]) + m.name[1:]
	if n, ok := v.get(neighbour); ok && string(n.raw) == "true" {
		b.exclusive = true
	}
	s.bounds = append(s.bounds, b)
	return nil
}

// setPattern compiles a pattern. One that RE2 lacks (look-around, back
// references) or that is too large is not enforced: its server checks it, and
// a tool is worth more than the early error. "a{1000}" is a thousand
// instructions, so instructions are counted, not bytes.
func (c *compiler) setPattern(s *Schema, v value, at string) error {
	if v.kind != text {
		return expected(at, v, "a regular expression")
	}
	p := decode(v.raw)
	if len(p) > maxPattern || c.program > maxProgram {
		return nil
	}
	tree, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	if c.program += len(prog.Inst); c.program > maxProgram {
		return nil
	}
	if s.pattern, err = regexp.Compile(p); err == nil {
		s.size = len(prog.Inst)
	}
	return nil
}

// count reads a size. One that no value reaches is as good as any other.
func count(v value, at string) (int, error) {
	if v.kind == number {
		if digits, ok := integer(string(v.raw)); ok && digits[0] != '-' {
			n, err := strconv.Atoi(digits)
			if err != nil {
				n = int(^uint(0) >> 1)
			}
			return n, nil
		}
	}
	return 0, expected(at, v, "a whole number, zero or more")
}

// resolve returns the schema that a local $ref names: "#" or a JSON pointer as
// a URL fragment (RFC 6901, section 6). Keywords beside $ref hold too, as they
// do since draft 2019-09. Nothing is fetched.
func (c *compiler) resolve(v value, at string) (*Schema, error) {
	if v.kind != text {
		return nil, expected(at, v, "a reference")
	}
	ref := decode(v.raw)
	if s, ok := c.refs[ref]; ok {
		return s, nil
	}
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, expected(at, v, `a reference into this schema, such as "#/$defs/name"`)
	}
	target := c.root
	for step := range strings.SplitSeq(rest, "/") {
		if target, ok = target.step(step); !ok {
			return nil, expected(at, v, "a place that exists")
		}
	}
	// The same place can be compiled inline as well; maxSchemas bounds both.
	s := &Schema{}
	c.refs[ref] = s
	return s, c.fill(s, target, ref)
}

// step follows one step of a JSON pointer as a URL fragment writes it.
func (v value) step(step string) (value, bool) {
	if s, err := url.PathUnescape(step); err == nil {
		step = s
	}
	step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	if v.kind == array {
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v.items) {
			return value{}, false
		}
		return v.items[i], true
	}
	return v.get(step)
}

// escape writes a name as a step of a JSON pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
