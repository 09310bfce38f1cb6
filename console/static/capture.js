// An AudioWorklet that hands on what the microphone gives, in blocks of one channel.
// It runs in the audio thread and owns no more than one block.

const blockSamples = 2048;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.block = new Float32Array(blockSamples);
    this.filled = 0;
  }

  /**
   * Takes a quantum of each channel and averages the channels.
   * @param {Float32Array[][]} inputs
   * @returns {boolean} true: the node lives on
   */
  process(inputs) {
    const channels = inputs[0];
    if (channels.length === 0) return true;
    for (let i = 0; i < channels[0].length; i++) {
      let sum = 0;
      for (const channel of channels) sum += channel[i];
      this.block[this.filled++] = sum / channels.length;
      if (this.filled === blockSamples) {
        this.port.postMessage(this.block, [this.block.buffer]);
        this.block = new Float32Array(blockSamples);
        this.filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("capture", Capture);
