#include "textflag.h"

// Second-order sections, eight at a time in the lanes of two registers. Section s handles a
// sample two steps after section s−1 does: one step later would be possible, but every
// step would wait for the shift of the output of the last. The operations are those of
// step, in the same order and without fused multiply-add, so that the results have the
// same bits.
//
// CX points to the coefficients b0, b1, b2, a1, a2 of the eight lanes. Y0 and Y1 are the
// input, Y2 to Y5 the state, Y6 and Y7 the output, of the last step at the beginning. Y12
// and Y13 become that of the last step. Y8 and Y9 are overwritten.
#define SECTIONS \
	VMULPD  0(CX), Y0, Y8   \
	VADDPD  Y2, Y8, Y8      \
	VMULPD  192(CX), Y6, Y9 \
	VMOVAPD Y6, Y12         \
	VSUBPD  Y9, Y8, Y6      \
	VMULPD  32(CX), Y1, Y8  \
	VADDPD  Y3, Y8, Y8      \
	VMULPD  224(CX), Y7, Y9 \
	VMOVAPD Y7, Y13         \
	VSUBPD  Y9, Y8, Y7      \
	VMULPD  64(CX), Y0, Y8  \
	VADDPD  Y4, Y8, Y2      \
	VMULPD  96(CX), Y1, Y8  \
	VADDPD  Y5, Y8, Y3      \
	VMULPD  128(CX), Y0, Y8 \
	VMULPD  256(CX), Y6, Y9 \
	VSUBPD  Y9, Y8, Y4      \
	VMULPD  160(CX), Y1, Y8 \
	VMULPD  288(CX), Y7, Y9 \
	VSUBPD  Y9, Y8, Y5

#define START \
	VXORPD Y1, Y1, Y1 \
	VXORPD Y2, Y2, Y2 \
	VXORPD Y3, Y3, Y3 \
	VXORPD Y4, Y4, Y4 \
	VXORPD Y5, Y5, Y5 \
	VXORPD Y6, Y6, Y6 \
	VXORPD Y7, Y7, Y7

// FIVE is a step of five sections, of which the next input is the sample in X14.
#define FIVE \
	SECTIONS                   \
	VPERMPD  $0x93, Y12, Y1    \
	VBLENDPD $1, Y14, Y1, Y0

// func cascadeAVX2(x *float64, n, stride int, c *filterLanes)
TEXT ·cascadeAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), AX
	MOVQ stride+16(FP), BX
	MOVQ c+24(FP), CX
	MOVQ SI, DI
	START
	VMOVSD (SI), X0
	MOVQ   $8, DX

fill:
	ADDQ   BX, SI
	VMOVSD (SI), X14
	FIVE
	DECQ   DX
	JNE    fill
	SUBQ   $9, AX

filter:
	ADDQ   BX, SI
	VMOVSD (SI), X14
	FIVE
	VMOVSD X7, (DI)
	ADDQ   BX, DI
	DECQ   AX
	JNE    filter
	VXORPD Y14, Y14, Y14
	MOVQ   $9, DX

drain:
	FIVE
	VMOVSD X7, (DI)
	ADDQ   BX, DI
	DECQ   DX
	JNE    drain
	VZEROUPPER
	RET
