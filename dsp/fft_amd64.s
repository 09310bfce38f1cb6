#include "textflag.h"
#include "fft_amd64.h"

// The functions compute the same as the pure Go code in fft_stockham.go and fft.go, two
// or four complex numbers at a time. They use the same operations in the same order, without
// fused multiply-add, so that the results have the same bits.
//
// A complex number is a pair (re, im) of lanes. Operands are in Go's order:
// VSUBPD b, a, d is d = a − b.

// BUTTERFLY is the DFT of the four points in Y0 to Y3, in place. It uses Y4 to
// Y7 and needs the sign bits in Y15.
#define BUTTERFLY \
	VADDPD    Y2, Y0, Y4  \
	VSUBPD    Y2, Y0, Y5  \
	VADDPD    Y3, Y1, Y6  \
	VSUBPD    Y3, Y1, Y7  \
	VPERMILPD $5, Y7, Y7  \
	VXORPD    Y15, Y7, Y7 \
	VADDPD    Y6, Y4, Y0  \
	VADDPD    Y7, Y5, Y1  \
	VSUBPD    Y6, Y4, Y2  \
	VSUBPD    Y7, Y5, Y3

// TWIDDLE loads the factors at off and off+48 of DX: real parts into wr, then
// imaginary parts into wi.
#define TWIDDLE(off, wx, wr, wi) \
	VMOVUPD     off(DX), wx             \
	VINSERTF128 $1, (off+48)(DX), wr, wr \
	VPERMILPD   $15, wr, wi             \
	VMOVDDUP    wr, wr

// func firstStageAVX(y *complex128, x *float64, w *complex128, m, n int)
TEXT ·firstStageAVX(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    m+24(FP), R8
	MOVQ    n+32(FP), CX
	SHLQ    $4, R8           // bytes of a quarter of x
	LEAQ    (R8)(R8*2), R9
	VMOVUPD conjugate<>(SB), Y15

first:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	BUTTERFLY
	TWIDDLE(0, X8, Y8, Y9)
	TWIDDLE(16, X10, Y10, Y11)
	TWIDDLE(32, X12, Y12, Y13)
	TIMES(Y1, Y8, Y9, Y4)
	TIMES(Y2, Y10, Y11, Y5)
	TIMES(Y3, Y12, Y13, Y6)
	VINSERTF128 $1, X1, Y0, Y4
	VINSERTF128 $1, X3, Y2, Y5
	VPERM2F128  $0x31, Y1, Y0, Y6
	VPERM2F128  $0x31, Y3, Y2, Y7
	VMOVUPD     Y4, (DI)
	VMOVUPD     Y5, 32(DI)
	VMOVUPD     Y6, 64(DI)
	VMOVUPD     Y7, 96(DI)
	ADDQ        $32, SI
	ADDQ        $96, DX
	ADDQ        $128, DI
	SUBQ        $2, CX
	JNE         first
	VZEROUPPER
	RET

// func firstStageHalfAVX(y *complex128, x *float64, w *complex128, m, n int)
TEXT ·firstStageHalfAVX(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    m+24(FP), R8
	MOVQ    n+32(FP), CX
	SHLQ    $4, R8           // bytes of a quarter of x
	VMOVUPD conjugate<>(SB), Y15

half:
	VMOVUPD   (SI), Y5
	VMOVUPD   (SI)(R8*1), Y6
	VPERMILPD $5, Y6, Y7
	VXORPD    Y15, Y7, Y7
	VADDPD    Y6, Y5, Y0
	VADDPD    Y7, Y5, Y1
	VSUBPD    Y6, Y5, Y2
	VSUBPD    Y7, Y5, Y3
	TWIDDLE(0, X8, Y8, Y9)
	TWIDDLE(16, X10, Y10, Y11)
	TWIDDLE(32, X12, Y12, Y13)
	TIMES(Y1, Y8, Y9, Y4)
	TIMES(Y2, Y10, Y11, Y5)
	TIMES(Y3, Y12, Y13, Y6)
	VINSERTF128 $1, X1, Y0, Y4
	VINSERTF128 $1, X3, Y2, Y5
	VPERM2F128  $0x31, Y1, Y0, Y6
	VPERM2F128  $0x31, Y3, Y2, Y7
	VMOVUPD     Y4, (DI)
	VMOVUPD     Y5, 32(DI)
	VMOVUPD     Y6, 64(DI)
	VMOVUPD     Y7, 96(DI)
	ADDQ        $32, SI
	ADDQ        $96, DX
	ADDQ        $128, DI
	SUBQ        $2, CX
	JNE         half
	VZEROUPPER
	RET

// func middleStageAVX(y, x, w *complex128, m, s int)
TEXT ·middleStageAVX(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    m+24(FP), CX
	MOVQ    s+32(FP), BX
	SHLQ    $4, BX           // bytes of a run of s points
	MOVQ    BX, R8
	IMULQ   CX, R8           // bytes of a quarter of x
	LEAQ    (R8)(R8*2), R9
	LEAQ    (BX)(BX*2), R10
	VMOVUPD conjugate<>(SB), Y15

outer:
	VBROADCASTSD (DX), Y8
	VBROADCASTSD 8(DX), Y9
	VBROADCASTSD 16(DX), Y10
	VBROADCASTSD 24(DX), Y11
	VBROADCASTSD 32(DX), Y12
	VBROADCASTSD 40(DX), Y13
	ADDQ         $48, DX
	MOVQ         BX, AX

inner:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R9*1), Y3
	BUTTERFLY
	TIMES(Y1, Y8, Y9, Y4)
	TIMES(Y2, Y10, Y11, Y5)
	TIMES(Y3, Y12, Y13, Y6)
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(BX*1)
	VMOVUPD Y2, (DI)(BX*2)
	VMOVUPD Y3, (DI)(R10*1)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $32, AX
	JNE     inner
	ADDQ    R10, DI
	DECQ    CX
	JNE     outer
	VZEROUPPER
	RET

// func lastStage4AVX(y, x *complex128, s int)
TEXT ·lastStage4AVX(SB), NOSPLIT, $0-24
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    s+16(FP), BX
	SHLQ    $4, BX
	LEAQ    (BX)(BX*2), R10
	MOVQ    BX, AX
	VMOVUPD conjugate<>(SB), Y15

four:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(BX*1), Y1
	VMOVUPD (SI)(BX*2), Y2
	VMOVUPD (SI)(R10*1), Y3
	BUTTERFLY
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(BX*1)
	VMOVUPD Y2, (DI)(BX*2)
	VMOVUPD Y3, (DI)(R10*1)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $32, AX
	JNE     four
	VZEROUPPER
	RET

// func lastStage2AVX(y, x *complex128, s int)
TEXT ·lastStage2AVX(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ s+16(FP), BX
	SHLQ $4, BX
	MOVQ BX, AX

two:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(BX*1), Y1
	VADDPD  Y1, Y0, Y2
	VSUBPD  Y1, Y0, Y3
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, (DI)(BX*1)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $32, AX
	JNE     two
	VZEROUPPER
	RET
