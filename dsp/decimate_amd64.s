#include "textflag.h"

DATA middle<>+0(SB)/8, $0.5
GLOBL middle<>(SB), RODATA|NOPTR, $8

// func splitAVX(even, odd, x *float64, n int)
TEXT ·splitAVX(SB), NOSPLIT, $0-32
	MOVQ even+0(FP), DI
	MOVQ odd+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX

split:
	VMOVUPD     (SI), X0
	VMOVUPD     16(SI), X1
	VINSERTF128 $1, 32(SI), Y0, Y0
	VINSERTF128 $1, 48(SI), Y1, Y1
	VUNPCKLPD   Y1, Y0, Y2
	VUNPCKHPD   Y1, Y0, Y3
	VMOVUPD     Y2, (DI)
	VMOVUPD     Y3, (DX)
	ADDQ        $64, SI
	ADDQ        $32, DI
	ADDQ        $32, DX
	SUBQ        $4, CX
	JNE         split
	VZEROUPPER
	RET

// TAP adds the four even samples at a(SI) and those at b(SI), and sets y to their
// product with coefficient k at R8.
#define TAP(k, a, b, y) \
	VMOVUPD      a(SI), y       \
	VADDPD       b(SI), y, y    \
	VBROADCASTSD (8*k)(R8), Y15 \
	VMULPD       Y15, y, y

// func halveAVX(dst, even, odd, h *float64, taps, n int)
//
// The sums are grouped as in the pure Go functions: the middle and four pairs, then
// twice four pairs.
TEXT ·halveAVX(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         even+8(FP), SI
	MOVQ         odd+16(FP), DX
	MOVQ         h+24(FP), R8
	MOVQ         taps+32(FP), BX
	MOVQ         n+40(FP), CX
	VBROADCASTSD middle<>(SB), Y14
	CMPQ         BX, $4
	JNE          twelve

four:
	VMULPD  24(DX), Y14, Y0
	TAP(0, 24, 32, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(1, 16, 40, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(2, 8, 48, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(3, 0, 56, Y1)
	VADDPD  Y1, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     four
	VZEROUPPER
	RET

twelve:
	VMULPD  88(DX), Y14, Y0
	TAP(0, 88, 96, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(1, 80, 104, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(2, 72, 112, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(3, 64, 120, Y1)
	VADDPD  Y1, Y0, Y0
	TAP(4, 56, 128, Y2)
	TAP(5, 48, 136, Y1)
	VADDPD  Y1, Y2, Y2
	TAP(6, 40, 144, Y1)
	VADDPD  Y1, Y2, Y2
	TAP(7, 32, 152, Y1)
	VADDPD  Y1, Y2, Y2
	TAP(8, 24, 160, Y3)
	TAP(9, 16, 168, Y1)
	VADDPD  Y1, Y3, Y3
	TAP(10, 8, 176, Y1)
	VADDPD  Y1, Y3, Y3
	TAP(11, 0, 184, Y1)
	VADDPD  Y1, Y3, Y3
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, CX
	JNE     twelve
	VZEROUPPER
	RET
