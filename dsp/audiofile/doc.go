// Package audiofile reads recordings of several formats as streams of samples.
//
// The format is found in the content of the file. Names and media types are not
// used. These formats are read:
//
//   - WAV, by package wav: integer PCM and float, A-law, µ-law and IMA ADPCM;
//   - FLAC of 4 to 24 bits, by github.com/mewkiz/flac;
//   - MP3 (MPEG-1 and MPEG-2 layer III), by github.com/hajimehoshi/go-mp3;
//   - Opus of one or two channels in Ogg, WebM or Matroska, by
//     github.com/pion/opus.
//
// Other known formats give an [UnsupportedError] that names the format and the
// command that converts it. AAC is one of them: no decoder in Go is known.
//
// # Samples
//
// A [Reader] returns samples as package wav does: interleaved, nominally in
// [−1, 1). Opus is decoded at 48 kHz, whatever the rate before encoding was. The
// samples that an encoder adds at the beginning and the end are removed where the
// file states their number: the pre-skip and the last granule position of Opus,
// the LAME tag of MP3. What was appended to an MP3 file behind that number counts too.
//
// The decoder of FLAC prints a line with package log for each frame of 24 or 176.4 kHz. A
// program that minds can set the output of that package.
//
// # Damage
//
// A file that ends too early is truncated: its samples up to there are returned,
// and [Reader.Truncated] is true. A live recording in WebM and an MP3 file without a
// Xing or LAME tag do not say where they end: cut between two frames, they seem whole. A damaged frame, page or packet in between is an
// error, because a guess would change samples.
//
// # Hostile files
//
// No number from the file sets the size of an allocation, except that a FLAC frame
// has at most 65535 samples of 8 channels. A Reader holds one decoded frame and
// the state of one decoder. A few bytes may be decoded to very many samples: 120 ms
// of silence take two bytes of Opus. The caller bounds the number of samples that it
// reads.
//
// # Accuracy
//
// FLAC, A-law, µ-law and IMA ADPCM give the samples of the reference decoders bit
// for bit. MP3 and Opus are compared with FFmpeg and libopus; testdata/README.md has
// the ratios.
//
// Formats: RFC 9639 (FLAC); ISO/IEC 11172-3 and 13818-3 (MP3); RFC 6716 and 7845
// (Opus, Opus in Ogg); RFC 3533 (Ogg); RFC 8794 and 9559 (EBML, Matroska); ITU-T
// G.711 (A-law, µ-law); RFC 2361 (IMA ADPCM in WAV).
package audiofile
