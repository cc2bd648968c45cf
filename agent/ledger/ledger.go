// Package ledger keeps the budget of a run and of all that runs below it (spec
// runner.md, "Budgets are hard"): every request reserves what it may take before it is
// sent, and settles on what it took.
//
//	Reserve ─ does it fit? here and in every ledger above ─┬─ no ─► CauseBudget
//	                                                       └─ yes ─► send ─► Settle
//
// It knows no session, no clock and no store. A budget can be passed only by what a
// server counts beyond the estimate of the requests that were under way.
package ledger

import (
	"fmt"
	"math"
	"sync"

	"alisio/llm"
)

// Limits are a budget; zero is none.
type Limits struct {
	// MaxTokens bounds input that was not cached and output together.
	MaxTokens int
	// MaxCost bounds the cost by the prices of the models, in their currency.
	MaxCost float64
}

const (
	// leastRatio is how much more than its estimate a request counts as at least, and
	// mostRatio at most: a server that reports nonsense stops no run by that alone.
	leastRatio = 1.2
	mostRatio  = 10.0
	// leastOutput is the smallest cap of an answer that is of use, in tokens.
	leastOutput = 256
	// most is what one request is taken to have used at most, in tokens: no sum of
	// them goes beyond what is counted.
	most = int64(1) << 40
	// million is what prices are for.
	million = 1e6
)

// Ledger is the account of one run. It is safe for concurrent use, together with all
// of its tree.
type Ledger struct {
	tree   *tree
	above  *Ledger
	limits Limits
	// spent is settled, out reserved; both include what is below.
	spent, out sum
	entries    []Entry
}

// tree is what the ledgers of a tree share.
type tree struct {
	mu sync.Mutex
	// ratio is reported to estimated input, by model.
	ratio map[string]float64
}

// sum is an amount in tokens and in millionths of the currency.
type sum struct {
	tokens int64
	cost   float64
}

// Entry is a request that was settled, for the table of what was spent on what.
type Entry struct {
	// For is what the request was for, By who asked for it, where it says more.
	For, By string
	Model   string
	Usage   llm.Usage
	// Cost is by the price of the model, zero without one.
	Cost float64
	// Estimated: the server reported no usage.
	Estimated bool
}

// New begins the account of a run that nothing is above.
func New(l Limits) *Ledger { return &Ledger{tree: &tree{ratio: map[string]float64{}}, limits: l} }

// Below begins the account of a run below this one: what it takes counts here, too.
func (l *Ledger) Below(limits Limits) *Ledger { return &Ledger{tree: l.tree, above: l, limits: limits} }

// Used is what a run that this one goes on with had taken before, in tokens and in the
// currency of prices.
func (l *Ledger) Used(tokens int, cost float64) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	for at := l; at != nil; at = at.above {
		at.spent.tokens += clamp(tokens)
		at.spent.cost += max(0, cost) * million
	}
}

// Ask is a request that is about to be sent.
type Ask struct {
	// By is who asks for it, where that is not the run itself.
	By    string
	Model llm.Model
	// Input is an estimate, Output the cap of the answer, in tokens.
	Input, Output int
}

// Reservation holds what a request may take until it is settled.
type Reservation struct {
	l    *Ledger
	ask  Ask
	held sum
	done bool
	// Output is the cap that the budget leaves.
	Output int
}

// Reserve takes what a request may use out of the budget: its estimate times the ratio
// last reported, and its cap, which is lowered to what is left. A request for which
// nothing useful is left is an llm.CauseBudget.
func (l *Ledger) Reserve(a Ask) (*Reservation, error) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	input := float64(clamp(a.Input)) * l.tree.of(a.Model.ID)
	r := &Reservation{l: l, ask: a, Output: a.Output}
	for at := l; at != nil; at = at.above {
		left, err := at.left(a, input)
		if err != nil {
			return nil, err
		}
		r.Output = min(r.Output, left)
	}
	r.held = sum{tokens: int64(input) + int64(r.Output)}
	if p := a.Model.Price; p != nil {
		r.held.cost = input*p.Input + float64(r.Output)*p.Output
	}
	for at := l; at != nil; at = at.above {
		at.out.tokens += r.held.tokens
		at.out.cost += r.held.cost
	}
	return r, nil
}

// left is how many tokens of an answer the budget of one ledger leaves; mu is held.
func (l *Ledger) left(a Ask, input float64) (output int, err error) {
	output = a.Output
	least := min(leastOutput, a.Output)
	if limit := l.limits.MaxTokens; limit > 0 {
		room := int64(limit) - l.spent.tokens - l.out.tokens - int64(input)
		if room < int64(least) {
			needs := int64(input) + int64(least)
			return 0, l.over(fmt.Sprintf("%d tokens (%s)", limit, l.name()), fmt.Sprintf("%d are used", l.spent.tokens),
				fmt.Sprintf("about %d more with its answer", needs), needs > int64(limit))
		}
		output = int(min(int64(output), room))
	}
	limit := l.limits.MaxCost * million
	if limit <= 0 {
		return output, nil
	}
	p := a.Model.Price
	if p == nil {
		return 0, llm.Errorf(llm.CauseBudget, "limits.maxCost is set, and nobody knows what %s costs", a.Model.ID).
			WithHint("set models." + a.Model.ID + ".price, or limits.maxTokens in place of limits.maxCost")
	}
	room := limit - l.spent.cost - l.out.cost - input*p.Input
	if room < float64(least)*p.Output {
		needs := input*p.Input + float64(least)*p.Output
		return 0, l.over(fmt.Sprintf("%g (limits.maxCost)", l.limits.MaxCost), fmt.Sprintf("%.4g is spent", l.spent.cost/million),
			fmt.Sprintf("about %.4g more", needs/million), needs > limit)
	}
	if p.Output > 0 {
		output = int(min(float64(output), room/p.Output))
	}
	return output, nil
}

