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

// STEP adds to y the product with the first sample, and to before, the output four back, that
// with the second.
#define STEP(off, y, before) \
	NOW(off, y) \
	AFTER(before)

#define LAST(off, y) \
	VMULPD off(DX), Y9, Y12 \
	VADDPD Y12, y, y

#define ALONE(off, y) \
	VMULPD (off)(DX), Y8, Y9 \
	VADDPD Y9, y, y

#define ALONE4(off, y0, y1, y2, y3) \
	ALONE(off, y0)      \
	ALONE(off+32, y1)   \
	ALONE(off+64, y2)   \
	ALONE(off+96, y3)

#define STORE4(off, y0, y1, y2, y3) \
	VMOVUPD y0, off(DI)      \
	VMOVUPD y1, (off+32)(DI) \
	VMOVUPD y2, (off+64)(DI) \
	VMOVUPD y3, (off+96)(DI)

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
	STEP(32, Y1, Y0)
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
	STEP(32, Y1, Y0)
	STEP(64, Y2, Y1)
	STEP(96, Y3, Y2)
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
	ALONE4(0, Y0, Y1, Y2, Y3)
	NEXT
	DECQ CX
	JNE  sixteenone

sixteendone:
	STORE4(0, Y0, Y1, Y2, Y3)
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
	STEP(32, Y1, Y0)
	STEP(64, Y2, Y1)
	STEP(96, Y3, Y2)
	STEP(128, Y4, Y3)
	STEP(160, Y5, Y4)
	STEP(192, Y6, Y5)
	STEP(224, Y7, Y6)
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
	ALONE4(0, Y0, Y1, Y2, Y3)
	ALONE4(128, Y4, Y5, Y6, Y7)
	NEXT
	DECQ CX
	JNE  thirtytwoone

thirtytwodone:
	STORE4(0, Y0, Y1, Y2, Y3)
	STORE4(128, Y4, Y5, Y6, Y7)
	VZEROUPPER
	RET
