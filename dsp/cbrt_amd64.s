#include "textflag.h"

// func cbrtsAVX2(x *float64, c *[12]float64, n int)
//
// c points to cbrtConstants. The operations are those of cbrtGo.
TEXT ·cbrtsAVX2(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         c+8(FP), DX
	MOVQ         n+16(FP), CX
	VPBROADCASTQ 0(DX), Y15   // 2³³/3
	VPBROADCASTQ 8(DX), Y14   // bias
	VBROADCASTSD 16(DX), Y13  // C
	VBROADCASTSD 24(DX), Y12  // D
	VBROADCASTSD 32(DX), Y11  // E
	VBROADCASTSD 40(DX), Y10  // F
	VBROADCASTSD 48(DX), Y9   // G
	VPBROADCASTQ 56(DX), Y8   // the mask
	VPBROADCASTQ 64(DX), Y7   // the unit

cbrts:
	VMOVUPD      (SI), Y0
	VPSRLQ       $32, Y0, Y1
	VPMULUDQ     Y15, Y1, Y1
	VPSRLQ       $33, Y1, Y1   // a third of the upper half
	VPSLLQ       $32, Y1, Y1
	VPADDQ       Y14, Y1, Y1   // t
	VMULPD       Y1, Y1, Y2
	VDIVPD       Y0, Y2, Y2    // r = t²/x
	VMULPD       Y1, Y2, Y2
	VADDPD       Y2, Y13, Y2   // s = C + r·t
	VDIVPD       Y2, Y12, Y3   // D/s
	VADDPD       Y11, Y2, Y2
	VADDPD       Y3, Y2, Y2    // s + E + D/s
	VDIVPD       Y2, Y10, Y2
	VADDPD       Y2, Y9, Y2
	VMULPD       Y2, Y1, Y1    // t
	VPAND        Y8, Y1, Y1
	VPADDQ       Y7, Y1, Y1
	VMULPD       Y1, Y1, Y2
	VDIVPD       Y2, Y0, Y2    // r = x/t²
	VSUBPD       Y1, Y2, Y3
	VADDPD       Y1, Y1, Y4
	VADDPD       Y2, Y4, Y4
	VDIVPD       Y4, Y3, Y3    // (r − t)/(2t + r)
	VMULPD       Y3, Y1, Y3
	VADDPD       Y3, Y1, Y1
	VBROADCASTSD 72(DX), Y2    // the least normal number
	VBROADCASTSD 80(DX), Y3    // the largest number
	VCMPPD       $0x1d, Y2, Y0, Y2 // x ≥
	VCMPPD       $0x12, Y3, Y0, Y3 // x ≤
	VANDPD       Y3, Y2, Y2
	VBLENDVPD    Y2, Y1, Y0, Y0
	VMOVUPD      Y0, (SI)
	ADDQ         $32, SI
	SUBQ         $4, CX
	JNE          cbrts
	VZEROUPPER
	RET
