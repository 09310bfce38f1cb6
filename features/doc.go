// Package features turns a recording into named numbers: the schema voice/1 of
// 87 measures of a voice, and the judgement whether the recording is good
// enough for a score.
//
// [ReadChannel] reads one channel of a WAV file into a [Channel]; [FromBuffer]
// does so for samples in memory. A [Measurer] analyses the channel and returns a
// [Recording]: everything that a scorer of package models may ask for, the
// [Vector] of features among it. [Limits] say which recordings are refused, and
// [Recording.Cautions] what is known against a score.
//
// A feature that is undefined is NaN, never 0.
package features
