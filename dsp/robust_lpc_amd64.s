#include "textflag.h"

// ROW1, ROW2 and ROW3 set Y12 to the product of the weight and the sample p bytes before
// SI. They multiply it with the four samples that end 0, 4 and 8 samples before sample n,
// and add the products to the sums a, b and c.
#define ROW3(back, a, b, c) \
	VBROADCASTSD back(SI), Y12   \
	VMULPD       Y15, Y12, Y12   \
	VMULPD       -88(SI), Y12, Y13 \
	VADDPD       Y13, a, a       \
	VMULPD       -56(SI), Y12, Y14 \
	VADDPD       Y14, b, b       \
	VMULPD       -24(SI), Y12, Y13 \
	VADDPD       Y13, c, c

#define ROW2(back, a, b) \
	VBROADCASTSD back(SI), Y12   \
	VMULPD       Y15, Y12, Y12   \
	VMULPD       -88(SI), Y12, Y13 \
	VADDPD       Y13, a, a       \
	VMULPD       -56(SI), Y12, Y14 \
	VADDPD       Y14, b, b

#define ROW1(back, a) \
	VBROADCASTSD back(SI), Y12   \
	VMULPD       Y15, Y12, Y12   \
	VMULPD       -88(SI), Y12, Y13 \
	VADDPD       Y13, a, a

#define CLEAR(y) VXORPD y, y, y

// func covarianceAVX(phi, x, w *float64, n int)
//
// phi is 12 rows of 12 sums, the columns from the oldest sample to the newest.
// Rows 0 to 3 use all columns, rows 4 to 7 the oldest eight, and rows 8 to 10 the oldest
// four. The products and sums are those of the pure Go function, in the same order and
// without fused multiply-add, so that the results have the same bits.
TEXT ·covarianceAVX(SB), NOSPLIT, $0-32
	MOVQ phi+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ n+24(FP), CX
	CLEAR(Y0)
	CLEAR(Y1)
	CLEAR(Y2)
	CLEAR(Y3)
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)
	CLEAR(Y8)
	CLEAR(Y9)
	CLEAR(Y10)
	CLEAR(Y11)

newer:
	VBROADCASTSD (DX), Y15
	ROW3(0, Y0, Y1, Y2)
	ROW3(-8, Y3, Y4, Y5)
	ROW3(-16, Y6, Y7, Y8)
	ROW3(-24, Y9, Y10, Y11)
	ADDQ         $8, SI
	ADDQ         $8, DX
	DECQ         CX
	JNZ          newer

	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	VMOVUPD Y8, 256(DI)
	VMOVUPD Y9, 288(DI)
	VMOVUPD Y10, 320(DI)
	VMOVUPD Y11, 352(DI)

	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ n+24(FP), CX
	CLEAR(Y0)
	CLEAR(Y1)
	CLEAR(Y2)
	CLEAR(Y3)
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)
	CLEAR(Y8)
	CLEAR(Y9)
	CLEAR(Y10)

older:
	VBROADCASTSD (DX), Y15
	ROW2(-32, Y0, Y1)
	ROW2(-40, Y2, Y3)
	ROW2(-48, Y4, Y5)
	ROW2(-56, Y6, Y7)
	ROW1(-64, Y8)
	ROW1(-72, Y9)
	ROW1(-80, Y10)
	ADDQ         $8, SI
	ADDQ         $8, DX
	DECQ         CX
	JNZ          older

	VMOVUPD Y0, 384(DI)
	VMOVUPD Y1, 416(DI)
	VMOVUPD Y2, 480(DI)
	VMOVUPD Y3, 512(DI)
	VMOVUPD Y4, 576(DI)
	VMOVUPD Y5, 608(DI)
	VMOVUPD Y6, 672(DI)
	VMOVUPD Y7, 704(DI)
	VMOVUPD Y8, 768(DI)
	VMOVUPD Y9, 864(DI)
	VMOVUPD Y10, 960(DI)
	VZEROUPPER
	RET

DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

// func weighAVX(w, e2, gauss, ste *float64, scale float64, n int)
TEXT ·weighAVX(SB), NOSPLIT, $0-48
	MOVQ         w+0(FP), DI
	MOVQ         e2+8(FP), SI
	MOVQ         gauss+16(FP), DX
	MOVQ         ste+24(FP), R8
	VBROADCASTSD scale+32(FP), Y15
	VBROADCASTSD one<>(SB), Y14
	MOVQ         n+40(FP), CX

weigh:
	VMOVUPD (SI), Y0
	VADDPD  8(SI), Y0, Y0
	VMOVUPD 16(SI), Y1
	VADDPD  24(SI), Y1, Y1
	VMOVUPD 32(SI), Y2
	VADDPD  40(SI), Y2, Y2
	VMOVUPD 48(SI), Y3
	VADDPD  56(SI), Y3, Y3
	VADDPD  Y1, Y0, Y0
	VADDPD  Y3, Y2, Y2
	VADDPD  Y2, Y0, Y0
	VADDPD  64(SI), Y0, Y0
	VMULPD  Y15, Y0, Y0
	VADDPD  Y14, Y0, Y0
	VMOVUPD (DX), Y1
	VMOVUPD (R8), Y2
	VMULPD  Y2, Y1, Y1
	VMULPD  Y2, Y1, Y1
	VDIVPD  Y0, Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, R8
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     weigh
	VZEROUPPER
	RET
