package child

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/plug"
)

// rows is a store with heads that no program of ours wrote.
type rows struct {
	*session.Memory
	heads map[string]session.ChildHead
}

func (r rows) Child(ctx context.Context, id string) (session.ChildHead, error) {
	if h, ok := r.heads[id]; ok {
		return h, nil
	}
	return r.Memory.Child(ctx, id)
}

func nothing(t *testing.T, b *bench, id string) {
	t.Helper()
	c, err := b.Capabilities(t.Context(), id)
	if err != nil || !c.ReadOnly || len(c.Tools) != 0 ||
		c.Permission != (plug.Permissions{Write: plug.PermissionDeny, Process: plug.PermissionDeny, External: plug.PermissionDeny}) {
		t.Errorf("%s may do %+v, %v", id, c, err)
	}
}

// What nobody can follow up to a root is bounded by nothing that is known: it may do
// nothing, and does not run.
func TestBrokenWayUp(t *testing.T) {
	b := newBench(t)
	r := rows{b.store, map[string]session.ChildHead{}}
	b.o.Store = r
	add := func(id, parent string, depth int) {
		r.heads[id] = session.ChildHead{Session: session.Session{ID: id, Parent: parent, Depth: depth}, Options: "{}"}
	}
	add("orphan", "gone", 1)
	add("below an orphan", "orphan", 2)
	add("self", "self", 1)
	add("a", "b", 1)
	add("b", "a", 1)
	add("lost its parent", "", 1)
	add("below it", "lost its parent", 2)
	add("s0", root, 1)
	for i := range 40 {
		add(fmt.Sprintf("s%d", i+1), fmt.Sprintf("s%d", i), i+2)
	}
	for _, id := range []string{"orphan", "below an orphan", "self", "a", "below it", "lost its parent", "s16", "s40"} {
		nothing(t, b, id)
		if _, err := b.Run(t.Context(), id, "go"); err == nil || strings.Contains(err.Error(), "not found") {
			t.Errorf("run of %s: %v", id, err)
		}
		if _, err := b.Spawn(t.Context(), plug.ChildSpec{Parent: id}); err == nil {
			t.Errorf("%s got a child", id)
		}
		if _, err := b.Model(t.Context(), id); err == nil {
			t.Errorf("%s has a model", id)
		}
		if up, err := b.Ancestors(t.Context(), id); err != nil || len(up) > maxDepth {
			t.Errorf("%s has %d ancestors, %v", id, len(up), err)
		}
	}
	if c, err := b.Capabilities(t.Context(), "s15"); err != nil || c.ReadOnly || len(c.Tools) != 3 {
		t.Errorf("the deepest that there may be: %+v, %v", c, err)
	}
}

// Whoever made an export chose the specs in it.
func TestForeignSpecs(t *testing.T) {
	b := newBench(t)
	r := rows{b.store, map[string]session.ChildHead{}}
	b.o.Store = r
	head := session.ChildHead{Session: session.Session{ID: "foreign", Parent: root, Depth: 1}, Options: `{"workspace":"/w/x","model":"dear"}`, Foreign: true}
	r.heads["foreign"] = head
	head.Session, head.Foreign, head.Options = session.Session{ID: "below", Parent: "foreign", Depth: 2}, false, "{}"
	r.heads["below"] = head
	nothing(t, b, "foreign")
	nothing(t, b, "below")
	if dir, err := b.Workspace(t.Context(), "below"); err != nil || dir != "/w" {
		t.Errorf("it works in %s, %v", dir, err)
	}
	if _, err := b.Run(t.Context(), "foreign", "go"); err == nil || !strings.Contains(err.Error(), "it was imported") {
		t.Errorf("it runs: %v", err)
	}
	var got Request
	b.run = func(_ context.Context, r Request) (plug.ChildOutcome, error) {
		got = r
		return plug.ChildOutcome{Status: plug.ChildCompleted}, nil
	}
	b.store.CreateChild(t.Context(), session.Session{ID: "below", Parent: root}, "{}") // for its status
	if _, err := b.Run(t.Context(), "below", "go"); err != nil || got.Ceiling.Admits("read_file") || !got.Ceiling.ReadOnly || got.Model != "" {
		t.Errorf("below it: %+v, %v", got, err)
	}
}

