#include "textflag.h"

// func magnitudeAVX512(x, shift *float32, n int) uint32
TEXT ·magnitudeAVX512(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ shift+8(FP), DX
	MOVQ n+16(FP), R9
	MOVL $0x7FFFFFFF, AX
	VPBROADCASTD AX, Z1
	VPXORQ Z0, Z0, Z0

loop:
	VMOVUPS (SI), Z2
	VSUBPS  (DX), Z2, Z2
	VPANDD  Z2, Z1, Z2
	VPMAXSD Z2, Z0, Z0
	ADDQ    $64, SI
	ADDQ    $64, DX
	SUBQ    $16, R9
	JNZ  loop

	VEXTRACTI64X4 $1, Z0, Y1
	VPMAXSD       Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPMAXSD       X1, X0, X0
	VPSHUFD       $0x4E, X0, X1
	VPMAXSD       X1, X0, X0
	VPSHUFD       $0xB1, X0, X1
	VPMAXSD       X1, X0, X0
	VMOVD         X0, AX
	MOVL          AX, ret+24(FP)
	VZEROUPPER
	RET

// func magnitudeAVX2(x, shift *float32, n int) uint32
TEXT ·magnitudeAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ shift+8(FP), DX
	MOVQ n+16(FP), R9
	MOVL $0x7FFFFFFF, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	VPXOR Y0, Y0, Y0

loop:
	VMOVUPS (SI), Y2
	VMOVUPS 32(SI), Y3
	VSUBPS  (DX), Y2, Y2
	VSUBPS  32(DX), Y3, Y3
	VPAND   Y2, Y1, Y2
	VPAND   Y3, Y1, Y3
	VPMAXSD Y2, Y0, Y0
	VPMAXSD Y3, Y0, Y0
	ADDQ    $64, SI
	ADDQ    $64, DX
	SUBQ    $16, R9
	JNZ  loop

	VEXTRACTI128 $1, Y0, X1
	VPMAXSD      X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPMAXSD      X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPMAXSD      X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, ret+24(FP)
	VZEROUPPER
	RET

// func quantizeAVX512(dst, x, shift *float32, n int, inverse float32) int32
TEXT ·quantizeAVX512(SB), NOSPLIT, $0-44
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ shift+16(FP), DX
	MOVQ n+24(FP), R9
	VBROADCASTSS inverse+32(FP), Z1
	VPXORQ Z0, Z0, Z0

loop:
	VMOVUPS   (SI), Z2
	VSUBPS    (DX), Z2, Z2
	VMULPS    Z2, Z1, Z2
	VCVTPS2DQ Z2, Z2
	VPADDD    Z2, Z0, Z0
	VPMOVDB   Z2, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $16, DI
	SUBQ      $16, R9
	JNZ       loop

	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0x4E, X0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0xB1, X0, X1
	VPADDD        X1, X0, X0
	VMOVD         X0, AX
	MOVL          AX, ret+40(FP)
	VZEROUPPER
	RET

// func quantizeAVX2(dst, x, shift *float32, n int, inverse float32) int32
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-44
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ shift+16(FP), DX
	MOVQ n+24(FP), R9
	VBROADCASTSS inverse+32(FP), Y1
	VPXOR Y0, Y0, Y0

loop:
	VMOVUPS   (SI), Y2
	VMOVUPS   32(SI), Y3
	VSUBPS    (DX), Y2, Y2
	VSUBPS    32(DX), Y3, Y3
	VMULPS    Y2, Y1, Y2
	VMULPS    Y3, Y1, Y3
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y0, Y0
	VPACKSSDW Y3, Y2, Y2       // the quarters 0 of Y2 and Y3, then 1 of both
	VPERMQ    $0xD8, Y2, Y2
	VMOVDQU   Y2, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $32, DI
	SUBQ      $16, R9
	JNZ       loop

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, ret+40(FP)
	VZEROUPPER
	RET

// func addAVX2(dst, x *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), R9

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VADDPS  (DI), Y0, Y0
	VADDPS  32(DI), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, R9
	JNZ     loop
	VZEROUPPER
	RET
