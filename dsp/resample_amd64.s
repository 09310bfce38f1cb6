#include "textflag.h"

// func interpolateAVX(dst, z, table *float64, taps, n, phase, den, step, turn int)
//
// interpolateAVX computes the same as the loop in Resampler.interpolate for exact phases,
// with the same four sums. After each output z advances by step samples, and by one more
// if the phase wraps around.
TEXT ·interpolateAVX(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ z+8(FP), SI
	MOVQ table+16(FP), DX
	MOVQ taps+24(FP), R8
	MOVQ n+32(FP), CX
	MOVQ phase+40(FP), BX
	MOVQ den+48(FP), R9
	MOVQ step+56(FP), R10
	MOVQ turn+64(FP), R11
	SHLQ $3, R8              // bytes of a row
	SHLQ $3, R10             // bytes of a step

output:
	MOVQ  BX, AX
	IMULQ R8, AX
	ADDQ  DX, AX             // the row of this phase
	VXORPD Y0, Y0, Y0
	XORQ  R12, R12

tap:
	VMOVUPD (AX)(R12*1), Y1
	VMULPD  (SI)(R12*1), Y1, Y1
	VADDPD  Y1, Y0, Y0
	ADDQ    $32, R12
	CMPQ    R12, R8
	JLT     tap

	VHADDPD      Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDSD       X1, X0, X0
	VMOVSD       X0, (DI)
	ADDQ         $8, DI

	ADDQ    R10, SI
	ADDQ    R11, BX
	XORQ    R13, R13
	MOVQ    BX, R12
	SUBQ    R9, R12          // the phase after it wraps around
	CMPQ    BX, R9
	CMOVQGE R12, BX
	SETGE   R13
	LEAQ    (SI)(R13*8), SI
	DECQ    CX
	JNE     output
	VZEROUPPER
	RET
