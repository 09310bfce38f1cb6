// Package gemm multiplies matrices of float32: C = A·B, in the manner of
// GotoBLAS (Goto and van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, 2008) and BLIS (Van Zee and van de Geijn, 2015).
//
// B, which is a layer's weights or an attention head's keys or values, is
// packed once into panels of 16 columns. A row of a panel is 64 consecutive bytes:
// one register of AVX-512, two of AVX, four of NEON. All kernels share the layout.
//
// C is divided into blocks ([Product.Blocks]), which may be computed in any order
// and at the same time. A block is divided into tiles, which stay in registers
// while a kernel sums along k. A part of two panels of B stays in the first-level
// cache for all tiles of a block, and the block's part of A in the second. Unlike
// GotoBLAS, A is not packed: a kernel reads its few rows with the stride of the
// caller's array. The second-level cache delivers these numbers fast enough, and a
// convolution is a product whose rows of A overlap, without a copy.
//
// The order of each sum in C depends on the kernel alone, not on the distribution
// of blocks. The results of kernels for float32 and for pairs differ by rounding, those for
// quads of integers not at all.
package gemm
