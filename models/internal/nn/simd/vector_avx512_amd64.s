#include "textflag.h"

#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define LENGTH 16
#define SIZE 64

// FOLD reduces V9 to eight numbers, in X9 and X8.
#define FOLD(op) \
	VEXTRACTF64X4 $1, Z9, Y8 \
	op            Y8, Y9, Y9 \
	VEXTRACTF128  $1, Y9, X8

#define GELU ·geluAVX512
#define EXPSUM ·expSumAVX512
#define MAXIMUM ·maximumAVX512
#define SUM ·sumAVX512
#define SQUARES ·squaresAVX512
#define NORMALIZE ·normalizeAVX512
#define SCALE ·scaleAVX512

#include "vector_amd64.h"
