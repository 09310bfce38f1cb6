#include "textflag.h"

// ROW sets t to the product of the sample back bytes before SI with the four weighted
// samples in data, and adds it to the sums y.
#define ROW(back, data, y, t) \
	VBROADCASTSD back(SI), t \
	VMULPD       data, t, t  \
	VADDPD       t, y, y

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
	VBROADCASTSD (DX), Y14
	VMULPD       -56(SI), Y14, Y12 // columns 4 to 7
	VMULPD       -24(SI), Y14, Y13 // columns 8 to 11
	VBROADCASTSD 0(SI), Y14
	VMULPD       Y12, Y14, Y15
	VADDPD       Y15, Y0, Y0
	VMULPD       Y13, Y14, Y14
	VADDPD       Y14, Y8, Y8
	VBROADCASTSD -8(SI), Y14
	VMULPD       Y12, Y14, Y15
	VADDPD       Y15, Y1, Y1
	VMULPD       Y13, Y14, Y14
	VADDPD       Y14, Y9, Y9
	VBROADCASTSD -16(SI), Y14
	VMULPD       Y12, Y14, Y15
	VADDPD       Y15, Y2, Y2
	VMULPD       Y13, Y14, Y14
	VADDPD       Y14, Y10, Y10
	VBROADCASTSD -24(SI), Y14
	VMULPD       Y12, Y14, Y15
	VADDPD       Y15, Y3, Y3
	VMULPD       Y13, Y14, Y14
	VADDPD       Y14, Y11, Y11
	ROW(-32, Y12, Y4, Y14)
	ROW(-40, Y12, Y5, Y15)
	ROW(-48, Y12, Y6, Y14)
	ROW(-56, Y12, Y7, Y15)
	ADDQ         $8, SI
	ADDQ         $8, DX
	DECQ         CX
	JNZ          newer

	VMOVUPD Y0, 32(DI)
	VMOVUPD Y1, 128(DI)
	VMOVUPD Y2, 224(DI)
	VMOVUPD Y3, 320(DI)
	VMOVUPD Y4, 416(DI)
	VMOVUPD Y5, 512(DI)
	VMOVUPD Y6, 608(DI)
	VMOVUPD Y7, 704(DI)
	VMOVUPD Y8, 64(DI)
	VMOVUPD Y9, 160(DI)
	VMOVUPD Y10, 256(DI)
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
	VBROADCASTSD (DX), Y12
	VMULPD       -88(SI), Y12, Y12 // columns 0 to 3
	ROW(0, Y12, Y0, Y13)
	ROW(-8, Y12, Y1, Y14)
	ROW(-16, Y12, Y2, Y15)
	ROW(-24, Y12, Y3, Y13)
	ROW(-32, Y12, Y4, Y14)
	ROW(-40, Y12, Y5, Y15)
	ROW(-48, Y12, Y6, Y13)
	ROW(-56, Y12, Y7, Y14)
	ROW(-64, Y12, Y8, Y15)
	ROW(-72, Y12, Y9, Y13)
	ROW(-80, Y12, Y10, Y14)
	ADDQ         $8, SI
	ADDQ         $8, DX
	DECQ         CX
	JNZ          older

	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 96(DI)
	VMOVUPD Y2, 192(DI)
	VMOVUPD Y3, 288(DI)
	VMOVUPD Y4, 384(DI)
	VMOVUPD Y5, 480(DI)
	VMOVUPD Y6, 576(DI)
	VMOVUPD Y7, 672(DI)
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
