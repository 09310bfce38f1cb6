package pcm

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX && cpu.X86.HasAVX2

// decodeAVX2 converts n samples, a multiple of 8 and not 0.
//
//go:noescape
func decodeAVX2(dst *float64, src *byte, n int)

// encodeAVX2 converts n samples, a multiple of 4 and not 0, and reports whether all are
// 16-bit integers. It ends at the first four of which one is not.
//
//go:noescape
func encodeAVX2(dst *int16, x *float64, n int) bool
