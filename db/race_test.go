//go:build race

package db

// damageStride is how many of the tests of damaged databases are passed over:
// SQLite takes twenty times as long under the race detector, where the tests
// have one goroutine each. All are taken without.
const damageStride = 5
