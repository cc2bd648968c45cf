package markdown

import (
	"strings"

	"alisio/agent/text"
)

// maxURL bounds what a terminal is given as a link.
const maxURL = 2000

// maxDefs bounds how many references a document may define.
const maxDefs = 10000

// definitions are the references of a document in order. The first of a name counts, and
// only for text behind it: what stands above does not change.
type definitions struct {
	list  []string       // where each leads
	index map[string]int // by name
}

// isDefinition reports "[name]: url".
func isDefinition(t string) bool {
	_, _, ok := definition(t)
	return ok
}

func definition(t string) (name, url string, ok bool) {
	end := strings.Index(t, "]:")
	if end < 2 || t[1] == '^' || strings.ContainsAny(t[1:end], "[]") || strings.Trim(t[1:end], " \t") == "" {
		return "", "", false
	}
	rest := strings.Trim(t[end+2:], " \t")
	url, title, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(rest, "<") {
		url, title, ok = strings.Cut(rest[1:], ">")
		if !ok {
			return "", "", false
		}
	}
	title = strings.TrimSpace(title)
	if url == "" || title != "" && strings.IndexByte(`"'(`, title[0]) < 0 {
		return "", "", false
	}
	return label(t[1:end]), url, true
}

// label is a name of a reference as names are compared.
func label(s string) string { return strings.ToLower(text.Line(s)) }

func (d *definitions) add(t string) {
	name, url, ok := definition(t)
	if _, had := d.index[name]; !ok || had || len(d.list) >= maxDefs {
		return
	}
	if d.index == nil {
		d.index = make(map[string]int)
	}
	d.index[name] = len(d.list)
	d.list = append(d.list, url)
}

// find is where a name leads, among the first known definitions.
func (d *definitions) find(name string, known int) (string, bool) {
	if d == nil {
		return "", false
	}
	if i, ok := d.index[label(name)]; ok && i < known {
		return d.list[i], true
	}
	return "", false
}

// bracket is the end of the text of a link or an image, or just a bracket.
func (p *inline) bracket(i int) int {
	n := len(p.brackets)
	if n == 0 {
		return p.literal(i, i+1, "]")
	}
	b := p.brackets[n-1]
	p.brackets = p.brackets[:n-1]
	at := p.nodes[b.node].from
	if b.dead || i-at > reach {
		return p.literal(i, i+1, "]")
	}
	inner := p.s[p.nodes[b.node].to:i]
	if strings.HasPrefix(inner, "^") && len(inner) > 1 && !strings.ContainsAny(inner, " \n[") && !b.image {
		p.nodes, p.delims = p.nodes[:b.node], p.delims[:b.delim]
		p.links = append(p.links, "")
		p.add(node{kind: literal, from: at, to: i, text: "[" + inner[1:], link: int32(len(p.links))})
		p.add(node{kind: literal, from: i, to: i + 1, text: "]"})
		p.nodes = append(p.nodes, node{kind: literal, from: i + 1, to: i + 1, link: -1})
		return i + 1
	}
	url, end, state := p.target(i+1, inner)
	if state == cut && p.undecided(at, 2*reach) {
		// The rest of the URL is to come: it is not shown in pieces. Where it is none in the
		// end, the brackets around may be the link.
		for _, o := range p.brackets {
			if !o.dead {
				p.undecided(p.nodes[o.node].from, reach)
			}
		}
		p.link(b, i, p.end, "", inner)
		return p.end
	}
	if state != found {
		if i+1 == p.end {
			p.undecided(at, 2*reach)
		}
		return p.literal(i, i+1, "]")
	}
	p.link(b, i, end, url, inner)
	return end
}

// link makes a link or an image of the nodes since the bracket b.
func (p *inline) link(b bracket, i, end int, url, inner string) {
	if b.image {
		p.emphasis(b.delim)
		alt := text.Line(p.shown(b.node + 1))
		at := p.nodes[b.node].from
		p.nodes, p.delims = p.nodes[:b.node], p.delims[:b.delim]
		p.links = append(p.links, safe(url))
		show := "[image: " + alt + "]"
		if alt == "" {
			show = "[image]"
		}
		p.nodes = append(p.nodes, node{kind: literal, from: at, to: i, text: show, link: int32(len(p.links))})
		p.nodes = append(p.nodes, node{kind: host, from: i, to: end, text: aside("", url), link: -1})
		return
	}
	p.emphasis(b.delim)
	for k := b.node + 1; k < len(p.nodes); k++ { // a URL as the text of a link leads where the link does
		p.nodes[k].link = 0
	}
	p.links = append(p.links, safe(url))
	open := &p.nodes[b.node]
	open.text, open.link = "", int32(len(p.links))
	p.nodes = append(p.nodes, node{kind: host, from: i, to: end, text: aside(p.shown(b.node+1), url), link: -1})
	for k := range p.brackets { // no links in links
		if !p.brackets[k].image {
			p.brackets[k].dead = true
		}
	}
}