func TestStoredSpecs(t *testing.T) {
	for stored, want := range map[string]string{
		"{}": "", `{"readOnly": true, "tools": {"allow": ["read_file"]}}`: "", // as the older program stores them
		"": "no JSON object", "null": "no JSON object", "[]": "no JSON object", ` {}`: "no JSON object", "{": "unexpected EOF",
		`{"hosts":["a"]}`: "unknown field", `{"readOnly":"yes"}`: "cannot unmarshal", `{}{}`: "stands behind", `{} x`: "stands behind",
		`{"permission":{"write":"maybe"}}`: "maybe", `{"tools":{"deny":[null]}}`: "empty name", `{"maxTurns":-1}`: "maxTurns",
		`{"workspace":"x"}`: "not absolute", `{"instructions":"` + strings.Repeat("x", maxStored) + `"}`: "too large",
	} {
		if _, err := decode(stored); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %q", stored, err, want)
		}
	}
	full := plug.ChildSpec{
		Parent: "p", ID: "i", Title: "t", Agent: "a", Instructions: "\"<>", Tools: plug.ToolFilter{Allow: []string{"a*"}, Deny: []string{"b"}},
		Model: "m", ReadOnly: true, Permission: plug.Permissions{Write: "ask", Process: "deny", External: "allow"}, Workspace: "/x",
		MaxTurns: 1, TimeoutMs: 2, MaxTokens: 3, MaxOutputTokens: 4,
	}
	stored, err := encode(full)
	must(t, err)
	got, err := decode(stored)
	full.Parent, full.ID = "", ""
	if again, _ := encode(got); err != nil || again != stored || strings.Contains(stored, "parent") {
		t.Errorf("got %+v from %s, %v", got, stored, err)
	}
}

// The property of the package (spec plugins.md): no child ever holds a capability, a
// tool or an approval beyond the ceiling of any of its ancestors.
//
// The oracle knows the specs that the tree was made of and neither Meet nor the
// filters of package perm: it asks each ancestor by itself, with regular expressions
// for the names, and takes the strictest.
func TestNoChildIsAboveAnAncestor(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 11))
	seen := map[string]int{} // that the trees are worth something
	compiled := map[string]*regexp.Regexp{}
	for n := range trees {
		tree := plant(t, random, compiled)
		for _, node := range tree.nodes {
			tree.compare(node, seen)
			if t.Failed() {
				t.Fatalf("in tree %d, at %s:\n%s", n, node.id, tree)
			}
		}
	}
	for _, what := range []string{"allow", "ask", "deny", "garbage above", "tool", "no tool", "depth 6", "read-only"} {
		if seen[what] < trees/20 {
			t.Errorf("%q came up %d times only", what, seen[what])
		}
	}
}

var propertyTools = []string{"bg_list", "git_diff", "git_status", "mcp_a_read", "mcp_a_write", "read_file", "shell", "write_file"}

type tree struct {
	*bench
	policy perm.Policy
	nodes  []*node
}

type node struct {
	id      string
	above   *node
	spec    plug.ChildSpec
	garbage string
	depth   int
	// compiled are the patterns of all trees.
	compiled map[string]*regexp.Regexp
}

func (n *node) isGarbage() bool { return n.garbage != "-" }

// plant makes a tree of up to nine sessions below a root with a random policy.
func plant(t *testing.T, random *rand.Rand, compiled map[string]*regexp.Regexp) *tree {
	b := newBench(t)
	b.tools = propertyTools
	tr := &tree{bench: b, policy: randomPolicy(random)}
	b.ceiling = tr.policy.Ceiling
	b.ceiling.ReadOnly = b.ceiling.ReadOnly || tr.policy.ReadOnly
	for range 1 + random.IntN(9) {
		var above *node
		if len(tr.nodes) > 0 && random.IntN(4) > 0 {
			above = tr.nodes[len(tr.nodes)-1-random.IntN(min(2, len(tr.nodes)))]
		}
		if above != nil && above.depth == 6 {
			continue
		}
		n := &node{above: above, spec: randomSpec(random), garbage: "-", depth: 1, compiled: compiled}
		parent := root
		if above != nil {
			parent, n.depth = above.id, above.depth+1
		}
		if random.IntN(12) > 0 {
			n.id = b.spawn(parent, n.spec)
		} else {
			n.id, n.garbage = b.id(), randomGarbage(random, n.spec)
			must(t, b.store.CreateChild(context.Background(), session.Session{ID: n.id, Parent: parent, Depth: n.depth, Status: "completed"}, n.garbage))
		}
		tr.nodes = append(tr.nodes, n)
	}
	return tr
}

