// Package gemm multiplies matrices of float32: C = A·B, in the manner of
// GotoBLAS (Goto and van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, 2008) and BLIS (Van Zee and van de Geijn, 2015).
//
// B, which is a layer's weights or an attention head's keys or values, is
// packed once into panels of 16 columns, in which a row of 16 numbers is 64
// consecutive bytes: one register of AVX-512, two of AVX, four of NEON. The
// layout is the same for all of them.
//
// C is cut into blocks ([Product.Blocks]), which may be computed in any order
// and at once, and a block into tiles that stay in registers while a kernel
// walks along k. A part of two panels of B stays in the first-level cache while
// the tiles of a block pass over it, and the block's part of A in the second.
// Unlike GotoBLAS, A is not packed: a kernel reaches its few rows with the
// stride of the caller's array. The second-level cache delivers these numbers
// as fast as they are used, and a convolution is then a product whose rows of
// A overlap, with no copy.
//
// Every number of C is a sum in an order that depends on the kernel alone, not
// on how blocks were shared out. Kernels differ among each other by rounding.
package gemm
