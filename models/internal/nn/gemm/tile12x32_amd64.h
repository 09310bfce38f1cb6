// A tile of 12 × 32 in AVX-512, once for float32, once for pairs of bfloat16 and once for
// quads of integers. The files that include it name the function and the size of its
// ARGUMENTS, and define ROW0 to ROW11, which broadcast the number of A at an address and
// add its products with Z24 and Z25 to a row of C. The file for quads also defines
// DEQUANTIZE, which makes numbers of the sums.
//
// C stays in registers, two for each row. For each k, a row of both panels of B is
// loaded and multiplied with the numbers of a column of A. One register addresses
// three rows of A: base, base+lda, base+2·lda.

#define STEP12(da, db) \
	VMOVUPS db(DI), Z24 \
	VMOVUPS db(R8), Z25 \
	ROW0(da(AX)) \
	ROW1(da(AX)(SI*1)) \
	ROW2(da(AX)(SI*2)) \
	ROW3(da(BX)) \
	ROW4(da(BX)(SI*1)) \
	ROW5(da(BX)(SI*2)) \
	ROW6(da(CX)) \
	ROW7(da(CX)(SI*1)) \
	ROW8(da(CX)(SI*2)) \
	ROW9(da(DX)) \
	ROW10(da(DX)(SI*1)) \
	ROW11(da(DX)(SI*2))

// ADD2 adds the bias of both panels to a row.
#define ADD2(acc0, acc1) \
	VADDPS Z24, acc0, acc0 \
	VADDPS Z25, acc1, acc1

#define ADDC(acc0, acc1) \
	VADDPS (R10), acc0, acc0   \
	VADDPS 64(R10), acc1, acc1 \
	ADDQ   R11, R10

#define PUT(acc0, acc1) \
	VMOVUPS acc0, (R10)   \
	VMOVUPS acc1, 64(R10) \
	ADDQ    R11, R10

#define FETCH \
	PREFETCHT0 (R12)   \
	PREFETCHT0 64(R12) \
	ADDQ       R11, R12

// func(k int, a *float32, lda int, b0, b1, c *float32, ldc int, bias *float32, add bool)
TEXT TILE(SB), NOSPLIT, ARGUMENTS
	MOVQ k+0(FP), R9
	MOVQ a+8(FP), AX
	MOVQ lda+16(FP), SI
	MOVQ b0+24(FP), DI
	MOVQ b1+32(FP), R8
	MOVQ c+40(FP), R10
	MOVQ ldc+48(FP), R11
	SHLQ $2, SI
	SHLQ $2, R11
	LEAQ (SI)(SI*2), R13
	LEAQ (AX)(R13*1), BX
	LEAQ (BX)(R13*1), CX
	LEAQ (CX)(R13*1), DX

	MOVQ R10, R12
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH
	FETCH

	VPXORQ Z0, Z0, Z0
	VMOVAPS Z0, Z1
	VMOVAPS Z0, Z2
	VMOVAPS Z0, Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z0, Z5
	VMOVAPS Z0, Z6
	VMOVAPS Z0, Z7
	VMOVAPS Z0, Z8
	VMOVAPS Z0, Z9
	VMOVAPS Z0, Z10
	VMOVAPS Z0, Z11
	VMOVAPS Z0, Z12
	VMOVAPS Z0, Z13
	VMOVAPS Z0, Z14
	VMOVAPS Z0, Z15
	VMOVAPS Z0, Z16
	VMOVAPS Z0, Z17
	VMOVAPS Z0, Z18
	VMOVAPS Z0, Z19
	VMOVAPS Z0, Z20
	VMOVAPS Z0, Z21
	VMOVAPS Z0, Z22
	VMOVAPS Z0, Z23

	SUBQ $4, R9
	JLT  rest

loop:
	STEP12(0, 0)
	STEP12(4, 64)
	STEP12(8, 128)
	STEP12(12, 192)
	ADDQ $16, AX
	ADDQ $16, BX
	ADDQ $16, CX
	ADDQ $16, DX
	ADDQ $256, DI
	ADDQ $256, R8
	SUBQ $4, R9
	JGE  loop

rest:
	ADDQ $4, R9
	JZ   done

one:
	STEP12(0, 0)
	ADDQ $4, AX
	ADDQ $4, BX
	ADDQ $4, CX
	ADDQ $4, DX
	ADDQ $64, DI
	ADDQ $64, R8
	DECQ R9
	JNZ  one

done:
#ifdef DEQUANTIZE
	DEQUANTIZE
#endif
	MOVQ  bias+56(FP), R12
	TESTQ R12, R12
	JZ    unbiased
	VMOVUPS (R12), Z24
	VMOVUPS 64(R12), Z25
	ADD2(Z0, Z1)
	ADD2(Z2, Z3)
	ADD2(Z4, Z5)
	ADD2(Z6, Z7)
	ADD2(Z8, Z9)
	ADD2(Z10, Z11)
	ADD2(Z12, Z13)
	ADD2(Z14, Z15)
	ADD2(Z16, Z17)
	ADD2(Z18, Z19)
	ADD2(Z20, Z21)
	ADD2(Z22, Z23)

unbiased:
	MOVBLZX add+64(FP), R12
	TESTL   R12, R12
	JZ      store
	ADDC(Z0, Z1)
	ADDC(Z2, Z3)
	ADDC(Z4, Z5)
	ADDC(Z6, Z7)
	ADDC(Z8, Z9)
	ADDC(Z10, Z11)
	ADDC(Z12, Z13)
	ADDC(Z14, Z15)
	ADDC(Z16, Z17)
	ADDC(Z18, Z19)
	ADDC(Z20, Z21)
	ADDC(Z22, Z23)
	MOVQ c+40(FP), R10

store:
	PUT(Z0, Z1)
	PUT(Z2, Z3)
	PUT(Z4, Z5)
	PUT(Z6, Z7)
	PUT(Z8, Z9)
	PUT(Z10, Z11)
	PUT(Z12, Z13)
	PUT(Z14, Z15)
	PUT(Z16, Z17)
	PUT(Z18, Z19)
	PUT(Z20, Z21)
	PUT(Z22, Z23)
	VZEROUPPER
	RET
