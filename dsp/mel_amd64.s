#include "textflag.h"

// The functions compute the same as the loops in mel.go and mfcc.go, with the same
// operations and sums, without fused multiply-add, so that the results have the same bits.

// func trianglesAVX(dst, p, w *float64, bins *int, n int)
//
// X0 has the sums of the bins between two edges, as they rise and as they fall, and X2
// those of the bins before.
TEXT ·trianglesAVX(SB), NOSPLIT, $0-40
	MOVQ   dst+0(FP), DI
	MOVQ   p+8(FP), SI
	MOVQ   w+16(FP), DX
	MOVQ   bins+24(FP), R8
	MOVQ   n+32(FP), R9
	MOVQ   (R8), CX
	VXORPD X2, X2, X2
	TESTQ  CX, CX
	JE     next

first:
	VMOVDDUP (SI), X1
	VMULPD   (DX), X1, X1
	VADDPD   X1, X2, X2
	ADDQ     $8, SI
	ADDQ     $16, DX
	DECQ     CX
	JNE      first

next:
	ADDQ   $8, R8
	MOVQ   (R8), CX
	VXORPD X0, X0, X0
	TESTQ  CX, CX
	JE     filter

bin:
	VMOVDDUP (SI), X1
	VMULPD   (DX), X1, X1
	VADDPD   X1, X0, X0
	ADDQ     $8, SI
	ADDQ     $16, DX
	DECQ     CX
	JNE      bin

filter:
	VUNPCKHPD X0, X0, X1
	VADDSD    X1, X2, X2
	VMOVSD    X2, (DI)
	VMOVAPD   X0, X2
	ADDQ      $8, DI
	DECQ      R9
	JNE       next
	RET

// func combineAVX(dst, a, x *float64, rows, n int)
TEXT ·combineAVX(SB), NOSPLIT, $0-40
	MOVQ   dst+0(FP), DI
	MOVQ   a+8(FP), SI
	MOVQ   x+16(FP), DX
	MOVQ   rows+24(FP), R8
	MOVQ   n+32(FP), CX
	SHLQ   $3, R8
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

column:
	VBROADCASTSD (DX), Y2
	VMULPD       (SI), Y2, Y3
	VMULPD       32(SI), Y2, Y4
	VADDPD       Y3, Y0, Y0
	VADDPD       Y4, Y1, Y1
	ADDQ         $8, DX
	ADDQ         R8, SI
	DECQ         CX
	JNE          column
	VMOVUPD      Y0, (DI)
	VMOVUPD      Y1, 32(DI)
	VZEROUPPER
	RET
