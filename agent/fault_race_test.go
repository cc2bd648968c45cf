//go:build race

package agent

// faultStride: of so many steps of a fault test one is taken. Under the race detector
// a victim takes twenty times as long; without it all are taken.
const faultStride = 13
