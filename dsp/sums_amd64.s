#include "textflag.h"

// The functions compute the same as the loops in sums.go, with the same operations and
// sums, without fused multiply-add, so that the results have the same bits.

DATA four<>+0(SB)/8, $4.0
GLOBL four<>(SB), RODATA|NOPTR, $8

DATA indices<>+0(SB)/8, $0.0
DATA indices<>+8(SB)/8, $1.0
DATA indices<>+16(SB)/8, $2.0
DATA indices<>+24(SB)/8, $3.0
GLOBL indices<>(SB), RODATA|NOPTR, $32

// func momentsAVX(s *[8]float64, p *float64, n int)
TEXT ·momentsAVX(SB), NOSPLIT, $0-24
	MOVQ         s+0(FP), DI
	MOVQ         p+8(FP), SI
	MOVQ         n+16(FP), CX
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VMOVUPD      indices<>(SB), Y2
	VBROADCASTSD four<>(SB), Y3

moments:
	VMOVUPD (SI), Y4
	VADDPD  Y4, Y0, Y0
	VMULPD  Y4, Y2, Y5
	VADDPD  Y5, Y1, Y1
	VADDPD  Y3, Y2, Y2
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNE     moments
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET

// func centralSumsAVX(s *[12]float64, x *float64, mean float64, n int)
TEXT ·centralSumsAVX(SB), NOSPLIT, $0-32
	MOVQ         s+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSD mean+16(FP), Y6
	MOVQ         n+24(FP), CX
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VXORPD       Y2, Y2, Y2

central:
	VMOVUPD (SI), Y3
	VSUBPD  Y6, Y3, Y3
	VMULPD  Y3, Y3, Y4
	VADDPD  Y4, Y0, Y0
	VMULPD  Y3, Y4, Y5
	VADDPD  Y5, Y1, Y1
	VMULPD  Y4, Y4, Y4
	VADDPD  Y4, Y2, Y2
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNE     central
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VZEROUPPER
	RET

// func powersAVX(s *[16]float64, x *float64, offset float64, n int)
TEXT ·powersAVX(SB), NOSPLIT, $0-32
	MOVQ         s+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSD offset+16(FP), Y6
	MOVQ         n+24(FP), CX
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VXORPD       Y2, Y2, Y2
	VXORPD       Y3, Y3, Y3

powers:
	VMOVUPD (SI), Y4
	VMOVUPD 32(SI), Y5
	VSUBPD  Y6, Y4, Y4
	VSUBPD  Y6, Y5, Y5
	VADDPD  Y4, Y0, Y0
	VADDPD  Y5, Y1, Y1
	VMULPD  Y4, Y4, Y4
	VMULPD  Y5, Y5, Y5
	VADDPD  Y4, Y2, Y2
	VADDPD  Y5, Y3, Y3
	ADDQ    $64, SI
	SUBQ    $8, CX
	JNE     powers
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET

// func surveyAVX(s *[12]float64, x *float64, n int)
//
// A lane that is not a number leaves the lowest and the highest value as they are: the
// processor then returns the other operand.
TEXT ·surveyAVX(SB), NOSPLIT, $0-24
	MOVQ    s+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2

survey:
	VMOVUPD (SI), Y3
	VADDPD  Y3, Y0, Y0
	VMINPD  Y1, Y3, Y1
	VMAXPD  Y2, Y3, Y2
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNE     survey
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VZEROUPPER
	RET

// func insideAVX(x *float64, lo, hi float64, n int) int
TEXT ·insideAVX(SB), NOSPLIT, $0-40
	MOVQ         x+0(FP), SI
	VBROADCASTSD lo+8(FP), Y0
	VBROADCASTSD hi+16(FP), Y1
	MOVQ         n+24(FP), CX
	MOVQ         CX, BX

