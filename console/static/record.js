// Records a voice in the page and sends it as the form would send a file. Samples are
// held in the memory of the page alone. They are dropped when they have arrived, when
// the person throws them away, and with the page.

import { Microphone } from "./microphone.js";
import { SpeechMeter } from "./speech.js";
import { file, rate, sixteenBits } from "./wav.js";

const quiet = -45; // dBFS of speech below which the microphone is too far away; chosen
const noisy = 15; // dB of speech over noise below which the place is too noisy; chosen
const clipped = 0.01; // share of clipped frames from which the voice is too loud; chosen
const checked = 10; // seconds after which the check of the microphone begins anew; chosen

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

const recorder = element("recorder", HTMLElement);
const form = element("upload", HTMLFormElement);
const files = element("file-section", HTMLElement);
const chosen = element("file", HTMLInputElement);
const state = element("state", HTMLElement);
const advice = element("advice", HTMLElement);
const meters = element("meters", HTMLElement);
const level = element("level", HTMLMeterElement);
const heard = element("heard", HTMLMeterElement);
const seconds = element("seconds", HTMLElement);
const sending = element("sending", HTMLElement);
const sent = element("sent", HTMLProgressElement);
const playback = element("playback", HTMLAudioElement);
const buttons = {
  check: element("check", HTMLButtonElement),
  start: element("start", HTMLButtonElement),
  pause: element("pause", HTMLButtonElement),
  resume: element("resume", HTMLButtonElement),
  stop: element("stop", HTMLButtonElement),
  send: element("send", HTMLButtonElement),
  discard: element("discard", HTMLButtonElement),
};
const leastSpeech = Number(recorder.dataset.minimum); // seconds that a score needs
const enoughSpeech = Number(recorder.dataset.from); // seconds that are recommended

/** Seconds of a recording: those that are analysed, and no more than may be sent. */
const longest = () => Math.min(600, (Number(recorder.dataset.maxBytes) - 44) / (2 * meter.rate) - 1);

/** What the page says, in its language. */
const words = new Map(
  [...recorder.querySelectorAll("[data-word]")].map((node) => [node.getAttribute("data-word"), node.textContent ?? ""]),
);

/**
 * The words of a name, with %d replaced by a number.
 * @param {string} name
 * @param {number} [value]
 */
const text = (name, value = 0) => (words.get(name) ?? name).replace("%d", String(value));

/**
 * Says something in a region that screen readers read when it changes.
 * @param {HTMLElement} region
 * @param {string} what
 */
function say(region, what) {
  if (region.textContent !== what) region.textContent = what;
}

/** @typedef {"idle" | "opening" | "checking" | "recording" | "paused" | "recorded" | "sending" | "sent"} Step */

/** @type {Record<Step, (keyof typeof buttons)[]>} the buttons of each step, the likely one first */
const buttonsOf = {
  idle: ["check"],
  opening: [],
  checking: ["start"],
  recording: ["pause", "stop"],
  paused: ["resume", "stop", "discard"],
  recorded: ["send", "discard"],
  sending: [],
  sent: [],
};

/** @type {Step} */
let step = "idle";
/** Whether the focus was on a button that a step without buttons took away. */
let focusLost = false;
/** @type {Microphone | undefined} */
let microphone;
/** @type {Int16Array<ArrayBuffer>[]} */
let blocks = [];
let meter = new SpeechMeter(rate);
/** @type {Blob | undefined} */
let recording;

/**
 * Goes to a step. Who uses the keyboard finds the focus on the likely button.
 * @param {Step} next
 */
function go(next) {
  const now = document.activeElement;
  const focused = Object.values(buttons).some((button) => button === now) || (focusLost && now === document.body);
  step = next;
  say(state, text(step));
  for (const button of Object.values(buttons)) button.hidden = !buttonsOf[step].some((name) => buttons[name] === button);
  meters.hidden = step !== "checking" && step !== "recording" && step !== "paused";
  playback.hidden = step !== "recorded";
  sending.hidden = step !== "sending";
  files.hidden = step !== "idle" && step !== "opening" && step !== "checking";
  const first = buttonsOf[step][0];
  focusLost = focused && !first;
  if (focused && first) buttons[first].focus();
}

/**
 * Takes a block from the microphone.
 * @param {Float32Array} block
 */
function take(block) {
  if (step !== "checking" && step !== "recording") return;
  meter.add(block);
  if (step === "recording") blocks.push(sixteenBits(block));
  else if (meter.duration() > checked) meter = new SpeechMeter(meter.rate);
}

