#include "textflag.h"

// The loops of vector_amd64.h for registers of four numbers. n is a multiple of 4, at
// least 4. Go's assembler has no vector addition, but has fused multiply-add: V31 is 1 in
// all lanes, and the product with 1 is exact. Other missing instructions are written as
// the words that llvm-mc produces. Sums are returned in four parts.

#define ONE \
	FMOVS $1.0, F31 \
	VDUP  V31.S[0], V31.S4

// EXP2 replaces each number x of V0, at least -125, by 2^x. Adding 1.5·2^23, in V29,
// rounds x to an integer in the lower bits. V16 to V22 are the coefficients of the
// polynomial. It changes V1, V2 and V3.
#define EXP2 \
	VMOV  V29.B16, V1.B16        \
	VFMLA V31.S4, V0.S4, V1.S4   \
	VSHL  $23, V1.S4, V3.S4      \
	VFMLS V31.S4, V29.S4, V1.S4  \
	VFMLS V31.S4, V1.S4, V0.S4   \
	VMOV  V21.B16, V1.B16        \
	VFMLA V22.S4, V0.S4, V1.S4   \
	VMOV  V20.B16, V2.B16        \
	VFMLA V1.S4, V0.S4, V2.S4    \
	VMOV  V19.B16, V1.B16        \
	VFMLA V2.S4, V0.S4, V1.S4    \
	VMOV  V18.B16, V2.B16        \
	VFMLA V1.S4, V0.S4, V2.S4    \
	VMOV  V17.B16, V1.B16        \
	VFMLA V2.S4, V0.S4, V1.S4    \
	VMOV  V16.B16, V2.B16        \
	VFMLA V1.S4, V0.S4, V2.S4    \
	VADD  V3.S4, V2.S4, V0.S4

// LOADEXP2 loads V16 to V22, V23 (-125), V24 (log2(e)) and V29 from the table at R2.
#define LOADEXP2 \
	VLD1 (R2), [V16.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V17.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V18.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V19.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V20.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V21.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V22.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V23.S4] \
	ADD  $64, R2              \
	VLD1 (R2), [V24.S4] \
	ADD  $64, R2              \
	MOVW $0x4B400000, R3 \
	VDUP R3, V29.S4

// func geluNEON(x *float32, n int, exp2, gelu *[16]float32)
TEXT ·geluNEON(SB), NOSPLIT, $0-32
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD exp2+16(FP), R2
	MOVD gelu+24(FP), R4
	ONE
	LOADEXP2
	VEOR V30.B16, V30.B16, V30.B16
	VLD1 (R4), [V4.S4]
	ADD  $64, R4
	VLD1 (R4), [V5.S4]
	ADD  $64, R4
	VLD1 (R4), [V6.S4]
	ADD  $64, R4
	VLD1 (R4), [V7.S4]
	ADD  $64, R4
	VLD1 (R4), [V8.S4]
	ADD  $64, R4
	VLD1 (R4), [V9.S4]
	ADD  $64, R4
	VLD1 (R4), [V10.S4]
	ADD  $64, R4
	VLD1 (R4), [V11.S4]
	ADD  $64, R4
	VLD1 (R4), [V12.S4]
	ADD  $64, R4

geluLoop:
	VLD1 (R0), [V13.S4]
	WORD $0x6ea0f9ae // FNEG V13.S4, V14.S4
	WORD $0x4e2df5ce // FMAX V13.S4, V14.S4, V14.S4: |x|
	WORD $0x4e3ef5ad // FMAX V30.S4, V13.S4, V13.S4: the result for a large x
	VMOV  V11.B16, V0.B16
	VFMLA V12.S4, V14.S4, V0.S4
	VMOV  V10.B16, V1.B16
	VFMLA V0.S4, V14.S4, V1.S4
	VMOV  V9.B16, V0.B16
	VFMLA V1.S4, V14.S4, V0.S4
	VMOV  V8.B16, V1.B16
	VFMLA V0.S4, V14.S4, V1.S4
	VMOV  V7.B16, V0.B16
	VFMLA V1.S4, V14.S4, V0.S4
	VMOV  V6.B16, V1.B16
	VFMLA V0.S4, V14.S4, V1.S4
	VMOV  V5.B16, V0.B16
	VFMLA V1.S4, V14.S4, V0.S4
	VMOV  V4.B16, V1.B16
	VFMLA V0.S4, V14.S4, V1.S4
	WORD $0x4e37f420 // FMAX V23.S4, V1.S4, V0.S4
	EXP2
	VFMLS V0.S4, V14.S4, V13.S4
	VST1.P [V13.S4], 16(R0)
	SUBS  $4, R1
	BNE   geluLoop
	RET

