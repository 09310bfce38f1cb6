#include "textflag.h"

// The correlations take eight samples of a at a time, in the order 0, 4, 1, 5, 2, 6, 3, 7 and
// then those left over: what is loaded for one sample of a and an output serves the sample
// four on and the output four back.

#define CLEAR4(y0, y1, y2, y3) \
	VXORPD y0, y0, y0 \
	VXORPD y1, y1, y1 \
	VXORPD y2, y2, y2 \
	VXORPD y3, y3, y3

#define SAMPLES \
	VBROADCASTSD (SI), Y8   \
	VBROADCASTSD 32(SI), Y9

// NOW adds the product with the first sample to y, and AFTER that with the second.
#define NOW(off, y) \
	VMOVUPD off(DX), Y10 \
	VMULPD  Y10, Y8, Y11 \
	VADDPD  Y11, y, y

#define AFTER(y) \
	VMULPD Y10, Y9, Y12 \
	VADDPD Y12, y, y

#define LAST(off, y) \
	VMULPD off(DX), Y9, Y12 \
	VADDPD Y12, y, y

#define ALONE(off, y) \
	VMULPD off(DX), Y8, Y9 \
	VADDPD Y9, y, y

#define NEXT \
	ADDQ $8, SI \
	ADDQ $8, DX

// func correlate8AVX(dst, a, b *float64, n int)
TEXT ·correlate8AVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	SUBQ $8, CX
	JLT  eightrest

eight:
	MOVQ $4, BX

eightpair:
	SAMPLES
	NOW(0, Y0)
	NOW(32, Y1)
	AFTER(Y0)
	LAST(64, Y1)
	NEXT
	DECQ BX
	JNE  eightpair
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JGE  eight

eightrest:
	ADDQ $8, CX
	JEQ  eightdone

eightone:
	VBROADCASTSD (SI), Y8
	ALONE(0, Y0)
	ALONE(32, Y1)
	NEXT
	DECQ CX
	JNE  eightone

eightdone:
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET

// func correlate16AVX(dst, a, b *float64, n int)
TEXT ·correlate16AVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	CLEAR4(Y0, Y1, Y2, Y3)
	SUBQ $8, CX
	JLT  sixteenrest

sixteen:
	MOVQ $4, BX

sixteenpair:
	SAMPLES
	NOW(0, Y0)
	NOW(32, Y1)
	AFTER(Y0)
	NOW(64, Y2)
	AFTER(Y1)
	NOW(96, Y3)
	AFTER(Y2)
	LAST(128, Y3)
	NEXT
	DECQ BX
	JNE  sixteenpair
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JGE  sixteen

sixteenrest:
	ADDQ $8, CX
	JEQ  sixteendone

sixteenone:
	VBROADCASTSD (SI), Y8
	ALONE(0, Y0)
	ALONE(32, Y1)
	ALONE(64, Y2)
	ALONE(96, Y3)
	NEXT
	DECQ CX
	JNE  sixteenone

sixteendone:
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET

// func correlate32AVX(dst, a, b *float64, n int)
TEXT ·correlate32AVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	CLEAR4(Y0, Y1, Y2, Y3)
	CLEAR4(Y4, Y5, Y6, Y7)
	SUBQ $8, CX
	JLT  thirtytworest

thirtytwo:
	MOVQ $4, BX

thirtytwopair:
	SAMPLES
	NOW(0, Y0)
	NOW(32, Y1)
	AFTER(Y0)
	NOW(64, Y2)
	AFTER(Y1)
	NOW(96, Y3)
	AFTER(Y2)
	NOW(128, Y4)
	AFTER(Y3)
	NOW(160, Y5)
	AFTER(Y4)
	NOW(192, Y6)
	AFTER(Y5)
	NOW(224, Y7)
	AFTER(Y6)
	LAST(256, Y7)
	NEXT
	DECQ BX
	JNE  thirtytwopair
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JGE  thirtytwo

thirtytworest:
	ADDQ $8, CX
	JEQ  thirtytwodone

thirtytwoone:
	VBROADCASTSD (SI), Y8
	ALONE(0, Y0)
	ALONE(32, Y1)
	ALONE(64, Y2)
	ALONE(96, Y3)
	ALONE(128, Y4)
	ALONE(160, Y5)
	ALONE(192, Y6)
	ALONE(224, Y7)
	NEXT
	DECQ CX
	JNE  thirtytwoone

thirtytwodone:
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	VZEROUPPER
	RET
