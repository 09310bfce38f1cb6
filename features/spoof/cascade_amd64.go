package spoof

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX && cpu.X86.HasAVX2

// cascadeAVX2 passes n ≥ 10 samples, stride bytes apart, through the sections of the first
// five lanes, in place.
//
//go:noescape
func cascadeAVX2(x *float64, n, stride int, c *filterLanes)

// envelopesAVX2 passes 4·n samples, n ≥ 3, through the sections of the first and of the
// last four lanes, and writes of each the roots of the sums of four squares to a and b.
//
//go:noescape
func envelopesAVX2(a, b, x *float64, n int, c *filterLanes)
