#include "textflag.h"

// The functions compute the same as the loops over samples and bins in frame.go and
// spectrum.go, four numbers at a time, with the same operations and sums.

// SUM sets X0 to ((a + b) + c) + d of the lanes of Y0. It uses X1 and X2.
#define SUM \
	VEXTRACTF128 $1, Y0, X1     \
	VUNPCKHPD    X0, X0, X2     \
	VADDSD       X2, X0, X0     \
	VADDSD       X1, X0, X0     \
	VUNPCKHPD    X1, X1, X1     \
	VADDSD       X1, X0, X0

// func emphasizeAVX(dst, x, w *float64, a, c float64, n int)
TEXT ·emphasizeAVX(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	VBROADCASTSD a+24(FP), Y3
	VBROADCASTSD c+32(FP), Y4
	MOVQ         n+40(FP), CX

emphasize:
	VMULPD  -8(SI), Y3, Y1
	VMOVUPD (SI), Y0
	VSUBPD  Y1, Y0, Y0
	VSUBPD  Y4, Y0, Y0
	VMULPD  (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     emphasize
	VZEROUPPER
	RET

// func fluxAVX(p, before *float64, scale float64, n int) float64
TEXT ·fluxAVX(SB), NOSPLIT, $0-40
	MOVQ         p+0(FP), SI
	MOVQ         before+8(FP), DI
	VBROADCASTSD scale+16(FP), Y3
	MOVQ         n+24(FP), CX
	VXORPD       Y0, Y0, Y0

flux:
	VSQRTPD (SI), Y1
	VMULPD  Y3, Y1, Y1
	VSUBPD  (DI), Y1, Y2
	VMOVUPD Y1, (DI)
	VMULPD  Y2, Y2, Y2
	VADDPD  Y2, Y0, Y0
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     flux
	SUM
	VMOVSD  X0, ret+32(FP)
	VZEROUPPER
	RET
