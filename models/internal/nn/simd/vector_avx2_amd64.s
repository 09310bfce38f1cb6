#include "textflag.h"

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define LENGTH 8
#define SIZE 32

// FOLD splits V9 into halves of four numbers, in X9 and X8.
#define FOLD(op) \
	VEXTRACTF128 $1, Y9, X8

#define GELU ·geluAVX2
#define EXPSUM ·expSumAVX2
#define MAXIMUM ·maximumAVX2
#define SUM ·sumAVX2
#define SQUARES ·squaresAVX2
#define NORMALIZE ·normalizeAVX2
#define SCALE ·scaleAVX2

#include "vector_amd64.h"
