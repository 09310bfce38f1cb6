#!/usr/bin/env python3
"""Makes the files of this directory: see README.md. Run it in an empty directory."""
import array, base64, hashlib, json, math, os, random, struct, subprocess, wave

RATE, SECONDS = 48000, 0.6


def voice():
    """A vowel whose pitch glides from 110 to 180 Hz, with syllables and a little noise."""
    random.seed(18)
    phase, out = 0.0, []
    for i in range(int(RATE * SECONDS)):
        t = i / RATE
        f0 = 110 + 70 * t / SECONDS
        phase += 2 * math.pi * f0 / RATE
        v = 0.0
        for k in range(1, 40):
            f = k * f0
            a = sum(g / (1 + ((f - c) / w) ** 2) for c, w, g in ((700, 90, 1), (1220, 110, .5), (2600, 160, .25), (6000, 900, .05)))
            v += a * math.sin(k * phase + k * k)
        env = 0.55 - 0.45 * math.cos(2 * math.pi * 4 * t)
        out.append(0.22 * env * v + 0.003 * random.gauss(0, 1))
    return out


def write(name, channels, rate=RATE):
    with wave.open(name, "wb") as w:
        w.setnchannels(len(channels))
        w.setsampwidth(2)
        w.setframerate(rate)
        ints = [max(-32768, min(32767, round(32767 * v))) for frame in zip(*channels) for v in frame]
        w.writeframes(struct.pack("<%dh" % len(ints), *ints))


def run(*args, **kw):
    return subprocess.run(args, check=True, capture_output=True, **kw).stdout


def ff(*args):
    run("ffmpeg", "-v", "error", "-y", "-bitexact", *args)


mono = voice()
delayed = [0.0] * 150 + mono[:-150]
write("m.wav", [mono])
write("s.wav", [mono, [0.6 * v + 0.3 * random.gauss(0, 0.01) for v in delayed]])
run("sox", "-D", "m.wav", "-r", "8000", "m8.wav")
run("sox", "-D", "s.wav", "-r", "8000", "s8.wav")
run("sox", "-D", "m.wav", "-r", "16000", "m16.wav")

run("flac", "-s", "-8", "--until=0:00.25", "m16.wav", "-o", "mono16.flac")
ff("-i", "s8.wav", "-t", "0.15", "-c:a", "flac", "-sample_fmt", "s32", "-af", "volume=0.3", "stereo24.flac")
run("lame", "--quiet", "-b", "48", "m.wav", "mono48.mp3")
run("lame", "--quiet", "-b", "64", "--resample", "22.05", "s.wav", "joint22.mp3")
run("lame", "--quiet", "-b", "32", "--resample", "22.05", "m.wav", "misread22.mp3")
ff("-i", "s.wav", "-b:a", "64k", "-write_xing", "0", "-metadata", "title=bare", "bare.mp3")
for name, source, args in (
    ("silk8k-10ms", "m", ("--music", "--bitrate", "8", "--framesize", "10")),
    ("silk8k", "m", ("--speech", "--bitrate", "8")),
    ("silk12k-60ms", "s", ("--speech", "--bitrate", "12", "--framesize", "60")),
    ("hybrid24k", "m", ("--speech", "--bitrate", "24")),
    ("hybrid32k-stereo", "s", ("--speech", "--bitrate", "32")),
    ("celt32k", "m", ("--music", "--bitrate", "32", "--framesize", "5")),
    ("celt48k-stereo", "s", ("--music", "--bitrate", "48")),
):
    run("opusenc", "--quiet", "--serial", "18", "--padding", "0", *args, source + ".wav", name + ".opus")
ff("-i", "m.wav", "-c:a", "libopus", "-b:a", "24k", "-f", "webm", "-live", "1", "live.webm")
with open("piped.webm", "wb") as f:
    f.write(run("ffmpeg", "-v", "error", "-bitexact", "-i", "s.wav", "-c:a", "libopus", "-b:a", "32k", "-f", "webm", "-"))
ff("-i", "m.wav", "-c:a", "libopus", "-b:a", "24k", "closed.mka")
run("sox", "-D", "m8.wav", "-e", "a-law", "alaw.wav")
run("sox", "-D", "s8.wav", "-e", "mu-law", "mulaw.wav")
run("sox", "-D", "m8.wav", "-e", "ima-adpcm", "ima.wav")
run("sox", "-D", "s8.wav", "-e", "ima-adpcm", "ima-stereo.wav")
ff("-i", "m8.wav", "-t", "0.1", "aac.m4a")
ff("-i", "m8.wav", "-t", "0.1", "-c:a", "libvorbis", "vorbis.ogg")
ff("-i", "m8.wav", "-t", "0.1", "-c:a", "libvorbis", "vorbis.webm")

DECODERS = {  # which program makes the reference, as 32-bit floats
    "flac": lambda f: run("sox", f, "-t", "raw", "-e", "float", "-b", "32", "-"),
    "wav": lambda f: run("sox", f, "-t", "raw", "-e", "float", "-b", "32", "-"),
    "mp3": lambda f: run("ffmpeg", "-v", "error", "-i", f, "-f", "f32le", "-"),
    "opus": lambda f: run("opusdec", "--quiet", "--no-dither", "--float", "--rate", "48000", f, "-") ,
    "webm": lambda f: run("ffmpeg", "-v", "error", "-c:a", "libopus", "-i", f, "-f", "f32le", "-"),
}
DECODERS["mka"] = DECODERS["webm"]
reference = {}
for name in sorted(os.listdir(".")):
    ext = name.rsplit(".", 1)[1]
    if ext not in DECODERS or name in ("m.wav", "s.wav", "m8.wav", "s8.wav", "m16.wav", "misread22.mp3", "vorbis.webm"):
        continue
    raw = DECODERS[ext](name)
    if raw[:4] == b"RIFF":
        raw = raw[raw.index(b"data") + 8:]
    x = array.array("f")
    x.frombytes(raw[:len(raw) // 4 * 4])
    if name.startswith("ima"):  # SoX decodes the padding of the last block too
        x = x[:int(8000 * SECONDS) * (2 if "stereo" in name else 1)]
    entry = {"samples": len(x)}
    if ext in ("flac", "wav"):
        ints = struct.pack("<%di" % len(x), *(round(v * (1 << 23)) for v in x))
        entry["sha256"] = hashlib.sha256(ints).hexdigest()
    else:  # every 97th sample, in units of 2^-20
        entry["every97"] = base64.b64encode(struct.pack("<%di" % len(x[::97]), *(round(v * (1 << 20)) for v in x[::97]))).decode()
    reference[name] = entry
with open("reference.json", "w") as f:
    json.dump(reference, f, indent=0)
for name in ("m.wav", "s.wav", "m8.wav", "s8.wav", "m16.wav"):
    os.remove(name)
