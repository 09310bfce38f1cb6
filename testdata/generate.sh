#!/usr/bin/env bash
# Makes the recordings of this directory again, bit for bit with the versions
# that README.md names. Usage: testdata/generate.sh [DIRECTORY]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# speak NAME VOICE WORDS_PER_MINUTE PITCH RATE_HZ
#
# espeak-ng speaks text/NAME.xml at 22050 Hz. SoX brings it to the rate, its
# peak to -6 dBFS, and adds pink noise about 60 dB below full scale for the
# room, half a second of which stands before and after. Dither is off (-D) and
# random numbers start from a fixed seed (-R).
speak() {
	espeak-ng -m -v "$2" -s "$3" -p "$4" -f "$here/text/$1.xml" -w "$work/$1.raw.wav"
	sox -R -D "$work/$1.raw.wav" -c 1 -b 24 "$work/$1.voice.wav" rate -v "$5" norm -6 pad 0.5 0.5
	sox -R -D "$work/$1.voice.wav" -b 24 "$work/$1.room.wav" synth pinknoise vol 0.004
	sox -R -D -m -v 1 "$work/$1.voice.wav" -v 1 "$work/$1.room.wav" -b 16 "$out/$1.wav"
}

speak interview_en en-us 145 42 44100
speak short_en en-gb 150 45 44100
speak female_en en-us+f3 150 60 44100
speak voice_16k_en en-gb 150 38 16000
speak spoken_en en-us+m3 160 50 44100

# The beginning of short_en.wav as a browser records it. WebM holds random numbers, so the
# bytes differ each time; the packets are those of FFmpeg 5.1 with libopus 1.3.1.
ffmpeg -v error -y -bitexact -i "$out/short_en.wav" -t 4.5 -c:a libopus -b:a 16k -application voip -f webm -live 1 "$out/short_en.webm"