inside:
	VMOVUPD   (SI), Y2
	VMOVUPD   32(SI), Y3
	VCMPPD    $0x1e, Y0, Y2, Y4 // x > lo
	VCMPPD    $0x11, Y1, Y2, Y5 // x < hi
	VCMPPD    $0x1e, Y0, Y3, Y6
	VCMPPD    $0x11, Y1, Y3, Y7
	VANDPD    Y5, Y4, Y4
	VANDPD    Y7, Y6, Y6
	VANDPD    Y6, Y4, Y4
	VMOVMSKPD Y4, AX
	CMPL      AX, $15
	JNE       outside
	ADDQ      $64, SI
	SUBQ      $8, CX
	JNE       inside

outside:
	SUBQ CX, BX
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// func centreAVX(x, y, q, part, w *float64, mean float64, n int)
TEXT ·centreAVX(SB), NOSPLIT, $0-56
	MOVQ         x+0(FP), DI
	MOVQ         y+8(FP), R8
	MOVQ         q+16(FP), R9
	MOVQ         part+24(FP), SI
	MOVQ         w+32(FP), DX
	VBROADCASTSD mean+40(FP), Y3
	MOVQ         n+48(FP), CX
	XORQ         BX, BX

centre:
	VMOVUPD (SI)(BX*8), Y0
	VSUBPD  Y3, Y0, Y0
	VMULPD  Y0, Y0, Y1
	VMULPD  (DX)(BX*8), Y0, Y2
	VMOVUPD Y0, (DI)(BX*8)
	VMOVUPD Y1, (R9)(BX*8)
	VMOVUPD Y2, (R8)(BX*8)
	ADDQ    $4, BX
	CMPQ    BX, CX
	JNE     centre
	VZEROUPPER
	RET

// func orderAVX(lo, hi *float64, n int)
TEXT ·orderAVX(SB), NOSPLIT, $0-24
	MOVQ lo+0(FP), DI
	MOVQ hi+8(FP), SI
	MOVQ n+16(FP), CX

order:
	VMOVUPD (DI), Y0
	VMOVUPD (SI), Y1
	VMINPD  Y0, Y1, Y2
	VMAXPD  Y0, Y1, Y3
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, (SI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNE     order
	VZEROUPPER
	RET

// func taperAVX(dst, x, w *float64, c float64, n int)
TEXT ·taperAVX(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	VBROADCASTSD c+24(FP), Y3
	MOVQ         n+32(FP), CX

taper:
	VMOVUPD (SI), Y0
	VSUBPD  Y3, Y0, Y0
	VMULPD  (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     taper
	VZEROUPPER
	RET

// func raiseAVX(x *float64, floor float64, n int)
TEXT ·raiseAVX(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	VBROADCASTSD floor+8(FP), Y3
	MOVQ         n+16(FP), CX

raise:
	VMAXPD  (SI), Y3, Y0
	VMOVUPD Y0, (SI)
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNE     raise
	VZEROUPPER
	RET

// func highestAVX(x *float64, mask uint64, n int) float64
TEXT ·highestAVX(SB), NOSPLIT, $0-32
	MOVQ         x+0(FP), SI
	VBROADCASTSD mask+8(FP), Y3
	MOVQ         n+16(FP), CX
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1

highest:
	VANDPD       (SI), Y3, Y2
	VANDPD       32(SI), Y3, Y4
	VMAXPD       Y0, Y2, Y0
	VMAXPD       Y1, Y4, Y1
	ADDQ         $64, SI
	SUBQ         $8, CX
	JNE          highest
	VMAXPD       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPD       X1, X0, X0
	VUNPCKHPD    X0, X0, X1
	VMAXSD       X1, X0, X0
	VMOVSD       X0, ret+24(FP)
	VZEROUPPER
	RET

// func widenAVX(dst *complex128, x *float64, n int)
TEXT ·widenAVX(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPD Y3, Y3, Y3

widen:
	VMOVUPD    (SI), Y0
	VUNPCKLPD  Y3, Y0, Y1 // numbers 0 and 2
	VUNPCKHPD  Y3, Y0, Y2 // numbers 1 and 3
	VPERM2F128 $0x20, Y2, Y1, Y0
	VPERM2F128 $0x31, Y2, Y1, Y1
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y1, 32(DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	SUBQ       $4, CX
	JNE        widen
	VZEROUPPER
	RET
