package config

import (
	"slices"
	"strconv"
)

// Model is what the configuration says about one model. Zero means unset.
type Model struct {
	// ContextWindow and MaxOutputTokens are in tokens.
	ContextWindow   int
	MaxOutputTokens int
	// Effort lists the reasoning efforts that the model takes, lowest first.
	Effort []string
	// Price is nil when unset.
	Price *Price
}

// Price is what a million tokens cost, in any one currency.
type Price struct {
	Input, Output float64
	// CachedInput is Input where the configuration does not tell it.
	CachedInput float64
}

// model changes the entry of one model.
func (c *Config) model(id string, change func(*Model)) {
	m := c.Models[id]
	change(&m)
	if c.Models == nil {
		c.Models = map[string]Model{}
	}
	c.Models[id] = m
}

// money is a price for a million tokens, in the currency of the reader's choice.
func money(set func(*Price, float64)) rule {
	return takes("a number from 0 to 1000000, for a million tokens", func(v node) (float64, bool) {
		f, err := strconv.ParseFloat(v.text, 64)
		return f, v.kind == isNumber && err == nil && f >= 0 && f <= 1e6
	}, func(c *Config, id string, f float64) {
		c.model(id, func(m *Model) {
			if m.Price == nil {
				m.Price = &Price{}
			}
			set(m.Price, f)
		})
	})
}

// effort reads the names of reasoning efforts.
func (w *walker) effort(all []node) []string {
	levels := make([]string, 0, len(all))
	for _, v := range all {
		if v.kind != isString || v.text == "" || !printable(v.text) || slices.Contains(levels, v.text) {
			w.wrong(v, "the name of a reasoning effort, each once")
			continue
		}
		levels = append(levels, v.text)
	}
	return levels
}

// prices completes the prices of c, which come key by key: one without input or
// output would count half of a run as free.
func prices(c *Config, root node) (errs []error) {
	models, _ := root.get("models")
	for _, f := range models.fields {
		price, ok := f.value.get("price")
		if !ok || c.Models[f.name].Price == nil {
			continue
		}
		for _, name := range []string{"input", "output"} {
			if _, ok := price.get(name); !ok {
				errs = append(errs, price.src.errorf(price.start, "%s: found no %q, allowed: input, output and, where it differs, cachedInput",
					quote("models."+f.name+".price"), name))
			}
		}
		if _, ok := price.get("cachedInput"); !ok {
			c.Models[f.name].Price.CachedInput = c.Models[f.name].Price.Input
		}
	}
	return errs
}
