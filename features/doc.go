// Package features measures a recording in numbers that have names. A [Schema]
// names them, a [Vector] has one value for each, and [Extract] computes those of
// schema voice/1 from what package dsp measured.
//
// [ReadChannel] reads one channel of a WAV file, and [FromBuffer] of samples in
// memory, into a [Channel]. A [Measurer] turns it into a [Recording], which has
// all that a scorer may ask for. [Limits] say which recordings are too short or
// too poor for a score, and [Recording.Cautions] lists the reasons to doubt one.
//
// A feature that is undefined for a recording is NaN, never 0. A schema does not
// change: another name, unit, order or definition is another schema, because
// stored vectors and model files depend on it.
//
// Package features/spoof has the features of the deepfake scorer.
package features
