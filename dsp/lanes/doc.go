// Package lanes measures four frames of a signal at once, one in each lane of the
// processor's registers: spectra, cepstra and autocorrelations. What is the same in
// every frame, as windows and the factors of a transform, is read once for the four, and no
// operation needs numbers of two lanes.
//
// A group of lanes is an array of which the element i of frame l is number Count·i + l. On
// amd64 processors with AVX2 the loops run in assembly, and give the bits of the Go code
// where the compiler does not fuse multiplication and addition.
package lanes

// Count is how many frames are measured at once.
const Count = 4
