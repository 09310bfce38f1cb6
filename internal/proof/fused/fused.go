// Package fused says how exactly tests may compare assembly with Go code of the same
// operations: Go's compiler may fuse a multiplication and an addition, which rounds once.
package fused

// MultiplyAdd reports whether the compiler fuses x·y + z.
func MultiplyAdd() bool { return multiplyAdd(1+0x1p-30, 1+0x1p-30, -(1+0x1p-29)) != 0 }

//go:noinline
func multiplyAdd(x, y, z float64) float64 { return x*y + z }
