#include "textflag.h"

// func pairAVX512(dst, x *float32, n int)
TEXT ·pairAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), R9

loop:
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	LONG    $0x4877f262; WORD $0xd072 // VCVTNE2PS2BF16 Z0, Z1, Z2: Z0 in the lower half
	VMOVUPS Z2, (DI)
	ADDQ    $128, SI
	ADDQ    $64, DI
	SUBQ    $16, R9
	JNZ     loop
	VZEROUPPER
	RET
