#include "textflag.h"

DATA step<>+0(SB)/8, $0x3f00000000000000 // 2⁻¹⁵
GLOBL step<>(SB), RODATA|NOPTR, $8

DATA scale<>+0(SB)/8, $0x40e0000000000000 // 2¹⁵
GLOBL scale<>(SB), RODATA|NOPTR, $8

// func decodeAVX2(dst *float64, src *byte, n int)
TEXT ·decodeAVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD step<>(SB), Y3

decode:
	VPMOVSXWD    (SI), Y0
	VEXTRACTI128 $1, Y0, X1
	VCVTDQ2PD    X0, Y0
	VCVTDQ2PD    X1, Y1
	VMULPD       Y3, Y0, Y0
	VMULPD       Y3, Y1, Y1
	VMOVUPD      Y0, (DI)
	VMOVUPD      Y1, 32(DI)
	ADDQ         $16, SI
	ADDQ         $64, DI
	SUBQ         $8, CX
	JNE          decode
	VZEROUPPER
	RET

// func encodeAVX2(dst *int16, x *float64, n int) bool
TEXT ·encodeAVX2(SB), NOSPLIT, $0-25
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD scale<>(SB), Y7

encode:
	VMULPD      (SI), Y7, Y0
	VCVTTPD2DQY Y0, X1         // 32-bit integers, −2³¹ for what is none
	VCVTDQ2PD   X1, Y2
	VCMPPD      $0, Y0, Y2, Y2 // equal
	VMOVMSKPD   Y2, AX
	CMPL        AX, $15
	JNE         unlike
	VPACKSSDW   X1, X1, X3     // 16-bit integers, the nearest where there is none
	VPMOVSXWD   X3, X4
	VPCMPEQD    X1, X4, X4
	VMOVMSKPS   X4, AX
	CMPL        AX, $15
	JNE         unlike
	VMOVQ       X3, (DI)
	ADDQ        $32, SI
	ADDQ        $8, DI
	SUBQ        $4, CX
	JNE         encode
	MOVB        $1, ret+24(FP)
	VZEROUPPER
	RET

unlike:
	MOVB $0, ret+24(FP)
	VZEROUPPER
	RET
