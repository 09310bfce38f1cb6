#include "textflag.h"

// The functions compute the same as those in kernel_vector.go, with the same operations and
// sums, without fused multiply-add, so that the results have the same bits.

// func distanceAVX2(x *float64, v *byte, n int) float64
TEXT ·distanceAVX2(SB), NOSPLIT, $0-32
	MOVQ   x+0(FP), SI
	MOVQ   v+8(FP), DI
	MOVQ   n+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

distance:
	VPMOVSXBD    (DI), Y2
	VMOVUPD      (SI), Y4
	VMOVUPD      32(SI), Y5
	VEXTRACTI128 $1, Y2, X3
	VCVTDQ2PD    X2, Y2
	VCVTDQ2PD    X3, Y3
	VSUBPD       Y2, Y4, Y4
	VSUBPD       Y3, Y5, Y5
	VMULPD       Y4, Y4, Y4
	VMULPD       Y5, Y5, Y5
	VADDPD       Y4, Y0, Y0
	VADDPD       Y5, Y1, Y1
	ADDQ         $64, SI
	ADDQ         $8, DI
	SUBQ         $8, CX
	JNE          distance
	VADDPD       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VUNPCKHPD    X0, X0, X2
	VADDSD       X2, X0, X0
	VADDSD       X1, X0, X0
	VUNPCKHPD    X1, X1, X1
	VADDSD       X1, X0, X0
	VMOVSD       X0, ret+24(FP)
	VZEROUPPER
	RET

// func weighAVX2(sum *float64, v *byte, c float64, n int)
TEXT ·weighAVX2(SB), NOSPLIT, $0-32
	MOVQ         sum+0(FP), SI
	MOVQ         v+8(FP), DI
	VBROADCASTSD c+16(FP), Y6
	MOVQ         n+24(FP), CX

weigh:
	VPMOVSXBD    (DI), Y2
	VEXTRACTI128 $1, Y2, X3
	VCVTDQ2PD    X2, Y2
	VCVTDQ2PD    X3, Y3
	VMULPD       Y6, Y2, Y2
	VMULPD       Y6, Y3, Y3
	VADDPD       (SI), Y2, Y2
	VADDPD       32(SI), Y3, Y3
	VMOVUPD      Y2, (SI)
	VMOVUPD      Y3, 32(SI)
	ADDQ         $64, SI
	ADDQ         $8, DI
	SUBQ         $8, CX
	JNE          weigh
	VZEROUPPER
	RET
