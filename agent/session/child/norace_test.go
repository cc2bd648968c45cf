//go:build !race

package child

// trees are how many the property is tried on.
const trees = 10_000
