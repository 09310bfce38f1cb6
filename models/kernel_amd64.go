package models

import "golang.org/x/sys/cpu"

// hasAVX2 is whether the processor and the operating system support what the functions in
// kernel_amd64.s use.
var hasAVX2 = cpu.X86.HasAVX2

// The loops of kernel_vector.go, for n ≥ 16 bytes.

// productsAVX2 sets the first three sums.
//
//go:noescape
func productsAVX2(sums *[4]int32, high, low *int16, v *byte, n int)

// weighAVX2 takes the upper parts of the weights of a and b, and then the lower ones.
//
//go:noescape
func weighAVX2(high, low *int32, a, b *byte, w *[4]int16, n int)
