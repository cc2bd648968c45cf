//go:build race

package agent

// faultStride is how many steps of a fault test are passed over: under the race
// detector a victim takes twenty times as long, and all steps are taken without.
const faultStride = 13
