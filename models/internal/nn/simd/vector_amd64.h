// The loops, once for AVX2 and once for AVX-512. The files that include this one
// name the registers V0 to V9, their LENGTH in numbers and SIZE in bytes, and the
// functions. n is a multiple of LENGTH, at least LENGTH. In tables each constant is
// repeated 16 times and takes 64 bytes.

// EXP2 replaces y, at least -125, by 2^y: y = n + f with |f| ≤ 1/2, and n is added
// to the exponent of a polynomial of f. CX points to exp2Table.
#define EXP2(y, n, f) \
	VCVTPS2DQ   y, n           \
	VCVTDQ2PS   n, f           \
	VSUBPS      f, y, f        \
	VPSLLD      $23, n, n      \
	VMOVUPS     384(CX), y     \
	VFMADD213PS 320(CX), f, y  \
	VFMADD213PS 256(CX), f, y  \
	VFMADD213PS 192(CX), f, y  \
	VFMADD213PS 128(CX), f, y  \
	VFMADD213PS 64(CX), f, y   \
	VFMADD213PS (CX), f, y     \
	VPADDD      n, y, y

// func gelu(x *float32, n int, exp2, gelu *[16]float32)
TEXT GELU(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	MOVQ exp2+16(FP), CX
	MOVQ gelu+24(FP), DX
	VMOVUPS 576(DX), V9  // zero
	VMOVUPS 448(CX), V8  // -125

geluLoop:
	VMOVUPS (DI), V0
	VMAXPS  V9, V0, V1  // the result for a large x
	VSUBPS  V0, V9, V2
	VMAXPS  V2, V0, V2  // u = |x|
	VMOVUPS 512(DX), V3
	VFMADD213PS 448(DX), V2, V3
	VFMADD213PS 384(DX), V2, V3
	VFMADD213PS 320(DX), V2, V3
	VFMADD213PS 256(DX), V2, V3
	VFMADD213PS 192(DX), V2, V3
	VFMADD213PS 128(DX), V2, V3
	VFMADD213PS 64(DX), V2, V3
	VFMADD213PS (DX), V2, V3
	VMAXPS  V8, V3, V3
	EXP2(V3, V4, V5)
	VFNMADD231PS V3, V2, V1
	VMOVUPS V1, (DI)
	ADDQ    $SIZE, DI
	SUBQ    $LENGTH, R9
	JNZ     geluLoop
	VZEROUPPER
	RET

// func expSum(x *float32, n int, max float32, exp2 *[16]float32) float32
TEXT EXPSUM(SB), NOSPLIT, $0-36
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	VBROADCASTSS max+16(FP), V7
	MOVQ exp2+24(FP), CX
	VMOVUPS 512(CX), V6  // log2(e)
	VMOVUPS 448(CX), V8  // -125
	VMULPS  V6, V7, V7
	VXORPS  X9, X9, X9

expLoop:
	VMOVUPS (DI), V0
	VFMSUB132PS V6, V7, V0
	VMAXPS  V8, V0, V0
	EXP2(V0, V1, V2)
	VADDPS  V0, V9, V9
	VMOVUPS V0, (DI)
	ADDQ    $SIZE, DI
	SUBQ    $LENGTH, R9
	JNZ     expLoop
	FOLD(VADDPS)
	VADDPS  X8, X9, X9
	VSHUFPS $0x4E, X9, X9, X8
	VADDPS  X8, X9, X9
	VSHUFPS $0xB1, X9, X9, X8
	VADDSS  X8, X9, X9
	VMOVSS  X9, ret+32(FP)
	VZEROUPPER
	RET

// func maximum(x *float32, n int) float32
TEXT MAXIMUM(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	VMOVUPS (DI), V9

maxLoop:
	VMAXPS (DI), V9, V9
	ADDQ   $SIZE, DI
	SUBQ   $LENGTH, R9
	JNZ    maxLoop
	FOLD(VMAXPS)
	VMAXPS  X8, X9, X9
	VSHUFPS $0x4E, X9, X9, X8
	VMAXPS  X8, X9, X9
	VSHUFPS $0xB1, X9, X9, X8
	VMAXSS  X8, X9, X9
	VMOVSS  X9, ret+16(FP)
	VZEROUPPER
	RET

// func sum(x *float32, n int) float32
TEXT SUM(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	VXORPS X9, X9, X9

sumLoop:
	VADDPS (DI), V9, V9
	ADDQ   $SIZE, DI
	SUBQ   $LENGTH, R9
	JNZ    sumLoop
	FOLD(VADDPS)
	VADDPS  X8, X9, X9
	VSHUFPS $0x4E, X9, X9, X8
	VADDPS  X8, X9, X9
	VSHUFPS $0xB1, X9, X9, X8
	VADDSS  X8, X9, X9
	VMOVSS  X9, ret+16(FP)
	VZEROUPPER
	RET

// func squares(x *float32, n int, c float32) float32
TEXT SQUARES(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	VBROADCASTSS c+16(FP), V7
	VXORPS X9, X9, X9

squaresLoop:
	VMOVUPS (DI), V0
	VSUBPS  V7, V0, V0
	VFMADD231PS V0, V0, V9
	ADDQ    $SIZE, DI
	SUBQ    $LENGTH, R9
	JNZ     squaresLoop
	FOLD(VADDPS)
	VADDPS  X8, X9, X9
	VSHUFPS $0x4E, X9, X9, X8
	VADDPS  X8, X9, X9
	VSHUFPS $0xB1, X9, X9, X8
	VADDSS  X8, X9, X9
	VMOVSS  X9, ret+24(FP)
	VZEROUPPER
	RET

// func normalize(dst, x, w, b *float32, n int, mean, scale float32)
TEXT NORMALIZE(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ b+24(FP), CX
	MOVQ n+32(FP), R9
	VBROADCASTSS mean+40(FP), V7
	VBROADCASTSS scale+44(FP), V8

normalizeLoop:
	VMOVUPS (SI), V0
	VSUBPS  V7, V0, V0
	VMULPS  V8, V0, V0
	VMOVUPS (DX), V1
	VFMADD213PS (CX), V1, V0
	VMOVUPS V0, (DI)
	ADDQ    $SIZE, DI
	ADDQ    $SIZE, SI
	ADDQ    $SIZE, DX
	ADDQ    $SIZE, CX
	SUBQ    $LENGTH, R9
	JNZ     normalizeLoop
	VZEROUPPER
	RET

// func scale(x *float32, n int, f float32)
TEXT SCALE(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), R9
	VBROADCASTSS f+16(FP), V7

scaleLoop:
	VMULPS  (DI), V7, V0
	VMOVUPS V0, (DI)
	ADDQ    $SIZE, DI
	SUBQ    $LENGTH, R9
	JNZ     scaleLoop
	VZEROUPPER
	RET
