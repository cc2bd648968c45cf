//go:build !race

package agent

// faultStride is 1: a victim is killed at every step.
const faultStride = 1
