#include "textflag.h"

// The functions compute the same as the loops in loops.go, with the same operations in
// the same order and without fused multiply-add, so that the results have the same bits. A
// register holds one number of each of four frames. VSUBPD b, a, d is d = a − b.

DATA half<>+0(SB)/8, $0.5
GLOBL half<>(SB), RODATA|NOPTR, $8

DATA quarter<>+0(SB)/8, $0.25
GLOBL quarter<>(SB), RODATA|NOPTR, $8

// func loadAVX2(dst, a, b, c, d, window *float64, n int)
TEXT ·loadAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ window+40(FP), DX
	MOVQ n+48(FP), CX
	XORQ AX, AX

load:
	VMOVUPD    (DX)(AX*8), Y4
	VMULPD     (R8)(AX*8), Y4, Y0
	VMULPD     (R9)(AX*8), Y4, Y1
	VMULPD     (R10)(AX*8), Y4, Y2
	VMULPD     (R11)(AX*8), Y4, Y3
	VUNPCKLPD  Y1, Y0, Y4
	VUNPCKHPD  Y1, Y0, Y5
	VUNPCKLPD  Y3, Y2, Y6
	VUNPCKHPD  Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y1, 32(DI)
	VMOVUPD    Y2, 64(DI)
	VMOVUPD    Y3, 96(DI)
	ADDQ       $128, DI
	ADDQ       $4, AX
	CMPQ       AX, CX
	JLT        load
	VZEROUPPER
	RET

// func unloadAVX2(a, b, c, d, x *float64, n int)
TEXT ·unloadAVX2(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), R8
	MOVQ b+8(FP), R9
	MOVQ c+16(FP), R10
	MOVQ d+24(FP), R11
	MOVQ x+32(FP), SI
	MOVQ n+40(FP), CX
	XORQ AX, AX

unload:
	VMOVUPD    (SI), Y0
	VMOVUPD    32(SI), Y1
	VMOVUPD    64(SI), Y2
	VMOVUPD    96(SI), Y3
	VUNPCKLPD  Y1, Y0, Y4
	VUNPCKHPD  Y1, Y0, Y5
	VUNPCKLPD  Y3, Y2, Y6
	VUNPCKHPD  Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD    Y0, (R8)(AX*8)
	VMOVUPD    Y1, (R9)(AX*8)
	VMOVUPD    Y2, (R10)(AX*8)
	VMOVUPD    Y3, (R11)(AX*8)
	ADDQ       $128, SI
	ADDQ       $4, AX
	CMPQ       AX, CX
	JLT        unload
	VZEROUPPER
	RET

// BUTTERFLY is the transform of the complex numbers in Y0, Y1 to Y6, Y7. The results are in
// Y10, Y11 (the first), Y12, Y13 (the second), Y8, Y9 (the third) and Y0, Y1 (the last).
#define BUTTERFLY \
	VADDPD Y4, Y0, Y8   \
	VSUBPD Y4, Y0, Y0   \
	VADDPD Y5, Y1, Y9   \
	VSUBPD Y5, Y1, Y1   \
	VADDPD Y6, Y2, Y14  \
	VSUBPD Y6, Y2, Y2   \
	VADDPD Y7, Y3, Y15  \
	VSUBPD Y7, Y3, Y3   \
	VADDPD Y14, Y8, Y10 \
	VADDPD Y15, Y9, Y11 \
	VSUBPD Y14, Y8, Y8  \
	VSUBPD Y15, Y9, Y9  \
	VADDPD Y3, Y0, Y12  \
	VSUBPD Y2, Y1, Y13  \
	VSUBPD Y3, Y0, Y0   \
	VADDPD Y2, Y1, Y1

// TIMES is the product in Y4, Y5 of the complex number in re, im with that at off(DX).
#define TIMES(re, im, off) \
	VBROADCASTSD off(DX), Y2     \
	VBROADCASTSD (off+8)(DX), Y3 \
	VMULPD       Y2, re, Y4      \
	VMULPD       Y3, im, Y5      \
	VSUBPD       Y5, Y4, Y4      \
	VMULPD       Y3, re, Y5      \
	VMULPD       Y2, im, Y6      \
	VADDPD       Y6, Y5, Y5

// func stageAVX2(z, w *float64, q, blocks int)
TEXT ·stageAVX2(SB), NOSPLIT, $0-32
	MOVQ z+0(FP), SI
	MOVQ q+16(FP), R8
	MOVQ blocks+24(FP), BX
	SHLQ $6, R8            // bytes of a quarter of a block
	LEAQ (R8)(R8*2), R9

block:
	MOVQ w+8(FP), DX
	MOVQ q+16(FP), CX

stage:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVUPD (SI)(R8*1), Y2
	VMOVUPD 32(SI)(R8*1), Y3
	VMOVUPD (SI)(R8*2), Y4
	VMOVUPD 32(SI)(R8*2), Y5
	VMOVUPD (SI)(R9*1), Y6
	VMOVUPD 32(SI)(R9*1), Y7
	BUTTERFLY
	VMOVUPD Y10, (SI)
	VMOVUPD Y11, 32(SI)
	TIMES(Y12, Y13, 0)
	VMOVUPD Y4, (SI)(R8*1)
	VMOVUPD Y5, 32(SI)(R8*1)
	TIMES(Y8, Y9, 16)
	VMOVUPD Y4, (SI)(R8*2)
	VMOVUPD Y5, 32(SI)(R8*2)
	TIMES(Y0, Y1, 32)
	VMOVUPD Y4, (SI)(R9*1)
	VMOVUPD Y5, 32(SI)(R9*1)
	ADDQ    $64, SI
	ADDQ    $48, DX
	DECQ    CX
	JNE     stage
	ADDQ    R9, SI
	DECQ    BX
	JNE     block
	VZEROUPPER
	RET

