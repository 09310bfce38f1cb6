#include "textflag.h"

#define TILE ·tile12x32VNNI
#define ARGUMENTS $0-96

// VPDPBUSD adds the products of four signed bytes of A with four unsigned bytes of B.
#define ROW(addr, t, acc0, acc1) \
	VPBROADCASTD addr, t      \
	VPDPBUSD     t, Z24, acc0 \
	VPDPBUSD     t, Z25, acc1

#define ROW0(addr) ROW(addr, Z26, Z0, Z1)
#define ROW1(addr) ROW(addr, Z27, Z2, Z3)
#define ROW2(addr) ROW(addr, Z28, Z4, Z5)
#define ROW3(addr) ROW(addr, Z29, Z6, Z7)
#define ROW4(addr) ROW(addr, Z30, Z8, Z9)
#define ROW5(addr) ROW(addr, Z31, Z10, Z11)
#define ROW6(addr) ROW(addr, Z26, Z12, Z13)
#define ROW7(addr) ROW(addr, Z27, Z14, Z15)
#define ROW8(addr) ROW(addr, Z28, Z16, Z17)
#define ROW9(addr) ROW(addr, Z29, Z18, Z19)
#define ROW10(addr) ROW(addr, Z30, Z20, Z21)
#define ROW11(addr) ROW(addr, Z31, Z22, Z23)

// NUMBERS makes numbers of the sums of a row.
#define NUMBERS(at, acc0, acc1) \
	VPBROADCASTD at(AX), Z26       \
	VBROADCASTSS at(BX), Z27       \
	VPSUBD       Z26, acc0, acc0   \
	VPSUBD       Z26, acc1, acc1   \
	VCVTDQ2PS    acc0, acc0        \
	VCVTDQ2PS    acc1, acc1        \
	VMULPS       Z27, acc0, acc0   \
	VMULPS       Z27, acc1, acc1   \
	VMULPS       Z24, acc0, acc0   \
	VMULPS       Z25, acc1, acc1

#define DEQUANTIZE \
	MOVQ    sums+72(FP), AX \
	MOVQ    rows+80(FP), BX \
	MOVQ    cols+88(FP), CX \
	VMOVUPS (CX), Z24       \
	VMOVUPS 64(CX), Z25     \
	NUMBERS(0, Z0, Z1)      \
	NUMBERS(4, Z2, Z3)      \
	NUMBERS(8, Z4, Z5)      \
	NUMBERS(12, Z6, Z7)     \
	NUMBERS(16, Z8, Z9)     \
	NUMBERS(20, Z10, Z11)   \
	NUMBERS(24, Z12, Z13)   \
	NUMBERS(28, Z14, Z15)   \
	NUMBERS(32, Z16, Z17)   \
	NUMBERS(36, Z18, Z19)   \
	NUMBERS(40, Z20, Z21)   \
	NUMBERS(44, Z22, Z23)

#include "tile12x32_amd64.h"