func randomPolicy(random *rand.Rand) perm.Policy {
	flag := func() bool { return random.IntN(3) == 0 }
	p := perm.Policy{
		Mode: []perm.Mode{"", perm.ModeAsk, perm.ModeAuto, perm.ModeFull}[random.IntN(4)], AllowWrite: flag(), AllowProcess: flag(), AllowExternal: flag(),
		ReadOnly: random.IntN(20) == 0,
	}
	limit := func() perm.Cap {
		return []perm.Cap{perm.CapNone, perm.CapNone, perm.CapNone, perm.CapAsk, perm.CapDeny}[random.IntN(5)]
	}
	p.Ceiling = perm.Ceiling{ReadOnly: random.IntN(20) == 0, Write: limit(), Process: limit(), External: limit()}
	return p
}

func randomSpec(random *rand.Rand) plug.ChildSpec {
	word := func() plug.Permission {
		return []plug.Permission{"", "", plug.PermissionAllow, plug.PermissionAllow, plug.PermissionAsk, plug.PermissionDeny}[random.IntN(6)]
	}
	names := func(odds int) (all []string) {
		for random.IntN(odds) > 0 {
			all = append(all, randomPattern(random))
		}
		return all
	}
	s := plug.ChildSpec{
		Agent: "x", ReadOnly: random.IntN(12) == 0, Permission: plug.Permissions{Write: word(), Process: word(), External: word()},
		MaxTurns: random.IntN(3),
	}
	if random.IntN(2) == 0 {
		s.Tools.Allow = names(6)
	}
	if random.IntN(3) == 0 {
		s.Tools.Deny = names(2)
	}
	return s
}

// randomPattern is a name with some of it starred, or something else.
func randomPattern(random *rand.Rand) string {
	name := propertyTools[random.IntN(len(propertyTools))]
	switch random.IntN(6) {
	case 0:
		return "*"
	case 1:
		return name
	case 2:
		return []string{"unknown", "*_*", "**", "*file", "m*p*a*e", "_*", "SHELL"}[random.IntN(7)]
	}
	from := random.IntN(len(name))
	to := from + random.IntN(len(name)-from) + 1
	return name[:from] + "*" + name[to:]
}

// randomGarbage is a stored spec that can not be read.
func randomGarbage(random *rand.Rand, s plug.ChildSpec) string {
	good, _ := encode(s)
	switch random.IntN(9) {
	case 0:
		return good[:random.IntN(len(good))]
	case 1:
		return good + good
	case 2:
		return strings.Replace(good, `{`, `{"more":true,`, 1)
	case 3:
		return `{"permission":{"write":"always"}}`
	case 4:
		return `{"tools":["read_file"]}`
	case 5:
		return []string{"", "null", "true", "[]", `"{}"`, "\x00", " {}"}[random.IntN(7)]
	case 6:
		return `{"readOnly":1}`
	case 7:
		return `{"tools":{"allow":[""]}}`
	}
	bytes := make([]byte, random.IntN(40))
	for i := range bytes {
		bytes[i] = byte(random.IntN(256))
	}
	return "~" + string(bytes)
}

// level orders what may happen: 0 deny, 1 ask, 2 allow.
type level int

var levelNames = []string{"deny", "ask", "allow"}

// leaves is what one session alone leaves of an effect that changes something.
func (n *node) leaves(effect string) level {
	if n.isGarbage() || n.spec.ReadOnly {
		return 0
	}
	p := n.spec.Permission.External
	switch effect {
	case "write":
		p = n.spec.Permission.Write
	case "process":
		p = n.spec.Permission.Process
	}
	return map[plug.Permission]level{"": 2, "allow": 2, "ask": 1, "deny": 0}[p]
}

