#include "textflag.h"

// ROW6 is ROW12 for one panel of two registers.
#define ROW6(addr, t, acc0, acc1) \
	VBROADCASTSS addr, t          \
	VFMADD231PS  Y12, t, acc0     \
	VFMADD231PS  Y13, t, acc1

#define STEP6(da, db) \
	VMOVUPS db(DI), Y12              \
	VMOVUPS (db+32)(DI), Y13         \
	ROW6(da(AX), Y14, Y0, Y1)        \
	ROW6(da(AX)(SI*1), Y15, Y2, Y3)  \
	ROW6(da(AX)(SI*2), Y14, Y4, Y5)  \
	ROW6(da(BX), Y15, Y6, Y7)        \
	ROW6(da(BX)(SI*1), Y14, Y8, Y9)  \
	ROW6(da(BX)(SI*2), Y15, Y10, Y11)

#define ADD2Y(acc0, acc1) \
	VADDPS Y12, acc0, acc0 \
	VADDPS Y13, acc1, acc1

#define ADDCY(acc0, acc1) \
	VADDPS (R10), acc0, acc0   \
	VADDPS 32(R10), acc1, acc1 \
	ADDQ   R11, R10

#define PUTY(acc0, acc1) \
	VMOVUPS acc0, (R10)   \
	VMOVUPS acc1, 32(R10) \
	ADDQ    R11, R10

#define FETCHY \
	PREFETCHT0 (R12)  \
	ADDQ       R11, R12

// func tile6x16FMA(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool)
TEXT ·tile6x16FMA(SB), NOSPLIT, $0-57
	MOVQ k+0(FP), R9
	MOVQ a+8(FP), AX
	MOVQ lda+16(FP), SI
	MOVQ b+24(FP), DI
	MOVQ c+32(FP), R10
	MOVQ ldc+40(FP), R11
	SHLQ $2, SI
	SHLQ $2, R11
	LEAQ (SI)(SI*2), R13
	LEAQ (AX)(R13*1), BX

	MOVQ R10, R12
	FETCHY
	FETCHY
	FETCHY
	FETCHY
	FETCHY
	FETCHY

	VXORPS  Y0, Y0, Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y0, Y3
	VMOVAPS Y0, Y4
	VMOVAPS Y0, Y5
	VMOVAPS Y0, Y6
	VMOVAPS Y0, Y7
	VMOVAPS Y0, Y8
	VMOVAPS Y0, Y9
	VMOVAPS Y0, Y10
	VMOVAPS Y0, Y11

	SUBQ $4, R9
	JLT  rest

loop:
	STEP6(0, 0)
	STEP6(4, 64)
	STEP6(8, 128)
	STEP6(12, 192)
	ADDQ $16, AX
	ADDQ $16, BX
	ADDQ $256, DI
	SUBQ $4, R9
	JGE  loop

rest:
	ADDQ $4, R9
	JZ   done

one:
	STEP6(0, 0)
	ADDQ $4, AX
	ADDQ $4, BX
	ADDQ $64, DI
	DECQ R9
	JNZ  one

done:
	MOVQ  bias+48(FP), R12
	TESTQ R12, R12
	JZ    unbiased
	VMOVUPS (R12), Y12
	VMOVUPS 32(R12), Y13
	ADD2Y(Y0, Y1)
	ADD2Y(Y2, Y3)
	ADD2Y(Y4, Y5)
	ADD2Y(Y6, Y7)
	ADD2Y(Y8, Y9)
	ADD2Y(Y10, Y11)

unbiased:
	MOVBLZX add+56(FP), R12
	TESTL   R12, R12
	JZ      store
	ADDCY(Y0, Y1)
	ADDCY(Y2, Y3)
	ADDCY(Y4, Y5)
	ADDCY(Y6, Y7)
	ADDCY(Y8, Y9)
	ADDCY(Y10, Y11)
	MOVQ c+32(FP), R10

store:
	PUTY(Y0, Y1)
	PUTY(Y2, Y3)
	PUTY(Y4, Y5)
	PUTY(Y6, Y7)
	PUTY(Y8, Y9)
	PUTY(Y10, Y11)
	VZEROUPPER
	RET