/** Shows what the meter says, a few times a second. */
function show() {
  if (step !== "checking" && step !== "recording") return;
  const now = meter.status();
  level.value = Math.max(0, 60 + 20 * Math.log10(Math.max(now.peak, 0.001)));
  heard.value = step === "recording" ? now.speech : 0;
  say(seconds, step === "recording" ? text("seconds", Math.floor(now.speech)) : "");
  say(advice, text(judge(now)));
  if (step === "checking") return;
  if (now.speech > 0) say(state, text(now.speech < leastSpeech ? "few" : now.speech < enoughSpeech ? "some" : "enough"));
  if (now.duration >= longest()) stop();
}

/**
 * How the sound is, as the name of words.
 * @param {import("./speech.js").Status} now
 */
function judge(now) {
  if (now.duration < 3 && Number.isNaN(now.level)) return "listening";
  if (Number.isNaN(now.level)) return now.peak < 0.001 ? "silent" : "no-voice";
  if (now.clipped > clipped) return "clipped";
  if (now.level < quiet) return "quiet";
  if (now.level - now.noise < noisy) return "noisy";
  return "good";
}

/** Turns the microphone on: one, however often the button is pressed meanwhile. */
async function check() {
  if (step !== "idle") return;
  go("opening");
  try {
    microphone = await Microphone.open(take, interrupted);
    meter = new SpeechMeter(microphone.rate);
    say(advice, "");
    go("checking");
    buttons.start.focus();
  } catch {
    go("idle");
    say(advice, text("no-microphone"));
  }
}

/** Ends the recording, and offers to listen to it and to send it. */
function stop() {
  letGo();
  if (blocks.length === 0) {
    discard();
    say(advice, text("silent"));
    return;
  }
  recording = file(blocks, meter.rate);
  blocks = [];
  playback.src = URL.createObjectURL(recording);
  say(advice, meter.status().speech < leastSpeech ? text("too-short", leastSpeech) : "");
  go("recorded");
  buttons.send.focus();
}

/** Lets go of the microphone. */
function letGo() {
  microphone?.close().catch(() => {}); // its tracks are stopped all the same
  microphone = undefined;
}

/** A microphone that goes away ends the recording; what was said until then is kept. */
function interrupted() {
  if (step === "recording" || step === "paused") stop();
  else {
    letGo();
    go("idle");
  }
  say(advice, text("interrupted"));
}

/** Forgets all samples. */
function forget() {
  if (playback.src) URL.revokeObjectURL(playback.src);
  playback.removeAttribute("src");
  playback.load();
  recording = undefined;
  blocks = [];
}

/** Throws the recording away. */
function discard() {
  forget();
  say(advice, "");
  go("idle");
  letGo();
}

/** Time in ms without progress after which a connection counts as broken off. The service waits half as long. */
const STALL = 60_000;

/** Sends the recording as the form would send a file. */
function send() {
  if (!recording) return;
  const data = new FormData(form);
  data.set("file", recording, "recording.wav");
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  /** @type {number | undefined} */
  let stall;
  const wait = () => {
    clearTimeout(stall);
    stall = setTimeout(() => request.abort(), STALL);
  };
  request.onloadend = () => clearTimeout(stall);
  request.upload.onprogress = (event) => {
    wait();
    if (event.lengthComputable) sent.value = event.loaded / event.total;
  };
  request.onload = () => {
    if (request.status === 200 && request.response?.location) {
      forget();
      go("sent");
      location.assign(request.response.location);
      return;
    }
    go("recorded");
    say(advice, request.status === 401 ? text("signed-out") : request.response?.message ?? text("broken-off"));
  };
  request.onerror = request.onabort = () => {
    go("recorded");
    say(advice, text("broken-off"));
  };
  sent.value = 0;
  say(advice, "");
  go("sending");
  wait();
  request.send(data);
}

buttons.check.addEventListener("click", () => void check());
buttons.start.addEventListener("click", () => {
  meter = new SpeechMeter(meter.rate);
  go("recording");
});
buttons.pause.addEventListener("click", () => go("paused"));
buttons.resume.addEventListener("click", () => go("recording"));
buttons.stop.addEventListener("click", stop);
buttons.send.addEventListener("click", send);
buttons.discard.addEventListener("click", discard);

// A file dropped on the page is the file of the form.
files.addEventListener("dragover", (event) => event.preventDefault());
files.addEventListener("drop", (event) => {
  event.preventDefault();
  const dropped = event.dataTransfer?.files;
  if (dropped?.length === 1) chosen.files = dropped;
  say(advice, dropped?.length === 1 ? "" : text("one-file"));
});

addEventListener("beforeunload", (event) => {
  if (blocks.length > 0 || recording) event.preventDefault();
});
addEventListener("pagehide", () => { // the browser may show the page again as it is
  if (microphone) interrupted();
});

recorder.hidden = false;
if (Microphone.exists()) {
  go("idle");
  setInterval(show, 250);
} else {
  say(advice, text("no-microphone"));
}
