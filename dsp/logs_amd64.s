#include "textflag.h"

// The function computes the same as the loop in vector.go, with the same operations, so
// that the results have the same bits.

// func logsAVX2(dst, x *float64, c *[16]float64, n int)
//
// c points to logConstants, and the bit patterns that logGo names.
TEXT ·logsAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         c+16(FP), DX
	MOVQ         n+24(FP), CX
	VPBROADCASTQ 0(DX), Y15    // logShift
	VPBROADCASTQ 8(DX), Y14    // the bits of the exponent
	VPBROADCASTQ 16(DX), Y13   // one
	VPBROADCASTQ 24(DX), Y12   // 2⁵²
	VBROADCASTSD 32(DX), Y11   // 2⁵² + 1023

logs:
	VMOVDQU      (SI), Y0
	VPADDQ       Y15, Y0, Y1
	VPSRLQ       $52, Y1, Y2
	VPOR         Y12, Y2, Y2
	VSUBPD       Y11, Y2, Y2   // k
	VPAND        Y14, Y1, Y1
	VPSUBQ       Y1, Y0, Y0
	VPADDQ       Y13, Y0, Y0
	VSUBPD       Y13, Y0, Y0   // f
	VBROADCASTSD 40(DX), Y3    // 2
	VADDPD       Y3, Y0, Y3
	VDIVPD       Y3, Y0, Y3    // s
	VMULPD       Y3, Y3, Y4    // s²
	VMULPD       Y4, Y4, Y5    // s⁴
	VBROADCASTSD 56(DX), Y6
	VMULPD       Y5, Y6, Y6
	VBROADCASTSD 64(DX), Y7
	VADDPD       Y7, Y6, Y6
	VMULPD       Y5, Y6, Y6
	VBROADCASTSD 72(DX), Y7
	VADDPD       Y7, Y6, Y6
	VMULPD       Y5, Y6, Y6
	VBROADCASTSD 80(DX), Y7
	VADDPD       Y7, Y6, Y6
	VMULPD       Y4, Y6, Y6    // t₁
	VBROADCASTSD 88(DX), Y8
	VMULPD       Y5, Y8, Y8
	VBROADCASTSD 96(DX), Y7
	VADDPD       Y7, Y8, Y8
	VMULPD       Y5, Y8, Y8
	VBROADCASTSD 104(DX), Y7
	VADDPD       Y7, Y8, Y8
	VMULPD       Y5, Y8, Y8    // t₂
	VADDPD       Y8, Y6, Y6    // R
	VBROADCASTSD 48(DX), Y7
	VMULPD       Y0, Y7, Y7
	VMULPD       Y0, Y7, Y7    // f²/2
	VADDPD       Y6, Y7, Y6
	VMULPD       Y3, Y6, Y6
	VBROADCASTSD 120(DX), Y8
	VMULPD       Y2, Y8, Y8
	VADDPD       Y8, Y6, Y6
	VSUBPD       Y6, Y7, Y7
	VSUBPD       Y0, Y7, Y7
	VBROADCASTSD 112(DX), Y8
	VMULPD       Y2, Y8, Y8
	VSUBPD       Y7, Y8, Y8
	VMOVUPD      Y8, (DI)
	ADDQ         $32, SI
	ADDQ         $32, DI
	SUBQ         $4, CX
	JNE          logs
	VZEROUPPER
	RET