// func last4AVX2(z *float64, blocks int)
TEXT ·last4AVX2(SB), NOSPLIT, $0-16
	MOVQ z+0(FP), SI
	MOVQ blocks+8(FP), CX

last4:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVUPD 64(SI), Y2
	VMOVUPD 96(SI), Y3
	VMOVUPD 128(SI), Y4
	VMOVUPD 160(SI), Y5
	VMOVUPD 192(SI), Y6
	VMOVUPD 224(SI), Y7
	BUTTERFLY
	VMOVUPD Y10, (SI)
	VMOVUPD Y11, 32(SI)
	VMOVUPD Y12, 64(SI)
	VMOVUPD Y13, 96(SI)
	VMOVUPD Y8, 128(SI)
	VMOVUPD Y9, 160(SI)
	VMOVUPD Y0, 192(SI)
	VMOVUPD Y1, 224(SI)
	ADDQ    $256, SI
	DECQ    CX
	JNE     last4
	VZEROUPPER
	RET

// func last2AVX2(z *float64, blocks int)
TEXT ·last2AVX2(SB), NOSPLIT, $0-16
	MOVQ z+0(FP), SI
	MOVQ blocks+8(FP), CX

last2:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMOVUPD 64(SI), Y2
	VMOVUPD 96(SI), Y3
	VADDPD  Y2, Y0, Y4
	VADDPD  Y3, Y1, Y5
	VSUBPD  Y2, Y0, Y6
	VSUBPD  Y3, Y1, Y7
	VMOVUPD Y4, (SI)
	VMOVUPD Y5, 32(SI)
	VMOVUPD Y6, 64(SI)
	VMOVUPD Y7, 96(SI)
	ADDQ    $128, SI
	DECQ    CX
	JNE     last2
	VZEROUPPER
	RET

// SEPARATE sets Y0, Y1 to 2·E and Y2, Y3 to 2·w·O of the bin at DX.
#define SEPARATE \
	MOVQ         (DX), R10           \
	MOVQ         8(DX), R11          \
	VBROADCASTSD 16(DX), Y8          \
	VBROADCASTSD 24(DX), Y9          \
	VMOVUPD      (SI)(R10*8), Y4     \
	VMOVUPD      32(SI)(R10*8), Y5   \
	VMOVUPD      (SI)(R11*8), Y6     \
	VMOVUPD      32(SI)(R11*8), Y7   \
	VADDPD       Y6, Y4, Y0          \
	VSUBPD       Y7, Y5, Y1          \
	VADDPD       Y7, Y5, Y5          \
	VSUBPD       Y4, Y6, Y4          \
	VMULPD       Y8, Y5, Y2          \
	VMULPD       Y9, Y4, Y6          \
	VSUBPD       Y6, Y2, Y2          \
	VMULPD       Y9, Y5, Y3          \
	VMULPD       Y8, Y4, Y6          \
	VADDPD       Y6, Y3, Y3          \
	ADDQ         $32, DX

// func powersAVX2(low, high, z *float64, bins *bin, n int)
TEXT ·powersAVX2(SB), NOSPLIT, $0-40
	MOVQ         low+0(FP), DI
	MOVQ         high+8(FP), R9
	MOVQ         z+16(FP), SI
	MOVQ         bins+24(FP), DX
	MOVQ         n+32(FP), CX
	VBROADCASTSD quarter<>(SB), Y15

power:
	SEPARATE
	VADDPD  Y2, Y0, Y4
	VADDPD  Y3, Y1, Y5
	VSUBPD  Y2, Y0, Y6
	VSUBPD  Y3, Y1, Y7
	VMULPD  Y4, Y4, Y4
	VMULPD  Y5, Y5, Y5
	VMULPD  Y6, Y6, Y6
	VMULPD  Y7, Y7, Y7
	VADDPD  Y5, Y4, Y4
	VADDPD  Y7, Y6, Y6
	VMULPD  Y15, Y4, Y4
	VMULPD  Y15, Y6, Y6
	VMOVUPD Y4, (DI)
	VMOVUPD Y6, (R9)
	ADDQ    $32, DI
	SUBQ    $32, R9
	DECQ    CX
	JNE     power
	VZEROUPPER
	RET

// func coefficientsAVX2(low, high, z *float64, bins *bin, n int)
TEXT ·coefficientsAVX2(SB), NOSPLIT, $0-40
	MOVQ         low+0(FP), DI
	MOVQ         high+8(FP), R9
	MOVQ         z+16(FP), SI
	MOVQ         bins+24(FP), DX
	MOVQ         n+32(FP), CX
	VBROADCASTSD half<>(SB), Y15

coefficients:
	SEPARATE
	VADDPD  Y2, Y0, Y4
	VADDPD  Y3, Y1, Y5
	VSUBPD  Y2, Y0, Y6
	VSUBPD  Y1, Y3, Y7
	VMULPD  Y15, Y4, Y4
	VMULPD  Y15, Y5, Y5
	VMULPD  Y15, Y6, Y6
	VMULPD  Y15, Y7, Y7
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, (R9)
	VMOVUPD Y7, 32(R9)
	ADDQ    $64, DI
	SUBQ    $64, R9
	DECQ    CX
	JNE     coefficients
	VZEROUPPER
	RET
