package console_test

import (
	"bytes"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/voicescreen/voicescreen/dsp/wav"
	"github.com/voicescreen/voicescreen/internal/proof/chromium"
	"github.com/voicescreen/voicescreen/screen"
)

// record turns the microphone on and records for some time, with a pause.
func (b *browser) record(d time.Duration) {
	b.t.Helper()
	b.Do("turn the microphone on", chromedp.Click(chromedp.CSS("#check")), chromedp.WaitVisible(chromedp.CSS("#start")))
	b.WaitFor("what the microphone hears", `document.getElementById("advice").textContent == "The sound is good."`)
	b.Check("microphone")
	b.keepsItsPlace("#start")
	b.speak(d)
	b.Do("pause", chromedp.Click(chromedp.CSS("#pause")), chromedp.WaitVisible(chromedp.CSS("#resume")))
	b.Shot("paused")
}

// keepsItsPlace fails if what the page says of the sound moves a button, which somebody
// would then miss.
func (b *browser) keepsItsPlace(button string) {
	b.t.Helper()
	moved := chromium.Value(b.Window, "places", chromedp.Evaluate[float64](`(() => {
		const advice = document.getElementById("advice"), said = advice.textContent;
		const places = ["", ...["listening", "good", "noisy"].map((name) => document.querySelector(`+"`[data-word=${name}]`"+`).textContent)].map((text) => {
			advice.textContent = text;
			return document.querySelector("`+button+`").getBoundingClientRect().top;
		});
		advice.textContent = said;
		return Math.max(...places) - Math.min(...places);
	})()`))
	if moved != 0 {
		b.t.Errorf("%s moves by %g pixels with what the page says, want 0", button, moved)
	}
}

// speak starts the recording and waits for some time.
func (b *browser) speak(d time.Duration) {
	b.t.Helper()
	b.Do("record", chromedp.WaitVisible(chromedp.CSS("#start")), chromedp.Click(chromedp.CSS("#start")), chromedp.Sleep(d))
	b.isHeard()
}

// isHeard waits until half a second of speech is recorded: on a busy machine it comes late.
func (b *browser) isHeard() {
	b.t.Helper()
	b.WaitFor("what is heard", `document.getElementById("heard").value >= 0.5`)
}

// TestRecordingInTheBrowser goes the way of a patient, and compares what arrives with
// what the microphone heard.
func TestRecordingInTheBrowser(t *testing.T) {
	for name, size := range chromium.Sizes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t, size)
			b.signIn(b.s.key)
			id := b.consent("patient-17")
			b.record(6 * time.Second)
			b.Do("finish", chromedp.Click(chromedp.CSS("#stop")), chromedp.WaitVisible(chromedp.CSS("#playback[src]")))
			b.Check("recorded")
			if got := b.Text("#advice"); got == "" {
				t.Error("6 seconds: got no advice, want that they are too few for a score of depression")
			}
			played := chromium.Value(b.Window, "duration of the playback", chromedp.Poll[float64](`document.getElementById("playback").duration`))
			if played < 5 || played > 15 {
				t.Errorf("the playback has %.1f s, want about 6", played)
			}
			b.Do("send", chromedp.Click(chromedp.CSS("#send")))
			b.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
			b.Check("thanks")
			if n := len(b.tap.recordings); n != 1 {
				t.Fatalf("%d recordings arrived, want 1", n)
			}
			compareRecording(t, b.tap.recordings[0])
			if r, err := b.s.engine.Tenant(account).Result(t.Context(), id); err != nil || r.Status == screen.StatusInitiated {
				t.Errorf("the session is %v (%v), want one with a recording", r, err)
			}
		})
	}
}

