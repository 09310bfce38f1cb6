#include "textflag.h"

// The loops of loops.go over the elements of four frames, like those in lanes_amd64.s.

DATA foldHalf<>+0(SB)/8, $0.5
GLOBL foldHalf<>(SB), RODATA|NOPTR, $8

// func sumAVX2(sum *[Count]float64, x *float64, n int)
TEXT ·sumAVX2(SB), NOSPLIT, $0-24
	MOVQ   sum+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPD Y0, Y0, Y0

sum:
	VADDPD  (SI), Y0, Y0
	ADDQ    $32, SI
	DECQ    CX
	JNE     sum
	VMOVUPD Y0, (DI)
	VZEROUPPER
	RET

// func taperAVX2(y, x, taper *float64, mean *[Count]float64, n int)
TEXT ·taperAVX2(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    taper+16(FP), DX
	MOVQ    mean+24(FP), R8
	MOVQ    n+32(FP), CX
	VMOVUPD (R8), Y2

taper:
	VBROADCASTSD (DX), Y1
	VMOVUPD      (SI), Y0
	VSUBPD       Y2, Y0, Y0
	VMULPD       Y1, Y0, Y0
	VMOVUPD      Y0, (DI)
	ADDQ         $8, DX
	ADDQ         $32, SI
	ADDQ         $32, DI
	DECQ         CX
	JNE          taper
	VZEROUPPER
	RET

// func highestAVX2(top *[Count]float64, x *float64, n int)
TEXT ·highestAVX2(SB), NOSPLIT, $0-24
	MOVQ    top+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPD (SI), Y0

highest:
	VMOVUPD (SI), Y1
	VMAXPD  Y0, Y1, Y0
	ADDQ    $32, SI
	DECQ    CX
	JNE     highest
	VMOVUPD Y0, (DI)
	VZEROUPPER
	RET

// func unfoldAVX2(x, y, factors *float64, odd *[Count]float64, n int)
TEXT ·unfoldAVX2(SB), NOSPLIT, $0-40
	MOVQ    x+0(FP), DI
	MOVQ    y+8(FP), SI
	MOVQ    factors+16(FP), DX
	MOVQ    odd+24(FP), R8
	MOVQ    n+32(FP), CX
	VMOVUPD (R8), Y0

unfold:
	VBROADCASTSD (DX), Y1
	VBROADCASTSD 8(DX), Y2
	VSUBPD       32(SI), Y0, Y0
	VMULPD       (SI), Y1, Y1
	VMULPD       Y0, Y2, Y2
	VMOVUPD      Y1, (DI)
	VMOVUPD      Y2, 32(DI)
	ADDQ         $16, DX
	ADDQ         $64, SI
	ADDQ         $64, DI
	DECQ         CX
	JNE          unfold
	VMOVUPD      Y0, (R8)
	VZEROUPPER
	RET

// func foldAVX2(yLow, yHigh, xLow, xHigh, factors *float64, sum *[Count]float64, n int)
TEXT ·foldAVX2(SB), NOSPLIT, $0-56
	MOVQ         yLow+0(FP), DI
	MOVQ         yHigh+8(FP), R9
	MOVQ         xLow+16(FP), SI
	MOVQ         xHigh+24(FP), R8
	MOVQ         factors+32(FP), DX
	MOVQ         sum+40(FP), R10
	MOVQ         n+48(FP), CX
	VBROADCASTSD foldHalf<>(SB), Y15
	VMOVUPD      (R10), Y14

fold:
	VMOVUPD      (SI), Y0
	VMOVUPD      (R8), Y1
	VBROADCASTSD (DX), Y2
	VBROADCASTSD 8(DX), Y3
	VADDPD       Y1, Y0, Y4
	VSUBPD       Y1, Y0, Y5
	VMULPD       Y15, Y4, Y4
	VMULPD       Y3, Y5, Y6
	VADDPD       Y6, Y14, Y14
	VMULPD       Y2, Y5, Y5
	VSUBPD       Y5, Y4, Y6
	VADDPD       Y5, Y4, Y7
	VMOVUPD      Y6, (DI)
	VMOVUPD      Y7, (R9)
	ADDQ         $32, SI
	SUBQ         $32, R8
	ADDQ         $32, DI
	SUBQ         $32, R9
	ADDQ         $16, DX
	DECQ         CX
	JNE          fold
	VMOVUPD      Y14, (R10)
	VZEROUPPER
	RET
