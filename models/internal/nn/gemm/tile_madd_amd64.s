#include "textflag.h"

// A tile of 6 × 16 quads in AVX2, as two halves of eight columns. For each quad, the
// bytes of eight columns are widened to 16 bits, in Y12 and Y13, and multiplied with the
// four 16-bit integers of a row. A register of C holds two sums for each of four columns.

#define ROW(addr, acc0, acc1) \
	VPBROADCASTQ addr, Y14       \
	VPMADDWD     Y12, Y14, Y15   \
	VPMADDWD     Y13, Y14, Y14   \
	VPADDD       Y15, acc0, acc0 \
	VPADDD       Y14, acc1, acc1

// NUMBERS makes eight numbers, in acc0, of the sums of a row.
#define NUMBERS(at, acc0, acc1) \
	VPHADDD      acc1, acc0, acc0  \
	VPERMQ       $0xD8, acc0, acc0 \
	VPBROADCASTD at(R12), Y14      \
	VBROADCASTSS at(R13), Y15      \
	VPSUBD       Y14, acc0, acc0   \
	VCVTDQ2PS    acc0, acc0        \
	VMULPS       Y15, acc0, acc0   \
	VMULPS       Y12, acc0, acc0

#define ADDCY(acc) \
	VADDPS (R12), acc, acc \
	ADDQ   R11, R12

#define PUTY(acc) \
	VMOVUPS acc, (R12) \
	ADDQ    R11, R12

// func tile6x16MADD(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool, sums *int32, rows, cols *float32)
TEXT ·tile6x16MADD(SB), NOSPLIT, $0-88
	MOVQ lda+16(FP), SI
	MOVQ c+32(FP), R10
	MOVQ ldc+40(FP), R11
	SHLQ $2, SI
	SHLQ $2, R11
	XORQ R8, R8 // the first byte of the half in rows of 16 numbers

half:
	MOVQ k+0(FP), R9
	MOVQ a+8(FP), AX
	LEAQ (SI)(SI*2), R13
	LEAQ (AX)(R13*1), BX
	MOVQ b+24(FP), DI
	ADDQ R8, DI

	VPXOR   Y0, Y0, Y0
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

	TESTQ R9, R9
	JZ    done

loop:
	VPMOVZXBW (DI), Y12
	VPMOVZXBW 16(DI), Y13
	ROW((AX), Y0, Y1)
	ROW((AX)(SI*1), Y2, Y3)
	ROW((AX)(SI*2), Y4, Y5)
	ROW((BX), Y6, Y7)
	ROW((BX)(SI*1), Y8, Y9)
	ROW((BX)(SI*2), Y10, Y11)
	ADDQ $8, AX
	ADDQ $8, BX
	ADDQ $64, DI
	DECQ R9
	JNZ  loop

done:
	MOVQ sums+64(FP), R12
	MOVQ rows+72(FP), R13
	MOVQ cols+80(FP), DX
	VMOVUPS (DX)(R8*1), Y12
	NUMBERS(0, Y0, Y1)
	NUMBERS(4, Y2, Y3)
	NUMBERS(8, Y4, Y5)
	NUMBERS(12, Y6, Y7)
	NUMBERS(16, Y8, Y9)
	NUMBERS(20, Y10, Y11)

	MOVQ  bias+48(FP), R12
	TESTQ R12, R12
	JZ    unbiased
	VMOVUPS (R12)(R8*1), Y12
	VADDPS Y12, Y0, Y0
	VADDPS Y12, Y2, Y2
	VADDPS Y12, Y4, Y4
	VADDPS Y12, Y6, Y6
	VADDPS Y12, Y8, Y8
	VADDPS Y12, Y10, Y10

unbiased:
	MOVBLZX add+56(FP), R12
	TESTL   R12, R12
	JZ      store
	LEAQ    (R10)(R8*1), R12
	ADDCY(Y0)
	ADDCY(Y2)
	ADDCY(Y4)
	ADDCY(Y6)
	ADDCY(Y8)
	ADDCY(Y10)

store:
	LEAQ (R10)(R8*1), R12
	PUTY(Y0)
	PUTY(Y2)
	PUTY(Y4)
	PUTY(Y6)
	PUTY(Y8)
	PUTY(Y10)
	ADDQ $32, R8
	CMPQ R8, $64
	JLT  half
	VZEROUPPER
	RET