// TestUploadBreaksOff cuts the connection during the upload, and lets it stall: the page
// says so, and sends the recording again.
func TestUploadBreaksOff(t *testing.T) {
	for name, fault := range map[string]func(*http.Request){"cut": cut, "stalled": silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t, chromium.Desktop)
			b.signIn(b.s.key)
			b.consent("patient-17")
			chromium.Value(b.Window, "a minute that takes a second", chromedp.Evaluate[bool](`(() => {
				const later = window.setTimeout;
				window.setTimeout = (run, ms) => later(run, ms === 60000 ? 1000 : ms);
				return true;
			})()`))
			b.record(time.Second)
			b.Do("finish", chromedp.Click(chromedp.CSS("#stop")), chromedp.WaitVisible(chromedp.CSS("#playback[src]")))
			b.tap.setFault(fault)
			b.Do("send", chromedp.Click(chromedp.CSS("#send")))
			b.WaitFor("that the upload broke off", `document.getElementById("advice").textContent.startsWith("The connection broke off")`)
			b.Check("broken-off")
			if !chromium.Value(b.Window, "focus", chromedp.Evaluate[bool](`document.activeElement.matches("#send")`)) {
				t.Error("after the failure the focus is not on the button to send")
			}
			b.tap.setFault(nil)
			b.Do("send again", chromedp.WaitVisible(chromedp.CSS("#send")), chromedp.Click(chromedp.CSS("#send")))
			b.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
			kept := chromium.Value(b.Window, "what stays in the browser", chromedp.Evaluate[string](`(async () => JSON.stringify([localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, (await caches.keys()).length]))()`, chromedp.EvalAwaitPromise))
			if kept != "[0,0,0,0]" {
				t.Errorf("storage of the browser has %s entries, want none", kept)
			}
		})
	}
}

