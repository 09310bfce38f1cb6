package models

import "golang.org/x/sys/cpu"

// hasAVX2 is whether the processor and the operating system support what the functions in
// kernel_amd64.s use.
var hasAVX2 = cpu.X86.HasAVX2

// The loops of kernel_vector.go. n is a multiple of 8 and not 0.

//go:noescape
func distanceAVX2(x *float64, v *byte, n int) float64

//go:noescape
func weighAVX2(sum *float64, v *byte, c float64, n int)
