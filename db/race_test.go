//go:build race

package db

// damageStride: of so many tests of damaged databases one is taken. SQLite takes
// twenty times as long under the race detector, where the tests have one goroutine
// each; without it all are taken. A test is parallel to others only if it starts no
// process: between its beginning and its program one keeps the locks of all files
// that are open here.
const damageStride = 5