// func expSumNEON(x *float32, n int, max float32, exp2 *[16]float32, sum *[4]float32)
TEXT ·expSumNEON(SB), NOSPLIT, $0-40
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS max+16(FP), F25
	MOVD  exp2+24(FP), R2
	MOVD  sum+32(FP), R5
	VDUP  V25.S[0], V25.S4
	ONE
	LOADEXP2
	VEOR  V30.B16, V30.B16, V30.B16

expLoop:
	VLD1  (R0), [V4.S4]
	VFMLS V31.S4, V25.S4, V4.S4
	VEOR  V0.B16, V0.B16, V0.B16
	VFMLA V24.S4, V4.S4, V0.S4
	WORD $0x4e37f400 // FMAX V23.S4, V0.S4, V0.S4
	EXP2
	VFMLA V31.S4, V0.S4, V30.S4
	VST1.P [V0.S4], 16(R0)
	SUBS  $4, R1
	BNE   expLoop
	VST1  [V30.S4], (R5)
	RET

// func maximumNEON(x *float32, n int, top *[4]float32)
TEXT ·maximumNEON(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD top+16(FP), R2
	VLD1 (R0), [V0.S4]

maxLoop:
	VLD1.P 16(R0), [V1.S4]
	WORD $0x4e21f400 // FMAX V1.S4, V0.S4, V0.S4
	SUBS $4, R1
	BNE  maxLoop
	VST1 [V0.S4], (R2)
	RET

// func sumNEON(x *float32, n int, sum *[4]float32)
TEXT ·sumNEON(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD sum+16(FP), R2
	ONE
	VEOR V0.B16, V0.B16, V0.B16

sumLoop:
	VLD1.P 16(R0), [V1.S4]
	VFMLA  V31.S4, V1.S4, V0.S4
	SUBS   $4, R1
	BNE    sumLoop
	VST1   [V0.S4], (R2)
	RET

// func squaresNEON(x *float32, n int, c float32, sum *[4]float32)
TEXT ·squaresNEON(SB), NOSPLIT, $0-32
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS c+16(FP), F2
	MOVD  sum+24(FP), R2
	VDUP  V2.S[0], V2.S4
	ONE
	VEOR  V0.B16, V0.B16, V0.B16

squaresLoop:
	VLD1.P 16(R0), [V1.S4]
	VFMLS  V31.S4, V2.S4, V1.S4
	VFMLA  V1.S4, V1.S4, V0.S4
	SUBS   $4, R1
	BNE    squaresLoop
	VST1   [V0.S4], (R2)
	RET

// func normalizeNEON(dst, x, w, b *float32, n int, mean, scale float32)
TEXT ·normalizeNEON(SB), NOSPLIT, $0-48
	MOVD  dst+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  w+16(FP), R2
	MOVD  b+24(FP), R3
	MOVD  n+32(FP), R4
	FMOVS mean+40(FP), F5
	FMOVS scale+44(FP), F6
	VDUP  V5.S[0], V5.S4
	VDUP  V6.S[0], V6.S4
	ONE

normalizeLoop:
	VLD1.P 16(R1), [V0.S4]
	VLD1.P 16(R2), [V1.S4]
	VLD1.P 16(R3), [V2.S4]
	VFMLS  V31.S4, V5.S4, V0.S4
	VEOR   V3.B16, V3.B16, V3.B16
	VFMLA  V6.S4, V0.S4, V3.S4
	VFMLA  V1.S4, V3.S4, V2.S4
	VST1.P [V2.S4], 16(R0)
	SUBS   $4, R4
	BNE    normalizeLoop
	RET

// func scaleNEON(x *float32, n int, f float32)
TEXT ·scaleNEON(SB), NOSPLIT, $0-20
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS f+16(FP), F2
	VDUP  V2.S[0], V2.S4

scaleLoop:
	VLD1   (R0), [V1.S4]
	VEOR   V0.B16, V0.B16, V0.B16
	VFMLA  V2.S4, V1.S4, V0.S4
	VST1.P [V0.S4], 16(R0)
	SUBS   $4, R1
	BNE    scaleLoop
	RET