// shown is the text of the nodes from the index k on.
func (p *inline) shown(k int) string {
	var b strings.Builder
	for _, n := range p.nodes[k:] {
		b.WriteString(n.text)
	}
	return b.String()
}

// outcome says what stood behind a bracket.
type outcome uint8

const (
	none outcome = iota
	found
	cut // the text ends before it is known
)

// target reads where a link leads: "(url)", "[name]" or nothing, for the name in the
// brackets.
func (p *inline) target(i int, inner string) (url string, end int, state outcome) {
	s := p.s[:p.end]
	if i < len(s) && s[i] == '(' {
		url, end, state = destination(s, i+1)
		if state == found || state == cut && p.open {
			return url, end, state
		}
	}
	name := inner
	end = i
	if i < len(s) && s[i] == '[' {
		n := strings.IndexByte(s[i:min(len(s), i+reach)], ']')
		if n < 0 {
			return "", 0, none
		}
		if end = i + n + 1; n > 1 {
			name = s[i+1 : i+n]
		}
	}
	if len(name) > maxHead {
		return "", 0, none
	}
	if url, ok := p.defs.find(name, p.known); ok {
		return url, end, found
	}
	return "", 0, none
}

// destination reads "url)" or `url "title")` from i on.
func destination(s string, i int) (url string, end int, state outcome) {
	last := min(len(s), i+2*reach)
	i = blanks(s, i, last)
	start := i
	if i < last && s[i] == '<' {
		for i++; i < last && s[i] != '>' && s[i] != '\n'; i++ {
		}
		if i < last && s[i] == '\n' {
			return "", 0, none
		}
		url = s[start+1 : i]
		i = min(i+1, last)
	} else {
		depth := 0
		for ; i < last && s[i] != ' ' && s[i] != '\n'; i++ {
			if s[i] == '\\' && i+1 < last && isPunct(rune(s[i+1])) {
				i++
			} else if s[i] == '(' {
				depth++
			} else if s[i] == ')' {
				if depth--; depth < 0 {
					break
				}
			}
		}
		url = unescape(s[start:min(i, last)])
	}
	at := i
	i = blanks(s, i, last)
	if i < last && i > at && strings.IndexByte(`"'(`, s[i]) >= 0 {
		q := s[i]
		if q == '(' {
			q = ')'
		}
		for i++; i < last && s[i] != q; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		i = blanks(s, min(i+1, last), last)
	}
	switch {
	case i >= last && last == len(s):
		return url, last, cut
	case i < last && s[i] == ')':
		return url, i + 1, found
	}
	return "", 0, none
}

func blanks(s string, i, last int) int {
	for i < last && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	return i
}

