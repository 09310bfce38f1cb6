package httpadapter_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// otherRecording returns a file of dsp/audiofile.
func otherRecording(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "dsp", "audiofile", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func anyService(t *testing.T) *service {
	t.Helper()
	return newServiceWith(t, nil, &httpadapter.Options{Limits: httpadapter.Limits{AnyFormat: true}})
}

// Without AnyFormat other formats are refused as ever, and channel is an unknown field.
func TestOtherFormatsAreRefusedUnlessAsked(t *testing.T) {
	s := newService(t)
	id := s.initiate("p1")
	for name, says := range map[string]string{
		"mono16.flac": "FLAC file, only WAV is read", "celt32k.opus": "Ogg file, only WAV is read", "live.webm": "WebM file, only WAV is read",
		"mono48.mp3": "MP3 file, only WAV is read", "alaw.wav": "A-law",
	} {
		w := s.do(form("POST", "/v2/prediction/", field{"session_id", id}, field{"allowed_sample_rate", "48000"}, field{"file", otherRecording(t, name)}))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: got %d %s, want 422 that says %q", name, w.Code, w.Body, says)
		}
	}
	stereo := string(testWAV(t, 44100, 2, 0.2))
	if w := s.do(form("POST", "/v2/prediction/", field{"session_id", id}, field{"channel", "2"}, field{"file", stereo})); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("two channels: got %d, want 422", w.Code)
	}
	bad := form("POST", "/v2/prediction/", field{"session_id", id}, field{"channel", "x"}, field{"file", string(testWAV(t, 44100, 1, 0.2))})
	bad.beyond = true
	s.want(http.StatusAccepted, bad)
}

func TestAnyFormatTakesRecordingsAndTheirChannel(t *testing.T) {
	mp3, opus, flac, wav := otherRecording(t, "mono48.mp3"), otherRecording(t, "celt48k-stereo.opus"), otherRecording(t, "mono16.flac"), string(testWAV(t, 44100, 2, 0.2))
	for name, c := range map[string]struct {
		fields  []field
		channel int
	}{
		"FLAC":                   {[]field{{"session_id", "session-1"}, {"file", flac}}, 0},
		"MP3, session last":      {[]field{{"file", mp3}, {"session_id", "session-1"}}, 0},
		"MP3 at its rate":        {[]field{{"session_id", "session-1"}, {"allowed_sample_rate", "32000"}, {"file", mp3}}, 0},
		"all fields first":       {[]field{{"session_id", "session-1"}, {"allowed_sample_rate", "48000"}, {"channel", "2"}, {"file", opus}}, 2},
		"channel before":         {[]field{{"session_id", "session-1"}, {"channel", "2"}, {"file", opus}}, 2},
		"channel behind":         {[]field{{"session_id", "session-1"}, {"file", opus}, {"channel", "1"}}, 1},
		"WAV of two channels":    {[]field{{"channel", "2"}, {"session_id", "session-1"}, {"file", wav}}, 2},
		"WAV, the rate behind":   {[]field{{"channel", "2"}, {"session_id", "session-1"}, {"file", wav}, {"allowed_sample_rate", "44100"}}, 2},
		"channel of the only":    {[]field{{"session_id", "session-1"}, {"channel", "1"}, {"file", flac}}, 0},
		"channel twice the same": {[]field{{"session_id", "session-1"}, {"channel", "1"}, {"file", opus}, {"channel", "1"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := anyService(t)
			s.initiate("p1")
			s.want(http.StatusAccepted, form("POST", "/v2/prediction/", c.fields...))
			if got := s.session("session-1").Channel; got != c.channel {
				t.Errorf("got channel %d, want %d", got, c.channel)
			}
		})
	}
}

func TestAnyFormatRefusesWhatDoesNotFit(t *testing.T) {
	mp3, opus := otherRecording(t, "mono48.mp3"), otherRecording(t, "celt48k-stereo.opus")
	s := anyService(t)
	id := s.initiate("p1")
	for name, c := range map[string]struct {
		fields []field
		says   string
	}{
		"two channels":     {[]field{{"file", opus}}, "2 channels"},
		"no such channel":  {[]field{{"channel", "3"}, {"file", opus}}, "channel 3"},
		"channel 0":        {[]field{{"channel", "0"}, {"file", opus}}, "channel is malformed, want 1 to 64"},
		"channel 65":       {[]field{{"channel", "65"}, {"file", opus}}, "channel is malformed"},
		"channel x":        {[]field{{"file", opus}, {"channel", "x"}}, "channel is malformed"},
		"channels differ":  {[]field{{"channel", "1"}, {"file", opus}, {"channel", "2"}}, "channel is malformed"},
		"another rate":     {[]field{{"allowed_sample_rate", "44100"}, {"file", mp3}}, "sample rate"},
		"rate behind":      {[]field{{"channel", "1"}, {"file", mp3}, {"allowed_sample_rate", "44100"}}, "sample rate"},
		"AAC":              {[]field{{"file", otherRecording(t, "aac.m4a")}}, "AAC"},
		"cut short":        {[]field{{"file", mp3[:len(mp3)/2]}}, "cut short"},
		"damaged":          {[]field{{"channel", "1"}, {"file", opus[:2000] + "x" + opus[2001:]}}, "checksum"},
		"bytes of no kind": {[]field{{"file", "nothing that is known"}}, "no RIFF header"},
	} {
		t.Run(name, func(t *testing.T) {
			r := form("POST", "/v2/prediction/", append([]field{{"session_id", id}}, c.fields...)...)
			r.beyond = true
			w := s.do(r)
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("got %d %s, want 422 that says %q", w.Code, w.Body, c.says)
			}
		})
	}
	s.wantNothing(id)
}
