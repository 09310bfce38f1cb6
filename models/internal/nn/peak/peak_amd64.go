// Package peak keeps a processor busy with independent products in registers, for the
// benchmarks of package gemm: their rate is the peak for the instructions of a kernel.
package peak

// Operations of one turn: twelve products of 16 or 8 numbers, two operations each; BF16
// has four.
const (
	OperationsAVX512 = 12 * 16 * 2
	OperationsFMA    = 12 * 8 * 2
	OperationsBF16   = 12 * 16 * 4
)

// AVX512 computes n turns of VFMADD231PS on registers of 512 bits. The processor must
// have AVX-512F.
//
//go:noescape
func AVX512(n int)

// FMA computes n turns of VFMADD231PS on registers of 256 bits. The processor must have
// FMA.
//
//go:noescape
func FMA(n int)

// BF16 computes n turns of VDPBF16PS. The processor must have AVX512_BF16.
//
//go:noescape
func BF16(n int)
