// How many seconds of speech a recording has so far, and whether the microphone is too
// quiet, too loud or too noisy. The rules are those of the engine's own analysis
// (package dsp, speech activity); only voicing is found more simply here, by the
// autocorrelation of a low-passed signal. The engine decides; this meter advises.

const perSecond = 100; // frames a second
const speechRange = 25; // dB below the speech level where speech starts
const voicedRange = 35; // dB below the speech level down to which voicing alone is speech
const onAbove = 6; // dB above the noise floor where speech starts
const offAbove = 4; // dB above the noise floor where speech ends
const hysteresis = 3; // dB from start to end without noise
const leastVoiced = 3; // frames of voicing that a stretch of speech has
const shortSpeech = 10; // frames of the shortest stretch of speech
const shortPause = 20; // frames of the shortest pause
const silence = -120; // dBFS, the lowest level
const low = 60; // Hz, lowest pitch
const high = 400; // Hz, highest pitch
const periodic = 0.5; // autocorrelation at the period of a voiced frame; chosen, between noise and creaky voice
const slow = 4000; // Hz, about the rate at which periods are searched

/**
 * @typedef {object} Status
 * @property {number} duration seconds that were heard
 * @property {number} speech seconds of speech
 * @property {number} level dBFS of speech, NaN before there is any
 * @property {number} noise dBFS between words, NaN before there is any
 * @property {number} peak largest sample of the last second, 0 to 1
 * @property {number} clipped share of frames with clipped samples, 0 to 1
 */

/** A SpeechMeter listens to the blocks of one recording. */
export class SpeechMeter {
  /** @param {number} rate in Hz */
  constructor(rate) {
    this.rate = rate;
    this.hop = Math.round(rate / perSecond);
    this.factor = Math.max(1, Math.round(rate / slow));
    this.slowRate = rate / this.factor;
    this.frame = new Float32Array(this.hop);
    this.filled = 0;
    this.window = new Float32Array(Math.round((2.2 * this.slowRate) / low)); // two periods of the lowest pitch
    this.held = 0; // sum of the samples of one slow sample
    this.heldCount = 0;
    /** @type {number[]} */
    this.levels = [];
    /** @type {boolean[]} */
    this.voiced = [];
    /** @type {number[]} */
    this.peaks = [];
    this.clippedFrames = 0;
  }

  /**
   * Takes the next samples, in [-1, 1].
   * @param {Float32Array} samples
   */
  add(samples) {
    for (const sample of samples) {
      this.frame[this.filled++] = sample;
      this.held += sample;
      if (++this.heldCount === this.factor) {
        this.window.copyWithin(0, 1);
        this.window[this.window.length - 1] = this.held / this.factor;
        this.held = this.heldCount = 0;
      }
      if (this.filled === this.hop) {
        this.measure();
        this.filled = 0;
      }
    }
  }

  /** Measures the frame that is full. */
  measure() {
    let sum = 0;
    let squares = 0;
    let peak = 0;
    for (const sample of this.frame) {
      sum += sample;
      squares += sample * sample;
      peak = Math.max(peak, Math.abs(sample));
    }
    const variance = squares / this.hop - (sum / this.hop) ** 2;
    this.levels.push(Math.max(silence, 10 * Math.log10(Math.max(variance, 1e-12))));
    this.voiced.push(isPeriodic(this.window, this.slowRate));
    this.peaks.push(peak);
    if (this.peaks.length > perSecond) this.peaks.shift();
    if (peak >= 0.999) this.clippedFrames++;
  }

  /** Seconds that were heard. */
  duration() {
    return this.levels.length / perSecond;
  }

  /** @returns {Status} */
  status() {
    const voiced = this.levels.filter((_, i) => this.voiced[i]);
    const rest = this.levels.filter((_, i) => !near(this.voiced, i));
    const level = voiced.length >= leastVoiced ? rank(voiced, 0.95) : NaN;
    const noise = rest.length >= 10 ? rank(rest, 0.1) : NaN;
    return {
      duration: this.duration(),
      speech: this.speechFrames(level, noise) / perSecond,
      level,
      noise,
      peak: this.peaks.reduce((most, peak) => Math.max(most, peak), 0),
      clipped: this.levels.length > 0 ? this.clippedFrames / this.levels.length : 0,
    };
  }

  /**
   * Counts the frames of stretches of speech.
   * @param {number} level dBFS of speech
   * @param {number} noise dBFS between words
   */
  speechFrames(level, noise) {
    if (Number.isNaN(level)) return 0;
    const floor = Number.isNaN(noise) ? silence : noise;
    const range = Math.max(3, level - floor);
    const on = Math.max(level - speechRange, floor + Math.min(onAbove, range / 2));
    const off = Math.max(level - speechRange - hysteresis, floor + Math.min(offAbove, range / 3));
    let total = 0;
    let start = -1; // of the stretch, -1 outside
    let end = -1; // last frame of speech
    let voicing = 0; // voiced frames of the stretch
    let run = 0; // voiced frames in a row
    const close = () => {
      if (start >= 0 && end - start + 1 >= shortSpeech && voicing >= leastVoiced) total += end - start + 1;
      start = -1;
      voicing = 0;
    };
    let speaking = false;
    for (let i = 0; i < this.levels.length; i++) {
      const l = this.levels[i];
      run = this.voiced[i] && l > level - voicedRange ? run + 1 : 0;
      speaking = l >= on || run >= leastVoiced || (speaking && l >= off);
      if (speaking) {
        if (start < 0) start = run >= leastVoiced ? i - run + 1 : i;
        end = i;
        if (this.voiced[i]) voicing++;
      } else if (start >= 0 && i - end >= shortPause) {
        close();
      }
    }
    close();
    return total;
  }
}

/**
 * Whether a frame or one of two beside it is true.
 * @param {boolean[]} flags
 * @param {number} i
 */
function near(flags, i) {
  return flags[i - 2] || flags[i - 1] || flags[i] || flags[i + 1] || flags[i + 2] || false;
}

/**
 * The value of the nearest rank.
 * @param {number[]} values at least one
 * @param {number} share of the others that are lower, 0 to 1
 */
function rank(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.round(share * (sorted.length - 1))];
}

/**
 * Whether a window has a period between those of the lowest and the highest pitch: the
 * largest normalised autocorrelation at such a lag.
 * @param {Float32Array} x
 * @param {number} rate in Hz
 */
function isPeriodic(x, rate) {
  const first = Math.floor(rate / high);
  const last = Math.min(Math.ceil(rate / low), Math.floor(x.length / 2));
  const n = x.length - last;
  let own = 0;
  for (let i = 0; i < n; i++) own += x[i] * x[i];
  if (own < n * 1e-10) return false; // below -100 dBFS
  let best = 0;
  let before = 1; // of the last lag: a period is a peak, not the slope of lag 0
  let rising = false;
  for (let lag = first; lag <= last; lag++) {
    let cross = 0;
    let other = 0;
    for (let i = 0; i < n; i++) {
      cross += x[i] * x[i + lag];
      other += x[i + lag] * x[i + lag];
    }
    const r = cross / Math.sqrt(own * other + 1e-30);
    if (r > before) rising = true;
    if (rising) best = Math.max(best, r);
    before = r;
  }
  return best >= periodic;
}
