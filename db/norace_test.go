//go:build !race

package db

// damageStride is 1: every test of a damaged database is taken.
const damageStride = 1
