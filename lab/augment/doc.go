// Package augment alters recordings for training: [Channel] passes one through
// a random recording channel, for both classes alike, [Spoof], [Decoded] and
// [Manipulated] make synthetic or manipulated voices of a real one.
//
// Everything is computed here, codecs included, so that training needs no
// other program and equal seeds give equal samples. The codecs are simulations
// of what codecs do to a spectrum; how near they come to the real encoders is
// measured, see [Channel]. All randomness comes from the generator that the
// caller gives, and nothing is kept between calls: concurrent calls with
// generators of their own are safe.
//
// Samples are mono, nominally in [-1, 1), and are never changed in place. A
// channel keeps length, rate and time.
package augment
