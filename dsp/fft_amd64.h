// Constants and a macro of the transforms. Operands are in Go's order: VSUBPD b, a, d is
// d = a − b.

// The sign bit in the imaginary lanes.
DATA conjugate<>+0(SB)/8, $0
DATA conjugate<>+8(SB)/8, $0x8000000000000000
DATA conjugate<>+16(SB)/8, $0
DATA conjugate<>+24(SB)/8, $0x8000000000000000
GLOBL conjugate<>(SB), RODATA|NOPTR, $32

DATA half<>+0(SB)/8, $0.5
GLOBL half<>(SB), RODATA|NOPTR, $8

DATA quarter<>+0(SB)/8, $0.25
GLOBL quarter<>(SB), RODATA|NOPTR, $8

// TIMES multiplies the complex numbers in y by numbers whose real parts are in wr and
// whose imaginary parts are in wi, each duplicated in both lanes. It uses t.
#define TIMES(y, wr, wi, t) \
	VPERMILPD $5, y, t   \
	VMULPD    wr, y, y   \
	VMULPD    wi, t, t   \
	VADDSUBPD t, y, y
