#include "textflag.h"
#include "fft_amd64.h"

// The functions take the transform of real samples from the complex one of half the length,
// and its powers, as the pure Go code in fft.go does, with the same bits.

// SEPARATE loads Z[k] and Z[k+1] at SI, Z[h−k] and Z[h−k−1] below R8, and the factors w
// at DX. It sets Y3 to E and Y4 to w·O. It uses Y0 to Y6 and needs ½ in Y14 and the sign
// bits in Y15.
#define SEPARATE \
	VMOVUPD    (SI), Y0          \
	VMOVUPD    (R8), Y1          \
	VPERM2F128 $1, Y1, Y1, Y1    \
	VADDPD     Y1, Y0, Y2        \
	VSUBPD     Y1, Y0, Y0        \
	VBLENDPD   $10, Y0, Y2, Y3   \
	VBLENDPD   $5, Y0, Y2, Y4    \
	VPERMILPD  $5, Y4, Y4        \
	VXORPD     Y15, Y4, Y4       \
	VMULPD     Y14, Y3, Y3       \
	VMULPD     Y14, Y4, Y4       \
	VMOVUPD    (DX), Y5          \
	VPERMILPD  $15, Y5, Y6       \
	VMOVDDUP   Y5, Y5            \
	TIMES(Y4, Y5, Y6, Y1)

// APART sets the lanes of Y2 to 2·E[k+i], those of Y3 to its imaginary part, and Y0 and
// Y1 to those of 2·w·O[k+i], for i = 0 … 3, from Z[k] to Z[k+3] at SI, Z[h−k−3] to Z[h−k]
// at R8, and the factors w at DX. It uses Y4 to Y9.
#define APART \
	QUARTET(0, 16, 32, 48, SI, Y2, Y3, X0, Y0, X1, Y1) \
	QUARTET(48, 32, 16, 0, R8, Y4, Y5, X0, Y0, X1, Y1) \
	VADDPD Y5, Y3, Y6 \
	VSUBPD Y2, Y4, Y7 \
	VADDPD Y4, Y2, Y2 \
	VSUBPD Y5, Y3, Y3 \
	QUARTET(0, 16, 32, 48, DX, Y4, Y5, X0, Y0, X1, Y1) \
	VMULPD Y4, Y6, Y0 \
	VMULPD Y5, Y7, Y8 \
	VMULPD Y4, Y7, Y1 \
	VMULPD Y5, Y6, Y9 \
	VSUBPD Y8, Y0, Y0 \
	VADDPD Y9, Y1, Y1

// QUARTET loads four complex numbers, at the offsets a to d of p: the real parts into re,
// and the imaginary parts into im. It uses y0 and y1.
#define QUARTET(a, b, c, d, p, re, im, x0, y0, x1, y1) \
	VMOVUPD     a(p), x0         \
	VINSERTF128 $1, c(p), y0, y0 \
	VMOVUPD     b(p), x1         \
	VINSERTF128 $1, d(p), y1, y1 \
	VUNPCKLPD   y1, y0, re       \
	VUNPCKHPD   y1, y0, im

// SQUARES sets re to (re² + im²)/4. It needs ¼ in Y15.
#define SQUARES(re, im) \
	VMULPD re, re, re  \
	VMULPD im, im, im  \
	VADDPD im, re, re  \
	VMULPD Y15, re, re