// TestMicrophoneGoesAway: a device that is unplugged, or a page that is left and shown
// again, ends the recording and keeps what was said.
func TestMicrophoneGoesAway(t *testing.T) {
	for name, event := range map[string]string{
		"unplugged": `window.stream.getAudioTracks()[0].dispatchEvent(new Event("ended"))`,
		"left":      `window.dispatchEvent(new PageTransitionEvent("pagehide", {persisted: true}))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t, chromium.Desktop)
			b.signIn(b.s.key)
			b.consent("patient-17")
			chromium.Value(b.Window, "keep the stream", chromedp.Evaluate[bool](`(() => {
				const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
				navigator.mediaDevices.getUserMedia = async (wish) => window.stream = await open(wish);
				return true;
			})()`))
			b.Do("turn the microphone on", chromedp.Click(chromedp.CSS("#check")))
			b.speak(time.Second)
			chromium.Value(b.Window, "the microphone goes away", chromedp.Evaluate[bool](event))
			b.WaitFor("the recording", `!document.getElementById("send").hidden && document.getElementById("playback").src != ""`)
			b.Do("what comes later", chromedp.Sleep(500*time.Millisecond))
			if got := b.Text("#advice"); got != "The microphone was disconnected. What was recorded until then is kept." {
				t.Errorf("got the advice %q, want that what was recorded is kept", got)
			}
		})
	}
}

// TestRateOfTheMicrophone: a browser that does not resample sends what it has.
func TestRateOfTheMicrophone(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.signIn(b.s.key)
	b.consent("patient-17")
	chromium.Value(b.Window, "another rate", chromedp.Evaluate[bool](`(() => {
		const Context = AudioContext;
		window.AudioContext = class extends Context { constructor() { super({sampleRate: 48000}); } };
		window.OfflineAudioContext = class { constructor() { throw new RangeError("out of memory"); } };
		return true;
	})()`))
	b.record(time.Second)
	b.Do("send", chromedp.Click(chromedp.CSS("#stop")), chromedp.WaitVisible(chromedp.CSS("#playback[src]")), chromedp.Click(chromedp.CSS("#send")))
	b.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
	a, err := wav.Decode(bytes.NewReader(b.tap.recordings[0]), nil)
	if err != nil || a.SampleRate != 48000 || len(a.Samples) < 24000 {
		t.Errorf("got %d samples at %d Hz (%v), want a second at 48000", len(a.Samples), a.SampleRate, err)
	}
}

// TestTwoTabs records one session in two tabs: the second recording is refused, in words.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, chromium.Desktop)
	b.signIn(b.s.key)
	id := b.consent("patient-17")
	other := &browser{t: t, Window: b.Tab(), s: b.s, tap: b.tap}
	other.open("/console/sessions/" + id + "/record")
	for _, tab := range []*browser{b, other} {
		tab.Do("turn the microphone on", chromedp.Click(chromedp.CSS("#check")))
		tab.speak(time.Second)
		tab.Do("send", chromedp.Click(chromedp.CSS("#stop")), chromedp.WaitVisible(chromedp.CSS("#playback[src]")), chromedp.Click(chromedp.CSS("#send")))
		if tab == b {
			tab.WaitFor("thanks", `location.pathname.endsWith("/thanks") && document.readyState == "complete"`)
		}
	}
	other.WaitFor("the refusal", `document.getElementById("advice").textContent.includes("already submitted")`)
	if _, err := b.s.engine.Tenant(account).Wait(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// compareRecording fails unless a WAV file that arrived is a stretch of spokenFile, which
// is heard again and again: at its rate and level, half second by half second. Chromium
// loses a few milliseconds now and then on a busy machine.
func compareRecording(t *testing.T, arrived []byte) {
	t.Helper()
	want := decoded(t, mustRead(t, spokenFile))
	a, err := wav.Decode(bytes.NewReader(arrived), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.SampleRate != 44100 || a.Channels != 1 {
		t.Fatalf("got %d channels at %d Hz, want 1 at 44100", a.Channels, a.SampleRate)
	}
	got := a.Samples
	const length = 22050
	var same, heard int
	for start := 0; start+length <= len(got); start += length {
		part := got[start : start+length]
		if rms(part) < 0.01 {
			continue // a pause of the speaker, which is alike everywhere
		}
		heard++
		at, r := bestLag(part, want)
		gain := rms(part) / rms(cyclic(want, at, length))
		t.Logf("%.1f s: correlation %.4f at %.3f s, gain %.3f", float64(start)/44100, r, float64(at)/44100, gain)
		if r >= 0.98 && math.Abs(20*math.Log10(gain)) <= 0.5 {
			same++
		}
	}
	if heard < 6 || same < heard/2 {
		t.Errorf("%d of %d half seconds with speech are as played, want half of 6 or more", same, heard)
	}
}

func decoded(t *testing.T, file []byte) []float64 {
	t.Helper()
	a, err := wav.Decode(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Samples
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func rms(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s / float64(len(x)))
}

// cyclic returns n samples of x from at on, as if x was repeated.
func cyclic(x []float64, at, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x[(at+i+len(x))%len(x)]
	}
	return out
}

// bestLag returns where in x, repeated, part correlates best, and how well: first at a
// sixteenth of the rate, then sample by sample.
func bestLag(part, x []float64) (at int, r float64) {
	const step = 16
	slowPart, slow := averaged(part, step), averaged(x, step)
	coarse, best := 0, math.Inf(-1)
	for lag := range slow {
		var s float64
		for i, v := range slowPart {
			s += v * slow[(lag+i)%len(slow)]
		}
		if s > best {
			coarse, best = lag*step, s
		}
	}
	own := rms(part)
	r = math.Inf(-1)
	for lag := coarse - 2*step; lag <= coarse+2*step; lag++ {
		y := cyclic(x, lag, len(part))
		var s float64
		for i, v := range part {
			s += v * y[i]
		}
		if c := s / float64(len(part)) / (own*rms(y) + 1e-12); c > r {
			at, r = lag, c
		}
	}
	return at, r
}

func averaged(x []float64, step int) []float64 {
	out := make([]float64, len(x)/step)
	for i := range out {
		for _, v := range x[i*step : (i+1)*step] {
			out[i] += v / float64(step)
		}
	}
	return out
}
