#include "textflag.h"

// ROW multiplies the next number of a row of A with a row of the panel.
#define ROW(a, t, acc0, acc1, acc2, acc3) \
	VLD1R.P 4(a), [t.S4]        \
	VFMLA   V24.S4, t.S4, acc0.S4 \
	VFMLA   V25.S4, t.S4, acc1.S4 \
	VFMLA   V26.S4, t.S4, acc2.S4 \
	VFMLA   V27.S4, t.S4, acc3.S4

// STEP adds the products of one k to all rows.
#define STEP \
	VLD1.P 64(R7), [V24.S4, V25.S4, V26.S4, V27.S4] \
	ROW(R1, V28, V0, V1, V2, V3)     \
	ROW(R2, V29, V4, V5, V6, V7)     \
	ROW(R3, V30, V8, V9, V10, V11)   \
	ROW(R4, V31, V12, V13, V14, V15) \
	ROW(R5, V28, V16, V17, V18, V19) \
	ROW(R6, V29, V20, V21, V22, V23)

// ADDROW adds V24 to V27 to a row, as a fused product with 1, which rounds like a sum.
#define ADDROW(acc0, acc1, acc2, acc3) \
	VFMLA V24.S4, V31.S4, acc0.S4 \
	VFMLA V25.S4, V31.S4, acc1.S4 \
	VFMLA V26.S4, V31.S4, acc2.S4 \
	VFMLA V27.S4, V31.S4, acc3.S4

#define ADDC(acc0, acc1, acc2, acc3) \
	VLD1 (R11), [V24.S4, V25.S4, V26.S4, V27.S4] \
	ADD  R9, R11                                 \
	ADDROW(acc0, acc1, acc2, acc3)

// func tile6x16NEON(k int, a *float32, lda int, b, c *float32, ldc int, bias *float32, add bool)
TEXT ·tile6x16NEON(SB), NOSPLIT, $0-57
	MOVD k+0(FP), R0
	MOVD a+8(FP), R1
	MOVD lda+16(FP), R10
	MOVD b+24(FP), R7
	MOVD c+32(FP), R8
	MOVD ldc+40(FP), R9
	LSL  $2, R9
	ADD  R10<<2, R1, R2
	ADD  R10<<2, R2, R3
	ADD  R10<<2, R3, R4
	ADD  R10<<2, R4, R5
	ADD  R10<<2, R5, R6

	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16

	CBZ R0, done

loop:
	STEP
	SUBS $1, R0
	BNE  loop

done:
	FMOVS $1.0, F31
	VDUP  V31.S[0], V31.S4
	MOVD  bias+48(FP), R10
	CBZ   R10, unbiased
	VLD1  (R10), [V24.S4, V25.S4, V26.S4, V27.S4]
	ADDROW(V0, V1, V2, V3)
	ADDROW(V4, V5, V6, V7)
	ADDROW(V8, V9, V10, V11)
	ADDROW(V12, V13, V14, V15)
	ADDROW(V16, V17, V18, V19)
	ADDROW(V20, V21, V22, V23)

unbiased:
	MOVBU add+56(FP), R10
	CBZ   R10, store
	MOVD  R8, R11
	ADDC(V0, V1, V2, V3)
	ADDC(V4, V5, V6, V7)
	ADDC(V8, V9, V10, V11)
	ADDC(V12, V13, V14, V15)
	ADDC(V16, V17, V18, V19)
	ADDC(V20, V21, V22, V23)

store:
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R8)
	ADD  R9, R8
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R8)
	ADD  R9, R8
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R8)
	ADD  R9, R8
	VST1 [V12.S4, V13.S4, V14.S4, V15.S4], (R8)
	ADD  R9, R8
	VST1 [V16.S4, V17.S4, V18.S4, V19.S4], (R8)
	ADD  R9, R8
	VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R8)
	RET