// func powerLowAVX(dst *float64, z, zh, w *complex128, n int)
TEXT ·powerLowAVX(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         z+8(FP), SI
	MOVQ         zh+16(FP), R8
	MOVQ         w+24(FP), DX
	MOVQ         n+32(FP), CX
	VBROADCASTSD quarter<>(SB), Y15

low:
	APART
	VADDPD  Y0, Y2, Y2
	VADDPD  Y1, Y3, Y3
	SQUARES(Y2, Y3)
	VMOVUPD Y2, (DI)
	ADDQ    $32, DI
	ADDQ    $64, SI
	ADDQ    $64, DX
	SUBQ    $64, R8
	SUBQ    $4, CX
	JNE     low
	VZEROUPPER
	RET

// func powerPairsAVX(dst, hi *float64, z, zh, w *complex128, n int)
TEXT ·powerPairsAVX(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         hi+8(FP), R9
	MOVQ         z+16(FP), SI
	MOVQ         zh+24(FP), R8
	MOVQ         w+32(FP), DX
	MOVQ         n+40(FP), CX
	VBROADCASTSD quarter<>(SB), Y15

pairs:
	APART
	VADDPD       Y0, Y2, Y4
	VADDPD       Y1, Y3, Y5
	VSUBPD       Y0, Y2, Y2
	VSUBPD       Y1, Y3, Y3
	SQUARES(Y4, Y5)
	SQUARES(Y2, Y3)
	VMOVUPD      Y4, (DI)
	VPERMILPD    $5, Y2, Y2 // in descending order
	VMOVUPD      X2, 16(R9)
	VEXTRACTF128 $1, Y2, (R9)
	ADDQ         $32, DI
	SUBQ         $32, R9
	ADDQ         $64, SI
	ADDQ         $64, DX
	SUBQ         $64, R8
	SUBQ         $4, CX
	JNE          pairs
	VZEROUPPER
	RET

// func coefficientPairsAVX(dst, hi, z, zh, w *complex128, n int)
TEXT ·coefficientPairsAVX(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         hi+8(FP), R9
	MOVQ         z+16(FP), SI
	MOVQ         zh+24(FP), R8
	MOVQ         w+32(FP), DX
	MOVQ         n+40(FP), CX
	VMOVUPD      conjugate<>(SB), Y15
	VBROADCASTSD half<>(SB), Y14

coefficients:
	SEPARATE
	VADDPD     Y4, Y3, Y0
	VSUBPD     Y4, Y3, Y2
	VXORPD     Y15, Y2, Y2
	VPERM2F128 $1, Y2, Y2, Y2
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y2, (R9)
	ADDQ       $32, DI
	SUBQ       $32, R9
	ADDQ       $32, SI
	ADDQ       $32, DX
	SUBQ       $32, R8
	SUBQ       $2, CX
	JNE        coefficients
	VZEROUPPER
	RET

// func sequencePairsAVX(dst, hi *float64, c, ch, w *complex128, scale float64, n int)
TEXT ·sequencePairsAVX(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), DI
	MOVQ         hi+8(FP), R9
	MOVQ         c+16(FP), SI
	MOVQ         ch+24(FP), R8
	MOVQ         w+32(FP), DX
	VBROADCASTSD scale+40(FP), Y14
	MOVQ         n+48(FP), CX
	VMOVUPD      conjugate<>(SB), Y15
	VPERMILPD    $5, Y15, Y13
	VORPD        Y13, Y15, Y13       // the sign bit in all lanes

sequence:
	VMOVUPD    (SI), Y0
	VMOVUPD    (R8), Y1
	VPERM2F128 $1, Y1, Y1, Y1
	VADDPD     Y1, Y0, Y2
	VSUBPD     Y1, Y0, Y0
	VBLENDPD   $10, Y0, Y2, Y3       // 2·E
	VBLENDPD   $5, Y0, Y2, Y4        // 2·w·O
	VMOVUPD    (DX), Y5
	VPERMILPD  $15, Y5, Y6
	VMOVDDUP   Y5, Y5
	VXORPD     Y13, Y6, Y6
	TIMES(Y4, Y5, Y6, Y1)            // 2·O
	VPERMILPD  $5, Y4, Y4
	VADDSUBPD  Y4, Y3, Y0
	VXORPD     Y15, Y0, Y0
	VXORPD     Y15, Y4, Y4
	VADDPD     Y4, Y3, Y2
	VMULPD     Y14, Y0, Y0
	VMULPD     Y14, Y2, Y2
	VPERM2F128 $1, Y2, Y2, Y2
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y2, (R9)
	ADDQ       $32, DI
	SUBQ       $32, R9
	ADDQ       $32, SI
	ADDQ       $32, DX
	SUBQ       $32, R8
	SUBQ       $2, CX
	JNE        sequence
	VZEROUPPER
	RET

// func conjugateAVX(dst *float64, z *complex128, n int)
TEXT ·conjugateAVX(SB), NOSPLIT, $0-24
	MOVQ    dst+0(FP), DI
	MOVQ    z+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPD conjugate<>(SB), Y15

conjugates:
	VXORPD  (SI), Y15, Y0
	VXORPD  32(SI), Y15, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $4, CX
	JNE     conjugates
	VZEROUPPER
	RET
