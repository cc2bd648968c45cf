//go:build race

package child

// trees are few where each step takes ten times as long: the property is none of
// concurrency, and go test without -race tries all.
const trees = 1_000
