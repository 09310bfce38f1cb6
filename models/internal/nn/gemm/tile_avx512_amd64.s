#include "textflag.h"

#define TILE ·tile12x32AVX512
#define ARGUMENTS $0-65

#define ROW(addr, t, acc0, acc1) \
	VBROADCASTSS addr, t       \
	VFMADD231PS  Z24, t, acc0  \
	VFMADD231PS  Z25, t, acc1

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

#include "tile12x32_amd64.h"
