#include "textflag.h"

// The functions compute the same as the loops in vector.go, with the same operations and
// sums, without fused multiply-add, so that the results have the same bits.

// SUM8 sets X0 to the sum of the lanes of Y0 and Y1: ((a + b) + c) + d, where each term is
// the sum of one lane of each. It uses X2.
#define SUM8 \
	VADDPD       Y1, Y0, Y0     \
	VEXTRACTF128 $1, Y0, X1     \
	VUNPCKHPD    X0, X0, X2     \
	VADDSD       X2, X0, X0     \
	VADDSD       X1, X0, X0     \
	VUNPCKHPD    X1, X1, X1     \
	VADDSD       X1, X0, X0

// func dotAVX(x, y *float64, n int) float64
TEXT ·dotAVX(SB), NOSPLIT, $0-32
	MOVQ   x+0(FP), SI
	MOVQ   y+8(FP), DI
	MOVQ   n+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

dot:
	VMOVUPD (SI), Y2
	VMOVUPD 32(SI), Y3
	VMULPD  (DI), Y2, Y2
	VMULPD  32(DI), Y3, Y3
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y1, Y1
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNE     dot
	SUM8
	VMOVSD  X0, ret+24(FP)
	VZEROUPPER
	RET

// PRODUCTS adds the products of the eight numbers in Y10 and Y11 with those at y, BX bytes
// further, to the sums in a and b. It uses Y12 and Y13.
#define PRODUCTS(y, a, b) \
	VMULPD (y)(BX*1), Y10, Y12   \
	VMULPD 32(y)(BX*1), Y11, Y13 \
	VADDPD Y12, a, a             \
	VADDPD Y13, b, b

// RESULT stores the sum of the lanes of a and b, as SUM8 finds it, at to. x is the lower half
// of a. It uses X12 and X13.
#define RESULT(a, b, x, to) \
	VADDPD       b, a, a       \
	VEXTRACTF128 $1, a, X12    \
	VUNPCKHPD    x, x, X13     \
	VADDSD       X13, x, x     \
	VADDSD       X12, x, x     \
	VUNPCKHPD    X12, X12, X12 \
	VADDSD       X12, x, x     \
	VMOVSD       x, to

// func dots3AVX(s *[3]float64, x, y0, y1, y2 *float64, n int)
TEXT ·dots3AVX(SB), NOSPLIT, $0-48
	MOVQ   s+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   y0+16(FP), R8
	MOVQ   y1+24(FP), R9
	MOVQ   y2+32(FP), R10
	MOVQ   n+40(FP), CX
	XORQ   BX, BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5

dots3:
	VMOVUPD (SI)(BX*1), Y10
	VMOVUPD 32(SI)(BX*1), Y11
	PRODUCTS(R8, Y0, Y1)
	PRODUCTS(R9, Y2, Y3)
	PRODUCTS(R10, Y4, Y5)
	ADDQ    $64, BX
	SUBQ    $8, CX
	JNE     dots3
	RESULT(Y0, Y1, X0, 0(DI))
	RESULT(Y2, Y3, X2, 8(DI))
	RESULT(Y4, Y5, X4, 16(DI))
	VZEROUPPER
	RET

// func dots5AVX(s *[5]float64, x, y0, y1, y2, y3, y4 *float64, n int)
TEXT ·dots5AVX(SB), NOSPLIT, $0-64
	MOVQ   s+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   y0+16(FP), R8
	MOVQ   y1+24(FP), R9
	MOVQ   y2+32(FP), R10
	MOVQ   y3+40(FP), R11
	MOVQ   y4+48(FP), R12
	MOVQ   n+56(FP), CX
	XORQ   BX, BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9

dots5:
	VMOVUPD (SI)(BX*1), Y10
	VMOVUPD 32(SI)(BX*1), Y11
	PRODUCTS(R8, Y0, Y1)
	PRODUCTS(R9, Y2, Y3)
	PRODUCTS(R10, Y4, Y5)
	PRODUCTS(R11, Y6, Y7)
	PRODUCTS(R12, Y8, Y9)
	ADDQ    $64, BX
	SUBQ    $8, CX
	JNE     dots5
	RESULT(Y0, Y1, X0, 0(DI))
	RESULT(Y2, Y3, X2, 8(DI))
	RESULT(Y4, Y5, X4, 16(DI))
	RESULT(Y6, Y7, X6, 24(DI))
	RESULT(Y8, Y9, X8, 32(DI))
	VZEROUPPER
	RET

// func totalAVX(x *float64, n int) float64
TEXT ·totalAVX(SB), NOSPLIT, $0-24
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

total:
	VADDPD (SI), Y0, Y0
	VADDPD 32(SI), Y1, Y1
	ADDQ   $64, SI
	SUBQ   $8, CX
	JNE    total
	SUM8
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET

// func shiftAVX(dst, x *float64, c float64, n int)
TEXT ·shiftAVX(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSD c+16(FP), Y3
	MOVQ         n+24(FP), CX

shift:
	VMOVUPD (SI), Y0
	VSUBPD  Y3, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     shift
	VZEROUPPER
	RET

// func productAVX(dst, x, y *float64, n int)
TEXT ·productAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX

product:
	VMOVUPD (SI), Y0
	VMULPD  (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     product
	VZEROUPPER
	RET

// func accumulateAVX(dst, x *float64, n int)
TEXT ·accumulateAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX

accumulate:
	VMOVUPD (DI), Y0
	VADDPD  (SI), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     accumulate
	VZEROUPPER
	RET

// TENTAPS multiplies ten samples at off(SI) with the factors in Y13 to Y15, and sets each
// lane of y to the sum of every fourth product. It uses t.
#define TENTAPS(off, y, x, t) \
	VMULPD off(SI), Y13, y        \
	VMULPD (off+32)(SI), Y14, t   \
	VADDPD t, y, y                \
	VMOVUPD (off+64)(SI), x       \
	VMULPD x, X15, x              \
	VADDPD t, y, y

// func quarterAVX(dst, x, taps *float64, mean float64, n int)
TEXT ·quarterAVX(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         taps+16(FP), DX
	VBROADCASTSD mean+24(FP), Y12
	MOVQ         n+32(FP), CX
	VMOVUPD      (DX), Y13
	VMOVUPD      32(DX), Y14
	VMOVUPD      64(DX), X15

quarter:
	TENTAPS(0, Y0, X4, Y4)
	TENTAPS(32, Y1, X5, Y5)
	TENTAPS(64, Y2, X6, Y6)
	TENTAPS(96, Y3, X7, Y7)
	VHADDPD    Y1, Y0, Y0
	VHADDPD    Y3, Y2, Y2
	VPERM2F128 $0x20, Y2, Y0, Y1
	VPERM2F128 $0x31, Y2, Y0, Y3
	VADDPD     Y3, Y1, Y0
	VSUBPD     Y12, Y0, Y0
	VMOVUPD    Y0, (DI)
	ADDQ       $128, SI
	ADDQ       $32, DI
	SUBQ       $4, CX
	JNE        quarter
	VZEROUPPER
	RET