// uses is whether one session alone leaves a tool.
func (n *node) uses(tool string) bool {
	matches := func(pattern string) bool {
		re := n.compiled[pattern]
		if re == nil {
			re = regexp.MustCompile(`\A(?s:` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `)\z`)
			n.compiled[pattern] = re
		}
		return re.MatchString(tool)
	}
	return !n.isGarbage() && (len(n.spec.Tools.Allow) == 0 || slices.ContainsFunc(n.spec.Tools.Allow, matches)) &&
		!slices.ContainsFunc(n.spec.Tools.Deny, matches)
}

// root is what the policy leaves of an effect, its own ceiling aside, and that.
func (tr *tree) root(effect string) (policy, ceiling level) {
	bare := tr.policy
	bare.Ceiling = perm.Ceiling{}
	limit := tr.policy.Ceiling.External
	switch effect {
	case "write":
		limit = tr.policy.Ceiling.Write
	case "process":
		limit = tr.policy.Ceiling.Process
	}
	ceiling = map[perm.Cap]level{perm.CapNone: 2, perm.CapAsk: 1, perm.CapDeny: 0}[limit]
	if tr.policy.Ceiling.ReadOnly || tr.policy.ReadOnly {
		ceiling = 0
	}
	return level(bare.Decide(effect).Decision), ceiling
}

// compare holds what a session may do against what each of those above it leaves.
func (tr *tree) compare(n *node, seen map[string]int) {
	ctx := context.Background()
	got, err := tr.Capabilities(ctx, n.id)
	ceiling, err2 := tr.Ceiling(ctx, n.id)
	if err := errors.Join(err, err2); err != nil {
		tr.t.Error(err)
		return
	}
	policy := tr.policy
	policy.Ceiling = ceiling
	for effect, said := range map[string]plug.Permission{"write": got.Permission.Write, "process": got.Permission.Process, "external": got.Permission.External} {
		allowed, most := tr.root(effect)
		for at := n; at != nil; at = at.above {
			most = min(most, at.leaves(effect))
		}
		if string(said) != levelNames[most] {
			tr.t.Errorf("%s: the capabilities say %s, the strictest says %s", effect, said, levelNames[most])
		}
		if decided := level(policy.Decide(effect).Decision); decided != min(allowed, most) {
			tr.t.Errorf("%s: decided %s, the strictest says %s", effect, levelNames[decided], levelNames[min(allowed, most)])
		}
		seen[levelNames[most]]++
	}
	// Words that are no effect count as external; to look is never forbidden here.
	_, external := tr.root("external")
	for at := n; at != nil; at = at.above {
		external = min(external, at.leaves("external"))
	}
	if d := level(policy.Decide("something").Decision); d > external {
		tr.t.Errorf("an unknown effect: %s beyond %s", levelNames[d], levelNames[external])
	}
	for _, tool := range propertyTools {
		may := true
		for at := n; at != nil; at = at.above {
			may = may && at.uses(tool)
		}
		if ceiling.Admits(tool) != may || slices.Contains(got.Tools, tool) != may {
			tr.t.Errorf("%s: the ceiling says %v, the capabilities %q, want %v", tool, ceiling.Admits(tool), got.Tools, may)
		}
		seen[map[bool]string{true: "tool", false: "no tool"}[may]]++
	}
	readOnly := tr.policy.ReadOnly || tr.policy.Ceiling.ReadOnly
	for at := n; at != nil; at = at.above {
		readOnly = readOnly || at.isGarbage() || at.spec.ReadOnly
		if at.isGarbage() && at != n {
			seen["garbage above"]++
		}
	}
	if got.ReadOnly != readOnly || !slices.IsSorted(got.Tools) {
		tr.t.Errorf("read-only %v, want %v; tools %q", got.ReadOnly, readOnly, got.Tools)
	}
	if readOnly {
		seen["read-only"]++
	}
	seen[fmt.Sprintf("depth %d", n.depth)]++
}

func (tr *tree) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy %+v\n", tr.policy)
	for _, n := range tr.nodes {
		parent := root
		if n.above != nil {
			parent = n.above.id
		}
		fmt.Fprintf(&b, "%s below %s: %+v, garbage %q\n", n.id, parent, n.spec, n.garbage)
	}
	return b.String()
}
