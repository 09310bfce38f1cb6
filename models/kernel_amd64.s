#include "textflag.h"

// The functions compute the same as those in kernel_vector.go. All arithmetic is of
// integers, so that the order does not matter.

// The mask at bytes 16−r and after keeps the last r of 16 bytes.
DATA masks<>+0(SB)/8, $0
DATA masks<>+8(SB)/8, $0
DATA masks<>+16(SB)/8, $0xffffffffffffffff
DATA masks<>+24(SB)/8, $0xffffffffffffffff
GLOBL masks<>(SB), RODATA|NOPTR, $32

#define PRODUCTS \
	VPMADDWD (SI), Y3, Y4 \
	VPMADDWD (R8), Y3, Y5 \
	VPMADDWD Y3, Y3, Y6   \
	VPADDD   Y4, Y0, Y0   \
	VPADDD   Y5, Y1, Y1   \
	VPADDD   Y6, Y2, Y2

// func productsAVX2(sums *[4]int32, high, low *int16, v *byte, n int)
TEXT ·productsAVX2(SB), NOSPLIT, $0-40
	MOVQ  sums+0(FP), DX
	MOVQ  high+8(FP), SI
	MOVQ  low+16(FP), R8
	MOVQ  v+24(FP), DI
	MOVQ  n+32(FP), CX
	MOVQ  CX, AX
	ANDQ  $15, AX
	SHRQ  $4, CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2

products:
	VPMOVSXBW (DI), Y3
	PRODUCTS
	ADDQ      $32, SI
	ADDQ      $32, R8
	ADDQ      $16, DI
	DECQ      CX
	JNE       products

	TESTQ     AX, AX
	JEQ       reduce
	LEAQ      masks<>(SB), R9
	SUBQ      $16, AX          // the last 16 bytes begin as many before
	VMOVDQU   (DI)(AX*1), X3
	VPAND     16(R9)(AX*1), X3, X3
	VPMOVSXBW X3, Y3
	LEAQ      (SI)(AX*2), SI
	LEAQ      (R8)(AX*2), R8
	PRODUCTS

reduce:
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y2, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DX)
	VZEROUPPER
	RET

// PAIR adds the bytes in X0 and X1, each times its weight.
#define PAIR \
	VPUNPCKLBW X1, X0, X2     \
	VPUNPCKHBW X1, X0, X3     \
	VPMOVSXBW  X2, Y2         \
	VPMOVSXBW  X3, Y3         \
	VPMADDWD   Y8, Y2, Y4     \
	VPMADDWD   Y8, Y3, Y5     \
	VPMADDWD   Y9, Y2, Y6     \
	VPMADDWD   Y9, Y3, Y7     \
	VPADDD     (SI), Y4, Y4   \
	VPADDD     32(SI), Y5, Y5 \
	VPADDD     (DX), Y6, Y6   \
	VPADDD     32(DX), Y7, Y7 \
	VMOVDQU    Y4, (SI)       \
	VMOVDQU    Y5, 32(SI)     \
	VMOVDQU    Y6, (DX)       \
	VMOVDQU    Y7, 32(DX)

// func weighAVX2(high, low *int32, a, b *byte, w *[4]int16, n int)
TEXT ·weighAVX2(SB), NOSPLIT, $0-48
	MOVQ         high+0(FP), SI
	MOVQ         low+8(FP), DX
	MOVQ         a+16(FP), DI
	MOVQ         b+24(FP), R8
	MOVQ         w+32(FP), R9
	MOVQ         n+40(FP), CX
	VPBROADCASTD (R9), Y8
	VPBROADCASTD 4(R9), Y9
	MOVQ         CX, AX
	ANDQ         $15, AX
	SHRQ         $4, CX

weigh:
	VMOVDQU (DI), X0
	VMOVDQU (R8), X1
	PAIR
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $16, DI
	ADDQ    $16, R8
	DECQ    CX
	JNE     weigh

	TESTQ   AX, AX
	JEQ     done
	LEAQ    masks<>(SB), R9
	SUBQ    $16, AX
	VMOVDQU 16(R9)(AX*1), X2
	VPAND   (DI)(AX*1), X2, X0
	VPAND   (R8)(AX*1), X2, X1
	LEAQ    (SI)(AX*4), SI
	LEAQ    (DX)(AX*4), DX
	PAIR

done:
	VZEROUPPER
	RET