// name is where the limit of tokens stands: a run below another has one of its own.
func (l *Ledger) name() string {
	if l.above != nil {
		return "maxTokens of this child"
	}
	return "limits.maxTokens"
}

// over is the error of a request for which there is no room; never: the whole budget has
// none, so that a new prompt would end the same way.
func (l *Ledger) over(limit, used, needs string, never bool) error {
	beside := ""
	if l.out.tokens > 0 {
		beside = ", other requests are under way"
	}
	hint := "raise the limit, or go on with a new prompt, which has the whole budget again"
	if never {
		hint = "raise the limit: it is less than one request of this conversation takes"
	}
	return llm.Errorf(llm.CauseBudget, "the budget of this run, %s, leaves no room for another request: %s%s, and it takes %s", limit, used, beside, needs).
		WithHint(hint)
}

// Settle puts what a request took in the place of what was held for it. Of several
// calls the first counts. reason says what it was for, see Entry. Estimated: the server
// did not report it.
func (r *Reservation) Settle(reason string, u llm.Usage, estimated bool) {
	if r == nil {
		return
	}
	r.l.tree.mu.Lock()
	defer r.l.tree.mu.Unlock()
	if !r.back() {
		return
	}
	if !estimated && r.ask.Input > 0 && u.Input > 0 {
		r.l.tree.ratio[r.ask.Model.ID] = min(mostRatio, max(leastRatio, float64(clamp(u.Input))/float64(r.ask.Input)))
	}
	took := amount(u, r.ask.Model.Price)
	for at := r.l; at != nil; at = at.above {
		at.spent.tokens = min(at.spent.tokens+took.tokens, math.MaxInt64/2)
		at.spent.cost += took.cost
	}
	r.l.entries = append(r.l.entries, Entry{For: reason, By: r.ask.By, Model: r.ask.Model.ID, Usage: u, Cost: took.cost / million, Estimated: estimated})
}

// Release gives back what was held for a request of which nothing was used.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.l.tree.mu.Lock()
	defer r.l.tree.mu.Unlock()
	r.back()
}

// back gives back what is held, and reports false where that was done; mu is held.
func (r *Reservation) back() bool {
	if r.done {
		return false
	}
	r.done = true
	for at := r.l; at != nil; at = at.above {
		at.out.tokens -= r.held.tokens
		at.out.cost -= r.held.cost
	}
	return true
}

// Take returns what was settled in this ledger since the last call.
func (l *Ledger) Take() []Entry {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	entries := l.entries
	l.entries = nil
	return entries
}

// Spent is what the run and all below it took, in tokens and in the currency of prices.
func (l *Ledger) Spent() (tokens int64, cost float64) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	return l.spent.tokens, l.spent.cost / million
}

// Passed says by how much the budget is passed, empty if it is not: a server counted
// more than was estimated.
func (l *Ledger) Passed() string {
	if l == nil {
		return ""
	}
	tokens, cost := l.Spent()
	switch {
	case l.limits.MaxTokens > 0 && tokens > int64(l.limits.MaxTokens):
		return fmt.Sprintf("%d tokens were used, %d more than %s: the server counted more than was estimated",
			tokens, tokens-int64(l.limits.MaxTokens), l.name())
	case l.limits.MaxCost > 0 && cost > l.limits.MaxCost:
		return fmt.Sprintf("the run cost %.4g, more than %g (limits.maxCost): the server counted more than was estimated", cost, l.limits.MaxCost)
	}
	return ""
}

// of is how much more than estimated a request of a model counts as; mu is held.
func (t *tree) of(model string) float64 { return max(leastRatio, t.ratio[model]) }

// amount is what a usage counts as: cached input has its price, and is no token.
func amount(u llm.Usage, p *llm.Price) sum {
	in, out, cached := clamp(u.Input), clamp(u.Output), clamp(u.CachedInput)
	cached = min(cached, in)
	s := sum{tokens: in - cached + out}
	if p != nil {
		s.cost = float64(in-cached)*p.Input + float64(cached)*p.CachedInput + float64(out)*p.Output
	}
	return s
}

// Cost is what a usage costs by a price, in its currency.
func Cost(u llm.Usage, p llm.Price) float64 { return amount(u, &p).cost / million }

// Sane is a usage in numbers that sums hold, whatever a provider reports, and nil where
// that counts nothing.
func Sane(u *llm.Usage) *llm.Usage {
	if u == nil {
		return nil
	}
	in := int(clamp(u.Input))
	v := llm.Usage{Input: in, Output: int(clamp(u.Output)), CachedInput: min(in, int(clamp(u.CachedInput))), Reasoning: int(clamp(u.Reasoning))}
	if v == (llm.Usage{}) {
		return nil
	}
	return &v
}

func clamp(n int) int64 { return max(0, min(int64(n), most)) }
