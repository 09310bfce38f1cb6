// Samples of a recording and the WAV file that is made of them.

/** The rate in Hz that the engine analyses at. */
export const rate = 44100;

/**
 * Converts samples in [-1, 1] to 16 bits; what lies outside is clipped.
 * @param {Float32Array} samples
 * @returns {Int16Array<ArrayBuffer>}
 */
export function sixteenBits(samples) {
  const out = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) {
    out[i] = Math.max(-32768, Math.min(32767, Math.round(samples[i] * 32768)));
  }
  return out;
}

/**
 * Makes a WAV file of one channel with 16 bits a sample.
 * @param {Int16Array<ArrayBuffer>[]} blocks
 * @param {number} sampleRate in Hz
 * @returns {Blob}
 */
export function file(blocks, sampleRate) {
  const bytes = 2 * blocks.reduce((n, block) => n + block.length, 0);
  const head = new DataView(new ArrayBuffer(44));
  /** @type {(at: number, text: string) => void} */
  const write = (at, text) => {
    for (let i = 0; i < text.length; i++) head.setUint8(at + i, text.charCodeAt(i));
  };
  write(0, "RIFF");
  head.setUint32(4, 36 + bytes, true);
  write(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true); // PCM
  head.setUint16(22, 1, true); // channels
  head.setUint32(24, sampleRate, true);
  head.setUint32(28, 2 * sampleRate, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  write(36, "data");
  head.setUint32(40, bytes, true);
  // The samples are in the byte order of the machine, which is little-endian wherever browsers run.
  return new Blob([head.buffer, ...blocks], { type: "audio/wav" });
}
