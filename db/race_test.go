//go:build race

package db

// damageStride: of so many tests of damaged databases one is taken. SQLite takes
// twenty times as long under the race detector, where the tests have one goroutine
// each; without it all are taken.
const damageStride = 5
