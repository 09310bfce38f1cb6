package spoof

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX && cpu.X86.HasAVX2

// cascadeAVX2 passes n ≥ 10 samples, stride bytes apart, through the sections of the first
// five lanes, in place.
//
//go:noescape
func cascadeAVX2(x *float64, n, stride int, c *filterLanes)
