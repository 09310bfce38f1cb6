// Package wav reads WAV files as streams of samples.
//
// It reads what recorders and converters write: integer PCM of 8, 16, 24 and
// 32 bits, float of 32 and 64 bits, the EXTENSIBLE form of both, RIFF, RIFX
// (big endian) and RF64 or BW64 (64-bit sizes), with any chunks before the
// samples. It is strict where a guess would change samples. It is lenient where
// writers are known to be careless and the samples are clear: the size of the RIFF
// chunk, the byte rate, the pad byte after odd chunks and the sizes that streaming
// writers leave behind.
//
// # Wrong sizes
//
// A program that writes into a pipe cannot go back and fill in the sizes. It
// leaves 0, 0xFFFFFFFF (FFmpeg) or a little under 2 GiB (SoX: 0x7FFFF000)
// there. Such a data chunk reaches to the end of the file. A data chunk with
// any other size that reaches beyond the end of the file is truncated: its
// samples up to there are returned, and [Reader.Truncated] is true.
//
// # Hostile files
//
// No number from the file sets the size of an allocation. [Reader] holds a fixed
// buffer. [Decode] holds its result, in memory proportional to the bytes read. Any
// bytes give samples or an error, never a panic.
//
// Layout: Microsoft and IBM, "Multimedia Programming Interface and Data
// Specifications 1.0" (1991); Microsoft, "Multiple Channel Audio Data and WAVE
// Files" (2001) for EXTENSIBLE; EBU Tech 3306 (2009) for RF64; ITU-R BS.2088
// (2019) for BW64.
package wav