// unescape takes the backslashes out of a URL, and decodes its "&amp;".
func unescape(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && isPunct(rune(s[i+1])) {
				i++
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	return strings.ReplaceAll(s, "&amp;", "&")
}

// safe is a URL that a terminal may be given: of the web, in ASCII, with a plain host,
// and without a name in front of it, which would be taken for the host. Else it is empty.
func safe(url string) string {
	if len(url) > maxURL || web(url) == 0 {
		return ""
	}
	for i := range len(url) {
		if url[i] <= ' ' || url[i] >= 0x7F {
			return ""
		}
	}
	h := authority(url)
	if h == "" {
		return ""
	}
	for i := range len(h) {
		if !isAlnum(h[i]) && strings.IndexByte(".-:[]", h[i]) < 0 {
			return ""
		}
	}
	return url
}

// web is the length of "http://" or "https://" at the start of a URL, else 0.
func web(url string) int {
	for _, s := range [...]string{"https://", "http://"} {
		if len(url) > len(s) && strings.EqualFold(url[:len(s)], s) {
			return len(s)
		}
	}
	return 0
}

// authority is what stands between "//" and the path.
func authority(url string) string {
	h := url[web(url):]
	if i := strings.IndexAny(h, `/?#\`); i >= 0 {
		h = h[:i]
	}
	return h
}

// aside says behind a link where it leads, unless its text says so: the host of a link
// of the web, of anything else, which is no link, the whole.
func aside(shown, url string) string {
	if url == "" {
		return ""
	}
	shown = strings.TrimSpace(shown)
	if safe(url) == "" {
		if shown == url || "mailto:"+shown == url {
			return ""
		}
		return " (" + text.Clip(text.Line(url), 200) + ")"
	}
	h := authority(url)
	bare := url[web(url):]
	for _, same := range [...]string{url, bare, strings.TrimSuffix(url, "/"), strings.TrimSuffix(bare, "/"), h} {
		if strings.EqualFold(shown, same) {
			return ""
		}
	}
	return " (" + h + ")"
}

// angle is "<https://…>", "<br>", or text: HTML is shown, not obeyed.
func (p *inline) angle(i int) int {
	s := p.s[i:min(p.end, i+reach)]
	n := strings.IndexAny(s[1:], "> \n<")
	if n < 0 {
		p.undecided(i, reach)
		return p.literal(i, i+1, "<")
	}
	body := s[1 : n+1]
	if s[n+1] == '>' && safe(body) != "" {
		p.links = append(p.links, body)
		p.nodes = append(p.nodes, node{kind: literal, from: i, to: i + n + 1, text: body, link: int32(len(p.links))})
		p.nodes = append(p.nodes, node{kind: host, from: i + n + 1, to: i + n + 2, link: -1})
		return i + n + 2
	}
	if t := strings.ToLower(s[:min(len(s), 8)]); strings.HasPrefix(t, "<br") {
		end := 3
		for end < len(t) && (t[end] == ' ' || t[end] == '/') {
			end++
		}
		if end < len(t) && t[end] == '>' {
			j := i + end + 1
			for j < p.end && (p.s[j] == ' ' || p.s[j] == '\n') {
				j++
			}
			return p.add(node{kind: hard, from: i, to: j, text: "\n"})
		}
		if end == len(t) {
			p.undecided(i, 8)
		}
	}
	return p.literal(i, i+1, "<")
}

// url reads a URL without marks around it, of which i is the colon. 0 says that there is
// none. It ends with ASCII: in text without blanks other text may follow.
func (p *inline) url(i int) int {
	k := len(p.nodes) - 1
	if k < 0 || p.nodes[k].kind != plain || p.nodes[k].to != i || !strings.HasPrefix(p.s[i:p.end], "://") {
		return 0
	}
	n := &p.nodes[k]
	start := i
	for start > n.from && i-start < 6 && p.s[start-1]|0x20 >= 'a' && p.s[start-1]|0x20 <= 'z' {
		start--
	}
	if web(p.s[start:p.end]) == 0 {
		return 0
	}
	if before, _ := p.around(start, i); before < 0x80 && (isAlnum(byte(before)) || before == '_') {
		return 0
	}
	end := i + 3
	for end < p.end && end-start < maxURL && p.s[end] > ' ' && p.s[end] < 0x7F && strings.IndexByte("<>\"`|\\^{}", p.s[end]) < 0 {
		end++
	}
	if end == p.end {
		p.undecided(start, maxURL)
	}
	if end-start >= maxURL {
		return 0
	}
	end = trimURL(p.s, start, end)
	if safe(p.s[start:end]) == "" {
		return 0
	}
	if n.from == start {
		p.nodes = p.nodes[:k]
	} else {
		n.to, n.text = start, p.s[n.from:start]
	}
	p.links = append(p.links, p.s[start:end])
	p.nodes = append(p.nodes, node{kind: literal, from: start, to: end, text: p.s[start:end], link: int32(len(p.links))})
	p.nodes = append(p.nodes, node{kind: literal, from: end, to: end, link: -1})
	return end
}

// trimURL leaves out the marks behind a URL that belong to the sentence.
func trimURL(s string, start, end int) int {
	opened := strings.Count(s[start:end], "(") - strings.Count(s[start:end], ")")
	for end > start {
		switch c := s[end-1]; {
		case strings.IndexByte("?!.,:;*_~'\"]", c) >= 0:
		case c == ')' && opened < 0:
			opened++
		default:
			return end
		}
		end--
	}
	return end
}
