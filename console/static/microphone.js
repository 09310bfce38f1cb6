// The microphone of the device, as blocks of samples of one channel.

import { rate } from "./wav.js";

/** A Microphone that is on. */
export class Microphone {
  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   */
  constructor(context, stream) {
    this.context = context;
    this.stream = stream;
    /** Samples a second: that of the engine, unless the browser cannot resample. */
    this.rate = context.sampleRate;
  }

  /** Whether the browser has what recording needs; without HTTPS it has not. */
  static exists() {
    return navigator.mediaDevices !== undefined && typeof AudioWorkletNode === "function";
  }

  /**
   * Asks the person for the microphone, without automatic gain and suppression of
   * noise, which change what is measured.
   * @param {(block: Float32Array) => void} take is called with each block
   * @param {() => void} gone is called when the device goes away
   * @returns {Promise<Microphone>}
   */
  static async open(take, gone) {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, autoGainControl: false, noiseSuppression: false, echoCancellation: false },
    });
    /** @type {AudioContext | undefined} */
    let context;
    try {
      context = new AudioContext({ sampleRate: rate });
      let source;
      try {
        source = context.createMediaStreamSource(stream);
      } catch { // the rate of the device is another one, and the browser does not resample
        await context.close();
        context = new AudioContext();
        source = context.createMediaStreamSource(stream);
      }
      await context.audioWorklet.addModule(new URL("./capture.js", import.meta.url));
      const capture = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
      capture.port.onmessage = (event) => take(event.data);
      source.connect(capture);
      await context.resume();
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      if (context && context.state !== "closed") await context.close();
      throw error;
    }
    for (const track of stream.getAudioTracks()) track.onended = gone;
    return new Microphone(context, stream);
  }

  /** Turns the microphone off. */
  async close() {
    for (const track of this.stream.getTracks()) {
      track.onended = null;
      track.stop();
    }
    await this.context.close();
  }
}
